//go:build unix

package cached

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// lockFile locks a file until it is closed, or the process ends. If another process has it locked, lockFile waits, or
// returns errBusy.
func lockFile(root *os.Root, name string, wait bool) (*os.File, error) {
	if wait {
		return flock(root, name, unix.LOCK_EX)
	}
	return flock(root, name, unix.LOCK_EX|unix.LOCK_NB)
}

// shareFile waits until nobody has a file locked alone, and keeps it so until it is closed, or the process ends.
func shareFile(root *os.Root, name string) (*os.File, error) { return flock(root, name, unix.LOCK_SH) }

func flock(root *os.Root, name string, how int) (*os.File, error) {
	f, err := root.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for err = unix.EINTR; err == unix.EINTR; {
		err = unix.Flock(int(f.Fd()), how)
	}
	if err == nil {
		return f, nil
	}
	f.Close()
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, errBusy
	}
	return nil, fmt.Errorf("lock %s/%s: %w", root.Name(), name, err)
}

// procPath names a file of an open directory by the directory's descriptor.
func procPath(dir *os.File, name string) string {
	return fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), name)
}

// freeOn returns the bytes that this user may still write on the file system of a file.
func freeOn(f *os.File) (int64, error) {
	var st unix.Statfs_t
	err := unix.Fstatfs(int(f.Fd()), &st)
	return int64(st.Bavail) * int64(st.Bsize), err
}
