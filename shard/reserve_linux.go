package shard

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// reserve takes room for size bytes on the device, so that a full one is found before
// the work and not after.
func reserve(f *os.File, size int64) error {
	for {
		err := unix.Fallocate(int(f.Fd()), 0, 0, size)
		switch {
		case err == nil, errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS):
			return nil // some file systems cannot; their writes will tell
		case errors.Is(err, unix.EINTR):
			continue
		}
		return &os.PathError{Op: "fallocate", Path: f.Name(), Err: err}
	}
}
