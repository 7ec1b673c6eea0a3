package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// A Temp is a file under a temporary name until, once it is synced, Commit or Replace gives it its final one, on the same file
// system. After an error of Sync it must be discarded: the kernel may have dropped pages, and a second fsync would succeed.
type Temp struct {
	*os.File
	Dir  *os.Root // of Tmp
	Tmp  string   // the temporary name
	To   *os.Root // of the final name, and of From; from Create on it is Dir
	From string   // the temporary name in To
	done bool
}

// Create makes a new file under a temporary name, which must not exist. Its mode is
// 0644 less the umask.
func Create(dir *os.Root, tmp string) (*Temp, error) {
	f, err := Blocking(dir.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_EXCL|syscall.O_NONBLOCK, 0o644))
	if err != nil {
		return nil, err
	}
	return &Temp{File: f, Dir: dir, Tmp: tmp, To: dir, From: tmp}, nil
}

// Commit gives the file its final name and closes it. A file that has that name
// already is left alone: the error is then [fs.ErrExist]. After any error the
// temporary file is gone. The name is durable after a SyncDir of its directory.
func (f *Temp) Commit(name string) error { return f.finish(name, renameNew) }

// Replace is Commit, but takes the place of a file that has the name already.
func (f *Temp) Replace(name string) error { return f.finish(name, renameOver) }

func (f *Temp) finish(name string, rename func(f *Temp, name string) error) error {
	f.done = true
	st, err := f.File.Stat()
	if err = errors.Join(err, f.File.Close()); err == nil {
		err = rename(f, name)
	}
	if err != nil {
		f.Dir.Remove(f.Tmp) // it may have been renamed all the same, and what has failed may fail here, too
		return err
	}
	return CheckRename(f.To, f.From, name, func(now fs.FileInfo) bool {
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
	f.Dir.Remove(f.Tmp)
}

// renameByLink is a rename that never replaces, for systems that know no other: a link
// under the new name fails where there is one.
func renameByLink(f *Temp, name string) error {
	err := f.To.Link(f.From, name)
	if err == nil {
		return f.Dir.Remove(f.Tmp)
	}
	if errors.Is(err, fs.ErrExist) {
		return err
	}
	// The file system has no hard links. The caller is the only writer of the name.
	switch _, err := f.To.Lstat(name); {
	case err == nil:
		return &fs.PathError{Op: "rename", Path: name, Err: fs.ErrExist}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return f.To.Rename(f.From, name)
}
