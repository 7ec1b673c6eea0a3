package checksum

import (
	"errors"
	"fmt"
	"io"
	"sync"
)

// A File is a file that can be read. It is an alias, so that packages that do not import this one can
// declare an interface with [Sums.Check].
type File = interface {
	io.ReaderAt
	io.Closer
}

// Check returns a file that reads f and compares each block with its checksum. If a block differs or
// f has become shorter, ReadAt returns [ErrChanged] and the number of bytes before that block. ReadAt
// may be called concurrently. Close closes f and must be called after the last ReadAt.
func (s *Sums) Check(f File) File { return &reader{sums: s, f: f, at: -1} }

// A reader reads whole blocks. It reads a block into the caller's buffer if the caller reads all of
// it. It keeps the latest other block, since the next read often begins where the last one ended.
type reader struct {
	sums *Sums
	f    File

	mu  sync.Mutex
	at  int64 // number of the block in buf; -1 if there is none
	buf *[blockSize]byte
}

var buffers = sync.Pool{New: func() any { return new([blockSize]byte) }}

func (r *reader) ReadAt(p []byte, off int64) (n int, err error) {
	left := r.sums.size - off
	switch {
	case off < 0:
		return 0, errors.New("negative offset")
	case left <= 0:
		return 0, io.EOF
	case int64(len(p)) > left:
		p, err = p[:left], io.EOF
	}
	for n < len(p) {
		k, failed := r.read(p[n:], off+int64(n))
		if n += k; failed != nil {
			return n, failed
		}
	}
	return n, err
}

// read reads as many whole blocks from off as fit into p, or a part of one block.
func (r *reader) read(p []byte, off int64) (n int, err error) {
	in := off % blockSize
	if in == 0 {
		whole := len(p) / blockSize * blockSize
		if off+int64(len(p)) == r.sums.size {
			whole = len(p) // including the last block, which may be shorter
		}
		if whole > 0 {
			if err := r.blocks(p[:whole], off); err != nil {
				return 0, err
			}
			return whole, nil
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.buf == nil {
		r.buf = buffers.Get().(*[blockSize]byte)
	}
	start := off - in
	block := r.buf[:min(blockSize, r.sums.size-start)]
	if r.at != start/blockSize {
		r.at = -1
		if err := r.blocks(block, start); err != nil {
			return 0, err
		}
		r.at = start / blockSize
	}
	return copy(p, block[in:]), nil
}

// blocks fills b with whole blocks of the file. off is the start of the first one.
func (r *reader) blocks(b []byte, off int64) error {
	if n, err := r.f.ReadAt(b, off); n < len(b) {
		if err == io.EOF {
			err = fmt.Errorf("%w: it ends at offset %d, not %d", ErrChanged, off+int64(n), r.sums.size)
		}
		return err
	}
	if at := r.sums.check(b, off/blockSize); at >= 0 {
		from := off + int64(at)
		return fmt.Errorf("%w, between offsets %d and %d", ErrChanged, from, min(from+blockSize, r.sums.size))
	}
	return nil
}

func (r *reader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.buf != nil {
		buffers.Put(r.buf)
		r.buf = nil
	}
	return r.f.Close()
}
