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
func (o *Output) acquire() error {
	if o.Shared {
		return nil
	}
	f, err := o.Root.OpenFile(LockName, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		if f, err := o.Root.Open(LockName); err == nil {
			defer f.Close()
			return fmt.Errorf("%w (or crashed: then remove %s)", o.locked(f), o.Path(LockName))
		}
		return fmt.Errorf("%s: %w", o.dir, ErrLocked)
	}
	if err != nil {
		return err
	}
	o.lock = f
	sign(f)
	return nil
}

// release unlocks the directory.
func (o *Output) release() error {
	if o.lock == nil {
		return nil
	}
	return errors.Join(o.lock.Close(), o.Root.Remove(LockName))
}
