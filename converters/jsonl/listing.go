package jsonl

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/cespare/xxhash/v2"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/text"
)

// A lister reads the lines of a metadata.jsonl and examines the files that they name.
type lister struct {
	*reader
	namer
	of   *folder
	root *os.Root
	buf  []byte

	// the line that next has read:
	row    row
	files  []named
	sizes  []int64            // of the files, in bytes
	sample *converters.Sample // decoded; nil: an empty line
}

// list calls f for each line, and sets the rows of the folder. The line is valid until f returns. root is the
// directory of the files.
func (d *folder) list(ctx context.Context, root *os.Root, f func(l *lister) (more bool, err error)) error {
	file, err := d.open(d.meta, converters.Cached)
	if err != nil {
		return err
	}
	defer file.Close()
	l := &lister{reader: newReader(&d.opts), of: d, root: root}
	if err := l.Begin(ctx, &scan.Pass{Part: d.meta, File: file, Index: true}); err != nil {
		return err
	}
	rows := []row{}
	for {
		if err := ctx.Err(); err != nil {
			return &converters.Error{Where: d.meta.Name, Off: l.Offset(), Err: err}
		}
		more, err := l.next(ctx)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		if more, err := f(l); err != nil || !more {
			return err
		}
		if l.sample != nil {
			rows = append(rows, l.row)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.rows == nil {
		d.rows = rows
	}
	return nil
}

// next reads the next line, and false at the end.
func (l *lister) next(ctx context.Context) (bool, error) {
	sample, more, err := l.reader.next(ctx)
	l.row, l.files, l.sizes, l.sample = row{}, nil, l.sizes[:0], sample
	if err != nil || !more || sample == nil {
		return more, err
	}
	if l.files, err = l.names(sample); err != nil {
		return false, l.fail(l.at, err, "")
	}
	l.buf = l.buf[:0]
	for _, f := range l.files {
		st, err := l.root.Stat(f.path)
		if err == nil && !st.Mode().IsRegular() {
			err = fmt.Errorf("%w: not a regular file", converters.ErrUnsupported)
		}
		if err != nil {
			return false, l.refuseFile(f.path, err)
		}
		l.sizes = append(l.sizes, st.Size())
		if l.row.bytes += st.Size(); l.row.bytes > l.of.opts.MaxSample {
			return false, l.fail(l.at, fmt.Errorf("%w: the files of the line have more than %s", converters.ErrLimit, text.Count(l.of.opts.MaxSample, "byte")), "option max-sample-size")
		}
		l.buf = appendTrace(l.buf, st)
	}
	l.row.off, l.row.size, l.row.files = l.at, int32(len(l.reader.line)), int32(len(l.files))
	l.row.trace = xxhash.Sum64(l.buf)
	return true, nil
}

// appendTrace appends the size and time of a file, from which the trace of a row is computed.
func appendTrace(b []byte, st fs.FileInfo) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(st.Size()))
	return binary.LittleEndian.AppendUint64(b, uint64(st.ModTime().UnixNano()))
}

// refuseFile places an error of a file that the current line names.
func (l *lister) refuseFile(path string, err error) error {
	placed := l.fail(l.at, fileError(path, err), "").(*converters.Error)
	if errors.Is(err, fs.ErrNotExist) {
		placed.Hint = "put the file there, or take the line out"
	}
	return placed
}

// fileError returns an error of a file operation with the name of the file. An error of os.Root without an errno means
// that a link points outside the directory.
func fileError(path string, err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		if err = at.Err; !errors.As(err, new(syscall.Errno)) {
			err = fmt.Errorf("%w: a symbolic link leads out of the directory", converters.ErrUnsupported)
		}
	}
	return fmt.Errorf("%q: %w", path, err)
}

// shape returns the sample of the current line with the sizes of its files, and with the bytes of the fields that
// Options.Load selects.
func (l *lister) shape() (*converters.Sample, error) {
	values := make([]converters.Value, len(l.files))
	for i, f := range l.files {
		values[i] = converters.Opaque(l.sizes[i])
		if l.of.opts.Load == nil || !l.of.opts.Load(f.field) {
			continue
		}
		b := make([]byte, l.sizes[i]) // at most Options.MaxSample
		if _, err := readFile(l.root, f.path, b); err != nil {
			return nil, l.refuseFile(f.path, err)
		}
		values[i] = converters.Bytes(b)
	}
	s, err := l.namer.sample(l.sample, l.files, values)
	if err != nil {
		return nil, l.fail(l.at, err, "")
	}
	s.Off = l.row.off
	return s, nil
}

// refuse places a decoding error.
func (d *folder) refuse(r *row, err error) error {
	return &converters.Error{Where: d.meta.Name, Off: r.off, Err: err, Hint: place.HintOf(err)}
}
