package packed

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/ffconvert/ffconvert/internal/atomicfile"
)

// A staging is a directory under a temporary name.
type staging struct {
	parent *os.Root // holds it
	tmp    string
	root   *os.Root // it
	name   string   // what it becomes; empty: all in it moves up into parent, which was empty
	moved  []string // names in parent that were made of it
	done   bool
}

// newStaging makes one for the directory dst, which must not exist or be empty.
func newStaging(dst string) (*staging, error) {
	dst = filepath.Clean(dst)
	exists, err := vacant(dst)
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

// vacant says whether there is a directory of that name. Anything but an empty one is [ErrNotEmpty].
func vacant(dst string) (exists bool, err error) {
	if _, err := os.Lstat(dst); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return false, err
	}
	occupied := &Error{Path: dst, Sample: -1, Err: ErrNotEmpty}
	if st, err := os.Stat(dst); errors.Is(err, fs.ErrNotExist) || err == nil && !st.IsDir() {
		return false, occupied // a link that leads nowhere, or another kind of file
	}
	entries, err := os.ReadDir(dst)
	if err == nil && len(entries) > 0 {
		err = occupied
	}
	return err == nil, err
}

// commit gives what was synced its name.
func (s *staging) commit() error {
	if s.name != "" {
		if err := s.move(s.tmp, s.name); err != nil {
			return err
		}
	} else if err := s.empty(); err != nil {
		return err
	}
	if err := atomicfile.SyncDir(s.parent, "."); err != nil {
		return err
	}
	for _, name := range s.moved {
		if err := atomicfile.CheckRename(s.parent, s.tmp, name, func(fs.FileInfo) bool { return true }); err != nil {
			return err
		}
	}
	s.done = true
	return nil
}

// empty moves all that is in it up, and removes it.
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

// move gives what is in parent another name there, which must be free.
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

// discard closes the directories. Without a commit it removes all that was made.
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
