//go:build !unix

package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// acquire takes the lock of the directory: a file that must not exist. After a crash it
// has to be removed by hand. Tasks that share the directory have none.
func (d *Dir) acquire() error {
	if d.shared {
		return nil
	}
	f, err := d.Root.OpenFile(LockName, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		if f, err := d.Root.Open(LockName); err == nil {
			defer f.Close()
			return fmt.Errorf("%w (or crashed: then remove %s)", d.locked(f), d.Path(LockName))
		}
		return ErrLocked
	}
	if err != nil {
		return err
	}
	d.lock = f
	sign(f)
	return nil
}

// release unlocks the directory.
func (d *Dir) release() error {
	if d.lock == nil {
		return nil
	}
	return errors.Join(d.lock.Close(), d.Root.Remove(LockName))
}
