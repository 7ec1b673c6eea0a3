//go:build linux || darwin

package input

import (
	"io/fs"
	"os"
	"syscall"
)

const errNotDir = syscall.ENOTDIR

// openSource opens a file to be read, without waiting where a named pipe has taken
// the place of the regular file that was found.
func openSource(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// trusted tells a cache entry that only this user can have written.
func trusted(fi fs.FileInfo) bool {
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && fi.Mode().IsRegular() && fi.Mode().Perm()&0o022 == 0 && int(st.Uid) == os.Geteuid()
}

// lock marks a temporary file as being written, for as long as it is open; false
// means that another writer holds it, or that the file system cannot tell.
func lock(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
