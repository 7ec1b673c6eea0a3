package jsonl

import (
	"context"
	"encoding/binary"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"syscall"

	"github.com/cespare/xxhash/v2"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
	"github.com/ffconvert/ffconvert/internal/files"
)

// rooted calls f with the folder of part p and its opened directory.
func (s *paths) rooted(ctx context.Context, p int, f func(d *folder, root *os.Root) error) error {
	d := s.each[p]
	if err := ctx.Err(); err != nil {
		return &converters.Error{Where: d.meta.Name, Off: -1, Err: err}
	}
	root, err := os.OpenRoot(d.dir)
	if err != nil {
		return &converters.Error{Where: d.meta.Name, Off: -1, Err: err}
	}
	defer root.Close()
	return f(d, root)
}

// Index yields the lines of part p; empty lines, and files of the directory that no line names, are skipped entries. It
// reads only the files that Options.Load selects.
func (s *paths) Index(ctx context.Context, p int) iter.Seq2[*converters.Span, error] {
	return func(yield func(*converters.Span, error) bool) {
		err := s.rooted(ctx, p, func(d *folder, root *os.Root) error {
			named := make(map[uint64]struct{}) // hashes of paths: 20 bytes of memory for each
			stopped := false
			err := d.list(ctx, root, func(l *lister) (bool, error) {
				if l.sample == nil {
					stopped = !yield(&converters.Span{Off: l.at, Entries: 1, Skip: "empty line"}, nil)
					return !stopped, nil
				}
				for _, f := range l.files {
					named[xxhash.Sum64String(f.path)] = struct{}{}
				}
				shape, err := l.shape()
				if err != nil {
					return false, err
				}
				stopped = !yield(&converters.Span{Off: shape.Off, Entries: 1 + len(l.files), Shape: shape}, nil)
				return !stopped, nil
			})
			if err != nil || stopped {
				return err
			}
			return d.others(ctx, root, named, func(name string, skip string) bool {
				return yield(&converters.Span{Entries: 1, Skip: skip, Name: name}, nil)
			})
		})
		if err != nil {
			yield(nil, err)
		}
	}
}

// Read yields the samples of a run. It reads the files of the next samples while the caller uses a sample.
func (s *paths) Read(ctx context.Context, run converters.Run) iter.Seq2[*converters.Sample, error] {
	return func(yield func(*converters.Sample, error) bool) {
		if run.Count <= 0 {
			return
		}
		err := s.rooted(ctx, run.Part, func(d *folder, root *os.Root) error {
			return d.read(ctx, run, root, yield)
		})
		if err != nil {
			yield(nil, err)
		}
	}
}

// listing returns the rows of the folder. It lists the folder unless Index has done so.
func (d *folder) listing(ctx context.Context, root *os.Root) ([]row, error) {
	known := func() []row {
		d.mu.Lock()
		defer d.mu.Unlock()
		return d.rows
	}
	if rows := known(); rows != nil {
		return rows, nil
	}
	err := d.list(ctx, root, func(*lister) (bool, error) { return true, nil })
	return known(), err
}

func (d *folder) read(ctx context.Context, run converters.Run, root *os.Root, yield func(*converters.Sample, error) bool) error {
	rows, err := d.listing(ctx, root)
	if err != nil {
		return err
	}
	n := int64(len(rows))
	if run.First < 0 || run.First >= n || rows[run.First].off != run.Off {
		return &converters.Error{Where: d.meta.Name, Off: -1, Err: fmt.Errorf("%w: no sample %d at offset %d", converters.ErrChanged, run.First, run.Off)}
	}
	r := newRowReader(d, rows, root)
	defer r.Close()
	first, last := int(run.First), int(min(n, run.First+run.Count))
	next := r.Alone
	if last-first > 1 {
		a := files.ReadAhead(r, first, last-first, nil)
		defer a.Stop()
		next = a.Next
	}
	for i := first; i < last; i++ {
		if err := ctx.Err(); err != nil {
			return &converters.Error{Where: d.meta.Name, Off: -1, Err: err}
		}
		b, err := next(i)
		if err != nil {
			return err
		}
		s, err := r.sample(i, b)
		if err != nil {
			return err
		}
		if !yield(s, nil) {
			return nil
		}
	}
	if run.First+run.Count > n {
		return &converters.Error{Where: d.meta.Name, Off: -1, Err: fmt.Errorf("%w: it has %d samples, %d were to be read from sample %d on", converters.ErrChanged, n, run.Count, run.First)}
	}
	return nil
}

// A rowReader reads rows of a folder. It reads a row as
//
//	│ line │ sizes of the files, 8 bytes each, little-endian │ files │
type rowReader struct {
	of     *folder
	rows   []row
	meta   converters.File // nil: not open yet
	root   *os.Root
	decode func(line []byte) (*converters.Sample, error)
	namer
	values []converters.Value
	buf    []byte
	trace  []byte
}

func newRowReader(d *folder, rows []row, root *os.Root) *rowReader {
	return &rowReader{of: d, rows: rows, root: root, decode: d.opts.decoder()}
}

// Size returns the bytes of a row; see [files.ReadAhead].
func (r *rowReader) Size(i int) int64 {
	w := &r.rows[i]
	return int64(w.size) + 8*int64(w.files) + w.bytes
}

// Worker returns a separate reader for a goroutine.
func (r *rowReader) Worker() files.Worker {
	return newRowReader(r.of, r.rows, r.root)
}

// Close closes the metadata.jsonl.
func (r *rowReader) Close() {
	if r.meta != nil {
		r.meta.Close()
	}
}

// Alone reads one row.
func (r *rowReader) Alone(i int) ([]byte, error) {
	n := r.Size(i)
	if int64(cap(r.buf)) < n {
		r.buf = make([]byte, n) // at most Options.MaxSample, and a line
	}
	return r.buf[:n], r.Read(i, r.buf[:n])
}

// Read reads one row into b. It returns ErrChanged if a file has changed since the listing.
func (r *rowReader) Read(i int, b []byte) error {
	w := &r.rows[i]
	if r.meta == nil {
		var err error
		if r.meta, err = r.of.open(r.of.meta, converters.Cached); err != nil {
			return err
		}
	}
	line, b := b[:w.size], b[w.size:]
	if err := scan.ReadFull(r.meta, line, w.off); err != nil {
		return r.of.refuse(w, err)
	}
	s, err := r.decode(line)
	if err != nil {
		return r.of.refuse(w, err)
	}
	files, err := r.names(s)
	if err == nil && len(files) != int(w.files) {
		err = fmt.Errorf("%w: the line is another", converters.ErrChanged)
	}
	if err != nil {
		return r.of.refuse(w, err)
	}
	sizes, b := b[:0:8*len(files)], b[8*len(files):]
	r.trace = r.trace[:0]
	for _, f := range files {
		st, err := readFile(r.root, f.path, b)
		if err != nil {
			return r.of.refuse(w, fileError(f.path, err))
		}
		sizes, r.trace = binary.LittleEndian.AppendUint64(sizes, uint64(st.Size())), appendTrace(r.trace, st)
		b = b[st.Size():]
	}
	if xxhash.Sum64(r.trace) != w.trace || len(b) > 0 {
		return r.of.refuse(w, fmt.Errorf("%w: a file that the line names", converters.ErrChanged))
	}
	return nil
}

// openFlags keep open from blocking if a file has become a fifo.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK

// readFile reads a file of at most len(b) bytes. It is an error if the file changes during the read.
func readFile(root *os.Root, path string, b []byte) (fs.FileInfo, error) {
	f, err := files.Blocking(root.OpenFile(path, openFlags, 0))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() || st.Size() > int64(len(b)) {
		return nil, fmt.Errorf("%w: it has %d bytes", converters.ErrChanged, st.Size())
	}
	if err := scan.ReadFull(f, b[:st.Size()], 0); err != nil {
		return nil, err
	}
	after, err := f.Stat()
	if err == nil && (after.Size() != st.Size() || !after.ModTime().Equal(st.ModTime())) {
		err = fmt.Errorf("%w: while it was read", converters.ErrChanged)
	}
	return st, err
}

// sample returns the sample of a row that Read has read into b.
func (r *rowReader) sample(i int, b []byte) (*converters.Sample, error) {
	w := &r.rows[i]
	s, err := r.decode(b[:w.size])
	if err != nil {
		return nil, r.of.refuse(w, err)
	}
	files, err := r.names(s)
	if err != nil {
		return nil, r.of.refuse(w, err)
	}
	sizes := b[w.size:]
	data := sizes[8*len(files):]
	r.values = r.values[:0]
	for range files {
		n := binary.LittleEndian.Uint64(sizes)
		r.values = append(r.values, converters.Bytes(data[:n:n]))
		sizes, data = sizes[8:], data[n:]
	}
	if s, err = r.namer.sample(s, files, r.values); err != nil {
		return nil, r.of.refuse(w, err)
	}
	s.Off = w.off
	return s, nil
}
