package packed

import (
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/ffconvert/ffconvert/aio"
)

// Of these syncfs makes all files durable, in a fraction of the time: a flush of the device a file
// is a millisecond. Of FUSE it does nothing unless the server is a special one, and reports nothing.
var syncedAtOnce = []string{"ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "overlay", "tmpfs"}

// syncTree brings all that was written below root to the device.
func syncTree(root *os.Root) error {
	d, err := root.Open(".")
	if err != nil {
		return err
	}
	defer d.Close()
	if !slices.Contains(syncedAtOnce, aio.MountType(int(d.Fd()))) {
		return syncEach(root)
	}
	if err := unix.Syncfs(int(d.Fd())); err != nil {
		return &os.PathError{Op: "syncfs", Path: d.Name(), Err: err}
	}
	return nil
}
