//go:build !windows

package files

import (
	"errors"
	"os"
)

// SyncDir makes the names in a directory durable.
func SyncDir(root *os.Root, dir string) error {
	d, err := root.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// SyncPath is SyncDir of a directory by its path.
func SyncPath(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
