package direct

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/ffconvert/ffconvert/aio"
)

// A file makes aligned writes past the page cache and others through it. A dataset is written once
// and not read back through the cache, so a copy of each block in the cache gains nothing
// (BenchmarkFile; docs/decisions/006-device-io.md). Both kinds of write need an fsync. Aligned writes
// may be concurrent with one another, but not with others.
type file struct {
	*os.File
	mu      sync.Mutex
	direct  bool // O_DIRECT is set
	refused bool // the file system refused O_DIRECT: writes go through the page cache
}

func newFile(f *os.File) *file { return &file{File: f} }

// WriteAt writes to the file, directly where off, p and its length are aligned.
func (f *file) WriteAt(p []byte, off int64) (int, error) {
	direct, err := f.set(isAligned(p, off))
	if err != nil {
		return 0, err
	}
	n, err := f.File.WriteAt(p, off)
	if !direct || !errors.Is(err, unix.EINVAL) {
		return n, err
	}
	// The file system accepts O_DIRECT, but requires another alignment.
	if err := f.refuse(); err != nil {
		return n, err
	}
	rest, err := f.File.WriteAt(p[n:], off+int64(n))
	return n + rest, err
}

// refuse turns O_DIRECT off for good.
func (f *file) refuse() error {
	f.mu.Lock()
	f.refused = true
	f.mu.Unlock()
	_, err := f.set(false)
	return err
}

// set turns O_DIRECT on or off, and returns what it is. If the file system refuses it, it is not tried again.
func (f *file) set(direct bool) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	direct = direct && !f.refused
	if direct == f.direct {
		return direct, nil
	}
	err := aio.SetDirect(f.File, direct)
	switch {
	case err == nil:
		f.direct = direct
	case direct:
		f.refused = true
	default:
		return false, fmt.Errorf("write %s through the page cache: %w", f.Name(), err)
	}
	return f.direct, nil
}

// Reserve allocates size bytes of f on the device, so that a full device is an error before the
// work and not after it.
func Reserve(f *os.File, size int64) error {
	for {
		err := unix.Fallocate(int(f.Fd()), 0, 0, size)
		switch {
		case err == nil, errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS):
			return nil // some file systems cannot: a full device is an error of a write
		case errors.Is(err, unix.EINTR):
			continue
		}
		return &os.PathError{Op: "fallocate", Path: f.Name(), Err: err}
	}
}

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
