package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// A Temp is a file under a temporary name until Commit or Replace gives it its final one. Both names must be on one
// file system.
type Temp struct {
	*os.File
	root   *os.Root
	tmp    string
	synced bool
	done   bool
}

// Create makes a new file under a temporary name, which must not exist. Its mode is
// 0644 less the umask.
func Create(root *os.Root, tmp string) (*Temp, error) {
	f, err := Blocking(root.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_EXCL|syscall.O_NONBLOCK, 0o644))
	if err != nil {
		return nil, err
	}
	return &Temp{File: f, root: root, tmp: tmp}, nil
}

// Sync brings the file to the device. It may be called before Commit to do something
// with the durable file first. After an error the file must be discarded: the kernel
// may have dropped the pages that it could not write, and a second fsync would succeed.
func (f *Temp) Sync() error {
	if err := f.File.Sync(); err != nil {
		return err
	}
	f.synced = true
	return nil
}

// Commit gives the file its final name and closes it. A file that has that name
// already is left alone: the error is then [fs.ErrExist]. After any error the
// temporary file is gone. The name is durable after a SyncDir of its directory.
func (f *Temp) Commit(name string) error { return f.finish(name, renameNew) }

// Replace is Commit, but takes the place of a file that has the name already.
func (f *Temp) Replace(name string) error { return f.finish(name, renameOver) }

func (f *Temp) finish(name string, rename func(root *os.Root, from, to string) error) error {
	defer f.Discard()
	if !f.synced {
		if err := f.Sync(); err != nil {
			return err
		}
	}
	f.done = true
	st, err := f.File.Stat()
	if err = errors.Join(err, f.File.Close()); err == nil {
		err = rename(f.root, f.tmp, name)
	}
	if err != nil {
		f.root.Remove(f.tmp) // it may have been renamed all the same, and what has failed may fail here, too
		return err
	}
	return CheckRename(f.root, f.tmp, name, func(now fs.FileInfo) bool {
		return now.Mode().IsRegular() && now.Size() == st.Size()
	})
}

// CheckRename checks that a file has its new name and that same accepts it, because a network file system
// may report a rename that it did not do. The error is an [os.LinkError] with [syscall.EIO].
func CheckRename(root *os.Root, from, to string, same func(fs.FileInfo) bool) error {
	st, err := root.Lstat(to)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !same(st) {
		err = &os.LinkError{Op: "rename", Old: from, New: to, Err: fmt.Errorf("the file system says that it was done, and it was not: %w", syscall.EIO)}
	}
	return err
}

// Discard closes and removes the file. It does nothing after Commit or Replace.
func (f *Temp) Discard() {
	if f.done {
		return
	}
	f.done = true
	f.File.Close()
	f.root.Remove(f.tmp)
}

// renameByLink is a rename that never replaces, for systems that know no other: a link
// under the new name fails where there is one.
func renameByLink(root *os.Root, from, to string) error {
	err := root.Link(from, to)
	if err == nil {
		return root.Remove(from)
	}
	if errors.Is(err, fs.ErrExist) {
		return err
	}
	// The file system has no hard links. The caller is the only writer of the name.
	switch _, err := root.Lstat(to); {
	case err == nil:
		return &fs.PathError{Op: "rename", Path: to, Err: fs.ErrExist}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return root.Rename(from, to)
}
