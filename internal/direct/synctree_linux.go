package direct

import (
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/ffconvert/ffconvert/aio"
)

// syncedAtOnce lists the file systems on which syncfs makes all files durable. That is faster than
// one fsync per file, each of which flushes the device (about a millisecond). On FUSE, syncfs does
// nothing for most servers and reports no error.
var syncedAtOnce = []string{"ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "overlay", "tmpfs"}

// SyncTree makes all files and directories below root durable.
func SyncTree(root *os.Root) error {
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
