//go:build unix

package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// withoutLocks are the errors of file systems that have no locks.
var withoutLocks = []error{unix.ENOSYS, unix.EOPNOTSUPP, unix.ENOTSUP, unix.ENOLCK}

// acquire takes the lock of the directory. The kernel lets go of it when the process ends, however it ends.
func (d *Dir) acquire() error {
	how := unix.LOCK_EX
	if d.shared {
		how = unix.LOCK_SH
	}
	for {
		f, err := d.OpenFile(LockName)
		if err != nil {
			return err
		}
		switch err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB); {
		case err == nil:
		case errors.Is(err, unix.EWOULDBLOCK):
			err = d.locked(f)
			f.Close()
			return err
		case errors.Is(err, unix.EINTR):
			f.Close()
			continue
		case slices.ContainsFunc(withoutLocks, func(none error) bool { return errors.Is(err, none) }):
			return f.Close()
		default:
			f.Close()
			return fmt.Errorf("lock %s: %w", d.Path(LockName), err)
		}
		held, err1 := f.Stat()
		named, err2 := d.Root.Stat(LockName)
		if err1 == nil && err2 == nil && os.SameFile(held, named) {
			d.lock = f
			if d.shared {
				_ = f.Truncate(0) // a killed exclusive holder has left its name
			} else {
				sign(f)
			}
			return nil
		}
		f.Close()
		if err := cmp.Or(err1, err2); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		// Its holder removed it before the lock was granted: lock the new file.
	}
}

// release unlocks the directory and leaves the lock without a name in it.
func (d *Dir) release() error {
	if d.lock == nil {
		return nil
	}
	if !d.shared {
		_ = d.lock.Truncate(0) // a name that stays does no harm: the lock is free
	}
	// Not left to Close: a child that has yet to exec still has the descriptor, and with it the lock, for a moment.
	err := unix.Flock(int(d.lock.Fd()), unix.LOCK_UN)
	for errors.Is(err, unix.EINTR) {
		err = unix.Flock(int(d.lock.Fd()), unix.LOCK_UN)
	}
	if err != nil {
		err = fmt.Errorf("unlock %s: %w", d.Path(LockName), err)
	}
	return errors.Join(err, d.lock.Close())
}
