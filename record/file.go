package record

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"sync"

	"github.com/ffconvert/ffconvert/aio"
)

// A file is an open shard with a valid header.
type file struct {
	table
	src io.ReaderAt

	mu      sync.Mutex
	batches *aio.File // the same file for ReadBatch, past the page cache if possible; the first batch opens it
}

// openFile opens a shard: a regular file or a link to one. It checks the type of the file first,
// because opening a FIFO blocks. buf is scratch memory that openFile may replace by a larger one.
func openFile(path string, opts Options, buf *[]byte) (f *file, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("open shard: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("open shard %s: %w", path, errNotRegular)
	}
	osf, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open shard: %w", err)
	}
	defer func() {
		if err != nil {
			osf.Close()
		}
	}()
	if info, err = osf.Stat(); err != nil { // the path may name another file since then
		return nil, fmt.Errorf("open shard: %w", err)
	}
	aio.ReadAhead(osf, false)
	defer aio.ReadAhead(osf, true)
	return newFile(osf, path, info.Size(), opts, buf)
}

// newFile reads the header twice: first to check it, then to load its tables, so that memory that
// depends on N is only allocated for a valid header. Then it checks the CRCs of the empty samples
// and of the last one. Only the CRC of the last sample shows that the file has its full length.
func newFile(src io.ReaderAt, path string, size int64, opts Options, buf *[]byte) (*file, error) {
	if want := int(min(size, bufSize)); len(*buf) < want {
		*buf = make([]byte, want)
	}
	var f *file
	for _, keep := range []bool{false, true} {
		h := newHeader(path, size, opts, keep)
		if err := h.readFrom(src, *buf); err != nil {
			return nil, err
		}
		f = &file{table: h.table, src: src}
	}
	for i := range f.n {
		e := f.extent(i)
		if e.Size == 0 {
			if bad := f.gate(i, e, 0); bad != nil {
				return nil, bad
			}
		}
		if e.Size > opts.maxSample() {
			return nil, f.fault(i, e.Off, fmt.Errorf("%w: %d bytes, at most %d are allowed", ErrTooLarge, e.Size, opts.maxSample()))
		}
	}
	if f.n > 0 {
		if err := f.stream(f.n-1, *buf); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (f *file) info() FileInfo {
	return FileInfo{Path: f.path, Samples: f.n, Size: f.size, HeaderCRC: f.sum}
}

// ReadInfo describes an open shard of size bytes. It checks the shard as [Open] does and does not
// keep src. path is for errors.
func ReadInfo(src io.ReaderAt, path string, size int64, opts Options) (FileInfo, error) {
	var buf []byte
	f, err := newFile(src, path, size, opts, &buf)
	if err != nil {
		return FileInfo{}, err
	}
	return f.info(), nil
}

// readFrom reads and checks a whole header. buf is scratch memory.
func (h *header) readFrom(src io.ReaderAt, buf []byte) error {
	want := int64(headSize)
	for {
		p := buf[:min(int64(len(buf)), want-h.pos, h.size-h.pos)]
		if err := h.readAt(src, p, h.pos, -1); err != nil {
			return err
		}
		if _, bad := h.write(p); bad != nil {
			return bad
		}
		if h.complete() {
			break
		}
		want = payloadOff(h.n)
	}
	soft, hard := h.finish()
	if soft != nil {
		return soft
	}
	if hard != nil {
		return hard
	}
	return nil
}

// stream reads sample i in pieces of buf and checks its CRC.
func (f *file) stream(i int64, buf []byte) error { return f.streamAt(i, f.extent(i), buf) }

// streamAt is stream for a sample with extent e.
func (f *file) streamAt(i int64, e Extent, buf []byte) error {
	var crc uint32
	for done := int64(0); done < e.Size; {
		p := buf[:min(int64(len(buf)), e.Size-done)]
		if err := f.readAt(f.src, p, e.Off+done, i); err != nil {
			return err
		}
		crc = crc32.Update(crc, crc32.IEEETable, p)
		done += int64(len(p))
	}
	if bad := f.gate(i, e, crc); bad != nil {
		return bad
	}
	return nil
}

// readAt fills p from offset off. It reports the end of the file as ErrTruncated, other errors
// unchanged, both as a FormatError of a sample.
func (t *table) readAt(src io.ReaderAt, p []byte, off, sample int64) error {
	k, err := src.ReadAt(p, off)
	switch {
	case k == len(p):
		return nil
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return t.fault(sample, off+int64(k), truncated("the file had %d bytes when it was opened", t.size))
	case err == nil:
		err = io.ErrNoProgress
	}
	return t.fault(sample, off+int64(k), err)
}

// unchanged returns an error unless the path still names the open file, with the same size.
func (f *file) unchanged() error {
	src, ok := f.src.(*os.File)
	if !ok {
		return nil
	}
	was, err := src.Stat()
	if err != nil {
		return err
	}
	is, err := os.Stat(f.path)
	switch {
	case errors.Is(err, os.ErrNotExist), err == nil && !os.SameFile(was, is):
		return ErrReplaced
	case err != nil:
		return err
	case is.Size() != f.size:
		return fmt.Errorf("%w: it has %d bytes, it had %d", ErrReplaced, is.Size(), f.size)
	}
	return nil
}

func (f *file) close() error {
	err := f.closeBatches()
	if c, ok := f.src.(io.Closer); ok {
		err = errors.Join(err, c.Close())
	}
	return err
}
