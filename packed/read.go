package packed

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/ffconvert/ffconvert/internal/files"
)

// Size returns the size of the buffer for file i: one byte more than the file had when it was listed,
// to notice that it has grown. See [files.ReadAhead].
func (s *source) Size(i int) int64 { return s.files[i].size + 1 }

// Worker returns the source: its Read may be called concurrently.
func (s *source) Worker() files.Worker { return s }

// Close does nothing: a worker keeps nothing open.
func (s *source) Close() {}

// Alone reads a file that is too large to be read ahead. maxFile bounds its size.
func (s *source) Alone(i int) ([]byte, error) {
	if n := s.Size(i); n > int64(len(s.buf)) {
		s.buf = nil // so that both are not in memory at once
		s.buf = make([]byte, n)
	}
	b := s.buf[:s.Size(i)]
	return b, s.Read(i, b)
}

// Read reads file i into b, which has one byte more than the file. The error is ErrChanged if the size
// or the time of the file differs from the listing.
func (s *source) Read(i int, b []byte) error {
	want := &s.files[i]
	f, err := s.fsys.Open(want.path())
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: it is gone", errChanged)
	}
	if err == nil {
		err = readListed(f, want.stat, b)
	}
	if err != nil {
		return s.refuse(want.path(), err, "")
	}
	return nil
}

// readListed reads a file into b and closes it.
func readListed(f fs.File, want stat, b []byte) error {
	defer f.Close()
	n, err := io.ReadFull(f, b)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	info, bad := f.Stat() // after reading, to notice a write in the meantime
	switch {
	case bad != nil:
		return bad
	case statOf(info) != want, err == nil && int64(n) != want.size:
		return fmt.Errorf("%w: its size or time differs from the listing", errChanged)
	}
	return err
}
