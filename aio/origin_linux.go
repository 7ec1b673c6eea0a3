package aio

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

var (
	// Of these the page cache is the only cache above a block device. Network file systems,
	// FUSE, overlayfs and ZFS have others, or no device.
	onDevice = []string{"ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs"}

	// These read a file for which statx tells an alignment of direct reads never through the page
	// cache. btrfs does where a direct read fails.
	alwaysDirect = []string{"ext4", "xfs"}
)

// Uncache makes reads of the file that follow take their bytes from the device, and tells whether
// that is proven: direct reads of a file system that keeps to them, or no page of the file in the page
// cache. What is not written yet is written first. A process that maps the file keeps its pages
// where they are. Call it after a sync and before each reading that is to prove anything.
//
// The page cache of ext4 and XFS is left alone where direct reads go past it.
func (f *File) Uncache() Origin {
	var stx unix.Statx_t
	unix.Statx(f.fd, "", unix.AT_EMPTY_PATH, unix.STATX_DIOALIGN, &stx) // an error leaves no mask
	name := MountType(f.fd)
	if f.Direct() && stx.Mask&unix.STATX_DIOALIGN != 0 && slices.Contains(alwaysDirect, name) {
		return Device
	}
	// A hint: whether it was taken is looked at, where it counts.
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

// MountType returns the type of the file system that fd is on, as mount(8) names it, "" where /proc
// does not tell. The type is read from the mount, since statfs(2) may answer with the type of a server's disk.
func MountType(fd int) string {
	info, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", fd))
	if err != nil {
		return ""
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	return typeOfMount(string(info), string(mounts))
}

// typeOfMount finds in mountinfo the mount that fdinfo names, see proc(5).
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

// cachedSpan is how many bytes of a file are mapped at a time to look at their pages.
const cachedSpan = 256 << 20

// cached reports whether the page cache may hold pages of the file: also where the kernel does not
// tell, which it does to owners of the file and writers alone.
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
