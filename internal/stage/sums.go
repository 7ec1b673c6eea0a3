package stage

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/ffconvert/ffconvert/internal/cache"
	"github.com/ffconvert/ffconvert/internal/checksum"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/text"
)

// copySums are the checksums of one copy.
type copySums struct {
	sums *checksum.Sums
	dir  string // directory of the copy
}

func (s *copySums) Check(f checksum.File) checksum.File {
	return copyFile{s.sums.Check(f), s.dir}
}

// A copyFile adds hints to the errors of a copy.
type copyFile struct {
	checksum.File
	dir string
}

func (f copyFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(p, off)
	if err != nil && err != io.EOF {
		err = copyError(f.dir, err)
	}
	return n, err
}

// copyError adds the directory of the copy, and a hint, to an [ErrCopy].
func copyError(dir string, err error) error {
	if !errors.Is(err, ErrCopy) {
		return err
	}
	return fmt.Errorf("its copy in %s: %w (run it again; where that does not help, keep copies on another device)", text.Name(dir), err)
}

func newCopySums(c *cache.Copy) *copySums { return &copySums{c.Sums, filepath.Dir(c.Path)} }

// treeSums are the checksums of the files of a tree, computed when they were written: 8 bytes per file.
type treeSums struct {
	tree  *input.ObjectTree
	files []uint64 // of each file of the tree, see [checksum.Sum64]
	dir   string   // of the cache
}

func (s *treeSums) CheckFile(path string, b []byte) error {
	if i, ok := s.tree.Find(path); !ok || checksum.Sum64(b) != s.files[i] {
		return copyError(s.dir, ErrCopy)
	}
	return nil
}

func (s *treeSums) CheckListed(path string, size int64, modified time.Time) error {
	i, ok := s.tree.Find(path)
	if !ok || s.tree.Object(i).Size != size || modified.Sub(s.tree.ModTime(i)).Abs() > coarse {
		return copyError(s.dir, ErrCopy)
	}
	return nil
}

func (s *treeSums) CheckDir(path string, entries int) error {
	if n := s.tree.Entries(path); n != entries {
		return copyError(s.dir, fmt.Errorf("%w: a directory of %d entries has %d", ErrCopy, n, entries))
	}
	return nil
}

// coarse is how much the modification time of a file may differ from the one that was set: file systems round it.
const coarse = 2 * time.Second
