//go:build unix

package need

import (
	"io/fs"
	"os"
	"syscall"
)

// lock locks a directory against other test processes. Go's build cache does not: two go commands that
// link the same program write the same file, and it cannot be executed ("text file busy") while one
// of them still writes it.
func lock(dir string) (unlock func(), err error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	for err = syscall.EINTR; err == syscall.EINTR; {
		err = syscall.Flock(int(d.Fd()), syscall.LOCK_EX)
	}
	if err != nil {
		d.Close()
		return nil, &fs.PathError{Op: "lock", Path: dir, Err: err}
	}
	return func() { d.Close() }, nil
}
