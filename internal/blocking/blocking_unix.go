//go:build unix

package blocking

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// File returns a file that was just opened in blocking mode: EAGAIN is an error of its calls. It
// takes f over, which must have been neither read nor written. An err of the opening is returned.
func File(f *os.File, err error) (*os.File, error) {
	if err != nil || errors.Is(f.SetDeadline(time.Time{}), os.ErrNoDeadline) {
		return f, err // it is not registered
	}
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err == nil {
		err = unix.SetNonblock(fd, false) // of both: they share their flags
	}
	if err != nil {
		f.Close()
		return nil, &os.PathError{Op: "open", Path: f.Name(), Err: err}
	}
	again := os.NewFile(uintptr(fd), f.Name()) // which registers no file in blocking mode
	if err := f.Close(); err != nil {
		again.Close()
		return nil, err
	}
	return again, nil
}
