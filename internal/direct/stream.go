package direct

import (
	"errors"
	"hash/crc32"
	"io"
	"os"
)

// A Stream is a file that is written from its beginning on, through a Writer. It is the
// io.WriteSeeker that an Arrow writer wants: all its seeking is asking where it is. It
// sums up its bytes.
type Stream struct {
	writer *writer
	buf    []byte
	off    int64  // in the file, of buf
	crc    uint32 // of the bytes before off
}

// NewStream returns a Stream that writes to f from buffers, two or more.
func NewStream(f *os.File, buffers [][]byte) *Stream {
	s := NewWriter(f, buffers)
	buf, _ := s.SwapAt(nil, 0) // nothing was written that could have failed
	return &Stream{writer: s, buf: buf}
}

// Write takes p. The error may come from an earlier write.
func (s *Stream) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		k := min(len(p), cap(s.buf)-len(s.buf))
		s.buf = append(s.buf, p[:k]...)
		p = p[k:]
		if len(s.buf) == cap(s.buf) {
			if err := s.flush(); err != nil {
				return n - len(p), err
			}
		}
	}
	return n, nil
}

// Seek returns the number of bytes that were written, and can do nothing else.
func (s *Stream) Seek(off int64, whence int) (int64, error) {
	if off != 0 || whence != io.SeekCurrent {
		return 0, errors.ErrUnsupported
	}
	return s.off + int64(len(s.buf)), nil
}

func (s *Stream) flush() error {
	n := len(s.buf)
	s.crc = crc32.Update(s.crc, crc32.IEEETable, s.buf)
	next, err := s.writer.SwapAt(s.buf, s.off)
	s.off += int64(n)
	s.buf = next
	return err
}

// Sum returns the size of the whole file and its CRC-32, once the stream is closed.
func (s *Stream) Sum() (bytes int64, crc uint32) { return s.off, s.crc }

// Close writes the rest and waits until all is written. It may be called again.
func (s *Stream) Close() error {
	if len(s.buf) > 0 {
		_ = s.flush() // the writer keeps the error
	}
	return s.writer.Close()
}
