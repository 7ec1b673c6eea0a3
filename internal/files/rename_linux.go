package files

import (
	"errors"
	"os"
	"path"

	"golang.org/x/sys/unix"
)

// renameNew renames without replacing.
func renameNew(root *os.Root, from, to string) error {
	err := between(root, from, to, func(fromDir, toDir int) error {
		return unix.Renameat2(fromDir, path.Base(from), toDir, path.Base(to), unix.RENAME_NOREPLACE)
	})
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EOPNOTSUPP) {
		return renameByLink(root, from, to) // a file system without RENAME_NOREPLACE
	}
	return err
}

// renameOver renames a file, also over another one. [os.Root.Rename] looks at that one first, and
// takes any error of the look for a name that is free.
func renameOver(root *os.Root, from, to string) error {
	return between(root, from, to, func(fromDir, toDir int) error {
		return unix.Renameat(fromDir, path.Base(from), toDir, path.Base(to))
	})
}

// between opens the directories of two names, through root, so that no link leads out of it.
func between(root *os.Root, from, to string, rename func(fromDir, toDir int) error) error {
	fromDir, err := openDir(root, path.Dir(from))
	if err != nil {
		return err
	}
	defer fromDir.Close()
	toDir, err := openDir(root, path.Dir(to))
	if err != nil {
		return err
	}
	defer toDir.Close()
	if err := rename(int(fromDir.Fd()), int(toDir.Fd())); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}
