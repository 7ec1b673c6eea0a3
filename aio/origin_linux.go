package aio

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

var (
	// onDevice lists file systems with a block device and no other cache above it than the page
	// cache. Network file systems, FUSE, overlayfs and ZFS have other caches or no device.
	onDevice = []string{"ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs"}

	// alwaysDirect lists file systems on which direct reads never use the page cache if statx
	// reports an alignment for the file. btrfs uses the page cache after a failed direct read.
	alwaysDirect = []string{"ext4", "xfs"}
)

// Uncache removes the file from the page cache, so that following reads come from the device. It
// returns [Device] if that is proven: the file system always reads directly, or the page cache has
// no page of the file. Uncache syncs the file if it has unwritten pages. It cannot remove pages that
// a process has mapped. Call Uncache after a sync, before each read that must come from the device.
//
// On ext4 and XFS with direct reads, Uncache does not change the page cache.
func (f *File) Uncache() Origin {
	var stx unix.Statx_t
	unix.Statx(f.fd, "", unix.AT_EMPTY_PATH, unix.STATX_DIOALIGN, &stx) // an error leaves no mask
	name := MountType(f.fd)
	if f.direct() && stx.Mask&unix.STATX_DIOALIGN != 0 && slices.Contains(alwaysDirect, name) {
		return Device
	}
	// The kernel may ignore the advice; cached shows whether it did.
	unix.Fadvise(f.fd, 0, 0, unix.FADV_DONTNEED)
	switch {
	case name == "":
		return unknownOrigin
	case !slices.Contains(onDevice, name):
		return Origin(name)
	case !cached(f.fd, f.size):
		return Device
	}
	if f.os.Sync() == nil {
		unix.Fadvise(f.fd, 0, 0, unix.FADV_DONTNEED)
		if !cached(f.fd, f.size) {
			return Device
		}
	}
	return Origin(name)
}

// MountType returns the type of the file system of fd, as mount(8) names it, or "" if /proc does not
// have it. It uses the mount table because statfs(2) may return the type of a server's disk. The table is read once for
// each mount, since it may have hundreds of lines.
func MountType(fd int) string {
	var stx unix.Statx_t
	unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_MNT_ID_UNIQUE, &stx)
	unique := stx.Mask&unix.STATX_MNT_ID_UNIQUE != 0 // since Linux 6.8 there is a number that no later mount has
	if name, ok := mountTypes.Load(stx.Mnt_id); ok && unique {
		return name.(string)
	}
	info, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", fd))
	if err != nil {
		return ""
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	name := typeOfMount(string(info), string(mounts))
	if unique {
		mountTypes.Store(stx.Mnt_id, name)
	}
	return name
}

var mountTypes sync.Map // by unique mount ID

// typeOfMount returns the type of the mount in mountinfo that fdinfo names; see proc(5).
func typeOfMount(fdinfo, mountinfo string) string {
	_, rest, _ := strings.Cut(fdinfo, "mnt_id:")
	id, _, _ := strings.Cut(rest, "\n")
	if id = strings.TrimSpace(id); id == "" {
		return ""
	}
	for line := range strings.Lines(mountinfo) {
		if !strings.HasPrefix(line, id+" ") {
			continue
		}
		_, fs, _ := strings.Cut(line, " - ")
		name, _, _ := strings.Cut(fs, " ")
		return name
	}
	return ""
}

// cachedSpan is the number of bytes that cached maps at a time.
const cachedSpan = 256 << 20

// cached reports whether the page cache may have pages of the file. It returns true if the kernel does not
// answer: it answers only the owner of the file and processes that may write to it.
func cached(fd int, size int64) bool {
	pages := make([]byte, (min(size, cachedSpan)+int64(os.Getpagesize())-1)/int64(os.Getpagesize()))
	for off := int64(0); off < size; off += cachedSpan {
		span, err := unix.Mmap(fd, off, int(min(size-off, cachedSpan)), unix.PROT_READ, unix.MAP_SHARED)
		if err != nil {
			return true
		}
		err = mincore(span, pages)
		unix.Munmap(span)
		n := (len(span) + os.Getpagesize() - 1) / os.Getpagesize()
		if err != nil || slices.ContainsFunc(pages[:n], func(p byte) bool { return p&1 != 0 }) {
			return true
		}
	}
	return false
}
