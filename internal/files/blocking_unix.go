//go:build unix

package files

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Blocking returns a file that was just opened in blocking mode: EAGAIN is an error of its calls. It
// takes f over, which must have been neither read nor written. An err of the opening is returned.
//
// Package os registers a file with the poller of the Go runtime where its file system takes part in
// poll(2), as FUSE does. A Read or Write that is answered with EAGAIN then waits for an event, and
// the server of a regular file sends none: the goroutine waits for ever.
func Blocking(f *os.File, err error) (*os.File, error) {
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

// Open opens a file to be read. It does not wait where the file is a named pipe.
func Open(path string) (*os.File, error) {
	return Blocking(os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0))
}
