//go:build !windows

package files

import (
	"errors"
	"os"
	"syscall"
)

// SyncDir makes the names in a directory durable. Without a root, nil, dir is any path.
func SyncDir(root *os.Root, dir string) error {
	d, err := openDir(root, dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// openDir opens a directory. With O_NONBLOCK package os leaves the flags of the descriptor alone: three system calls less.
func openDir(root *os.Root, dir string) (*os.File, error) {
	if root == nil {
		return os.Open(dir)
	}
	return root.OpenFile(dir, syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
}
