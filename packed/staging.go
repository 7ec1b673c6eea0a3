package packed

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/ffconvert/ffconvert/internal/files"
	"github.com/ffconvert/ffconvert/internal/place"
)

// A staging is a directory with a temporary name, which gets its final name when it is complete.
type staging struct {
	parent *os.Root // the directory that contains it
	tmp    string   // temporary name in parent
	root   *os.Root // the directory itself
	name   string   // final name in parent; "" means that its entries move up into parent
	moved  []string // names in parent to which commit has moved something
	done   bool     // commit succeeded
}

// newStaging creates a staging for the directory dst, which must be empty or not exist. The caller
// must call discard, also after commit.
func newStaging(dst string) (*staging, error) {
	dst = filepath.Clean(dst)
	exists, err := emptyDir(dst)
	if err != nil {
		return nil, err
	}
	s := &staging{tmp: temporary()}
	parent := dst
	if !exists {
		parent, s.name = filepath.Dir(dst), filepath.Base(dst)
	}
	if s.parent, err = os.OpenRoot(parent); err != nil {
		return nil, fmt.Errorf("open directory for %s: %w", dst, err)
	}
	if err = s.parent.Mkdir(s.tmp, 0o755); err == nil {
		s.root, err = s.parent.OpenRoot(s.tmp)
	}
	if err != nil {
		s.discard()
		return nil, fmt.Errorf("create directory in %s: %w", parent, err)
	}
	return s, nil
}

// emptyDir reports whether dst exists. If it is not an empty directory the error is ErrNotEmpty.
func emptyDir(dst string) (exists bool, err error) {
	if _, err := os.Lstat(dst); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return false, err
	}
	notEmpty := &place.Error{Where: dst, Off: -1, Err: errNotEmpty}
	if st, err := os.Stat(dst); errors.Is(err, fs.ErrNotExist) || err == nil && !st.IsDir() {
		return false, notEmpty // a dangling link, or not a directory
	}
	entries, err := os.ReadDir(dst)
	if err == nil && len(entries) > 0 {
		err = notEmpty
	}
	return err == nil, err
}

// commit gives the directory its final name and syncs that. The content must be synced before.
func (s *staging) commit() error {
	if s.name != "" {
		if err := s.move(s.tmp, s.name); err != nil {
			return err
		}
	} else if err := s.empty(); err != nil {
		return err
	}
	if err := files.SyncDir(s.parent, "."); err != nil {
		return err
	}
	for _, name := range s.moved {
		if err := files.CheckRename(s.parent, s.tmp, name, func(fs.FileInfo) bool { return true }); err != nil {
			return err
		}
	}
	s.done = true
	return nil
}

// empty moves the entries of the directory up into parent and removes the directory.
func (s *staging) empty() error {
	entries, err := fs.ReadDir(s.root.FS(), ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := s.move(path.Join(s.tmp, e.Name()), e.Name()); err != nil {
			return err
		}
	}
	return s.parent.Remove(s.tmp)
}

// move renames from to to, both in parent. to must not exist.
func (s *staging) move(from, to string) error {
	switch _, err := s.parent.Lstat(to); {
	case err == nil:
		return &fs.PathError{Op: "rename", Path: to, Err: fs.ErrExist}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := s.parent.Rename(from, to); err != nil {
		return err
	}
	s.moved = append(s.moved, to)
	return nil
}

// discard closes the directories. If commit did not succeed it removes everything created so far.
func (s *staging) discard() {
	if s.root != nil {
		s.root.Close()
	}
	if !s.done {
		s.parent.RemoveAll(s.tmp)
		for _, name := range s.moved {
			s.parent.RemoveAll(name)
		}
	}
	s.parent.Close()
}

// temporary returns a new name for an unfinished file or directory.
func temporary() string { return ".ffconvert-" + rand.Text() + ".tmp" }
