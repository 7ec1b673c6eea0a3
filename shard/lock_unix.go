//go:build unix

package shard

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// acquire takes the lock of the directory. The kernel lets go of it when the process
// ends, however it ends.
func (o *Output) acquire() error {
	for {
		f, err := o.root.OpenFile(lockName, os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			return err
		}
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err != nil {
			f.Close()
			if errors.Is(err, unix.EWOULDBLOCK) {
				return fmt.Errorf("%s: %w", o.dir, ErrLocked)
			}
			if errors.Is(err, unix.EINTR) {
				continue
			}
			return fmt.Errorf("lock %s: %w", o.path(lockName), err)
		}
		held, err1 := f.Stat()
		named, err2 := o.root.Stat(lockName)
		if err1 == nil && err2 == nil && os.SameFile(held, named) {
			o.lock = f
			return nil
		}
		f.Close() // its holder removed it meanwhile: lock the new one
	}
}
