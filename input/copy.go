package input

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/ffconvert/ffconvert/input/cache"
	"github.com/ffconvert/ffconvert/internal/blocksum"
	"github.com/ffconvert/ffconvert/internal/text"
)

// ErrCopy means that a staged copy has other bytes than were written to it: the device or the
// memory that the cache lies in fails, or something else has written there.
var ErrCopy = cache.ErrCopy

// Sums are the checksums of a copy, from when it was written.
type Sums interface {
	// Check returns a file that reads f, which is the copy. Its ReadAt returns [ErrCopy] where
	// the copy has other bytes than were written to it, and may be called concurrently. Closing it
	// closes f.
	Check(f blocksum.File) blocksum.File
}

// FileSums are the checksums of the files of a directory. Paths have slashes. The methods may be
// called concurrently.
type FileSums interface {
	// CheckFile returns an error unless b is all of the file that was fetched to the path.
	CheckFile(path string, b []byte) error
	// CheckListed returns an error where a file that lies under this path now has another size, or
	// another time, than was fetched.
	CheckListed(path string, size int64, modified time.Time) error
	// CheckDir returns an error unless a directory has as many entries as it was made with; "" is
	// the staged directory itself.
	CheckDir(path string, entries int) error
}

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
