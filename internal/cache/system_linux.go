package cache

import (
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

type lockKind int16

const (
	shared    lockKind = unix.F_RDLCK
	exclusive lockKind = unix.F_WRLCK
	unlocked  lockKind = unix.F_UNLCK
)

// setLock locks the byte of f at off, replacing the lock that f holds there. It returns false if another open file
// holds a conflicting lock.
func setLock(f *os.File, kind lockKind, off int64) (bool, error) {
	for {
		l := unix.Flock_t{Type: int16(kind), Whence: io.SeekStart, Start: off, Len: 1}
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

// lockedByOthers reports whether another open file holds a lock on the byte at off.
func lockedByOthers(f *os.File, off int64) bool {
	l := unix.Flock_t{Type: int16(exclusive), Whence: io.SeekStart, Start: off, Len: 1}
	return unix.FcntlFlock(f.Fd(), unix.F_OFD_GETLK, &l) == nil && l.Type != int16(unlocked)
}

// accessed returns the access time of a file.
func accessed(fi fs.FileInfo) time.Time {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return time.Unix(st.Atim.Unix())
	}
	return fi.ModTime()
}

// labelName is the extended attribute that holds the Label of a [Request].
const labelName = "user.ffconvert.source"

const mostLabel = 4 << 10 // bytes; file systems allow a few KiB for all attributes of a file

// setLabel sets the label of a file. It ignores errors: some file systems have no attributes.
func setLabel(f *os.File, label string) {
	if label != "" && len(label) <= mostLabel {
		_ = unix.Fsetxattr(int(f.Fd()), labelName, []byte(label), 0)
	}
}

// labelOf returns the label of a file; "" if it has none.
func labelOf(f *os.File) string {
	buf := make([]byte, mostLabel)
	n, err := unix.Fgetxattr(int(f.Fd()), labelName, buf)
	if err != nil {
		return ""
	}
	return string(buf[:n])
}
