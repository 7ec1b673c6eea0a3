package packed

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncTree brings all that was written below root to the device. One call for the whole
// file system costs less than one a file.
func syncTree(root *os.Root) error {
	d, err := root.Open(".")
	if err != nil {
		return err
	}
	defer d.Close()
	if err := unix.Syncfs(int(d.Fd())); err != nil {
		return &os.PathError{Op: "syncfs", Path: d.Name(), Err: err}
	}
	return nil
}
