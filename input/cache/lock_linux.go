package cache

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

type lockKind int16

const (
	shared    lockKind = unix.F_RDLCK
	exclusive lockKind = unix.F_WRLCK
	unlocked  lockKind = unix.F_UNLCK
)

// setLock locks n bytes of f from off on, in place of a lock that f has there; false where
// another open file has them locked otherwise.
func setLock(f *os.File, kind lockKind, off, n int64) (bool, error) {
	for {
		l := unix.Flock_t{Type: int16(kind), Whence: io.SeekStart, Start: off, Len: n}
		switch err := unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &l); err {
		case nil:
			return true, nil
		case unix.EAGAIN, unix.EACCES:
			return false, nil
		case unix.EINTR:
		default:
			return false, err
		}
	}
}

// lockedByOthers tells whether another open file has any of n bytes of f locked.
func lockedByOthers(f *os.File, off, n int64) bool {
	l := unix.Flock_t{Type: int16(exclusive), Whence: io.SeekStart, Start: off, Len: n}
	return n > 0 && unix.FcntlFlock(f.Fd(), unix.F_OFD_GETLK, &l) == nil && l.Type != int16(unlocked)
}
