//go:build !unix

package shard

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// acquire takes the lock of the directory: a file that must not exist. After a crash it
// has to be removed by hand.
func (o *Output) acquire() error {
	f, err := o.root.OpenFile(lockName, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s: %w (or crashed: then remove %s)", o.dir, ErrLocked, o.path(lockName))
	}
	o.lock = f
	return err
}
