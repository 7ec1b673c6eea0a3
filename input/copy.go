package input

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/ffconvert/ffconvert/input/cache"
	"github.com/ffconvert/ffconvert/internal/blocksum"
	"github.com/ffconvert/ffconvert/internal/text"
)

// ErrCopy means that a staged copy has other bytes than were written to it: the device or the
// memory that the cache lies in fails, or something else has written there.
var ErrCopy = cache.ErrCopy

// copySums are the checksums of one copy.
type copySums struct {
	sums *blocksum.Sums
	dir  string // where it is
}

func (s *copySums) Check(f blocksum.File) blocksum.File {
	return copyFile{s.sums.Check(f), s.dir}
}

// A copyFile says of its errors what to do about them.
type copyFile struct {
	blocksum.File
	dir string
}

func (f copyFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(p, off)
	if err != nil && err != io.EOF {
		err = copyError(f.dir, err)
	}
	return n, err
}

// copyError says of [ErrCopy] where the copy is, and what to do.
func copyError(dir string, err error) error {
	if !errors.Is(err, ErrCopy) {
		return err
	}
	return fmt.Errorf("its copy in %s: %w (run it again; where that does not help, name a --cache-dir on another device)", text.Name(dir), err)
}

func newCopySums(c *cache.Copy) *copySums { return &copySums{c.Sums, filepath.Dir(c.Path)} }
