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
		f, err := openOwn(o.root, lockName)
		if err != nil {
			return err
		}
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err != nil {
			if errors.Is(err, unix.EWOULDBLOCK) {
				err = o.locked(f)
				f.Close()
				return err
			}
			f.Close()
			if errors.Is(err, unix.EINTR) {
				continue
			}
			return fmt.Errorf("lock %s: %w", o.path(lockName), err)
		}
		held, err1 := f.Stat()
		named, err2 := o.root.Stat(lockName)
		if err1 == nil && err2 == nil && os.SameFile(held, named) {
			o.lock = f
			sign(f)
			return nil
		}
		f.Close() // its holder removed it meanwhile: lock the new one
	}
}

// release unlocks the directory and leaves the lock without a name in it.
func (o *Output) release() error {
	_ = o.lock.Truncate(0) // a name that stays misleads nobody: the lock is free
	return o.lock.Close()
}
