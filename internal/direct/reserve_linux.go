package direct

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Reserve allocates size bytes of f on the device, so that a full device is an error before the
// work and not after it.
func Reserve(f *os.File, size int64) error {
	for {
		err := unix.Fallocate(int(f.Fd()), 0, 0, size)
		switch {
		case err == nil, errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS):
			return nil // some file systems cannot: a full device is an error of a write
		case errors.Is(err, unix.EINTR):
			continue
		}
		return &os.PathError{Op: "fallocate", Path: f.Name(), Err: err}
	}
}
