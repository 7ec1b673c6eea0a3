package files

import (
	"errors"
	"os"
	"path"

	"golang.org/x/sys/unix"
)

// renameNew renames without replacing.
func renameNew(f *Temp, name string) error {
	err := between(f, name, func(fromDir int, from string, toDir int, to string) error {
		return unix.Renameat2(fromDir, from, toDir, to, unix.RENAME_NOREPLACE)
	})
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EOPNOTSUPP) {
		return renameByLink(f, name) // a file system without RENAME_NOREPLACE
	}
	return err
}

// renameOver renames a file, also over another one. [os.Root.Rename] looks at that one first, and
// takes any error of the look for a name that is free.
func renameOver(f *Temp, name string) error { return between(f, name, unix.Renameat) }

// between opens the directories of two names through their roots, so that no link leads out of these.
func between(f *Temp, name string, rename func(fromDir int, from string, toDir int, to string) error) error {
	fromDir, err := openDir(f.Dir, path.Dir(f.Tmp))
	if err != nil {
		return err
	}
	defer fromDir.Close()
	toDir, err := openDir(f.To, path.Dir(name))
	if err != nil {
		return err
	}
	defer toDir.Close()
	if err := rename(int(fromDir.Fd()), path.Base(f.Tmp), int(toDir.Fd()), path.Base(name)); err != nil {
		return &os.LinkError{Op: "rename", Old: f.From, New: name, Err: err}
	}
	return nil
}
