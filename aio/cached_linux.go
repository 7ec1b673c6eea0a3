package aio

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// inCache reports whether the page cache has size bytes of a file from off. It returns false if the kernel does
// not answer: Linux before 6.5, or a newer one for a file of another user. A read with RWF_NOWAIT would answer too,
// but makes the kernel read ahead into the page cache.
func inCache(f *os.File, off, size int64) bool {
	from := alignDown(off, pageSize)
	span := unix.CachestatRange{Off: uint64(from), Len: uint64(alignUp(off+size, pageSize) - from)}
	var stat unix.Cachestat_t
	err := unix.Cachestat(uint(f.Fd()), &span, &stat, 0)
	return err == nil && stat.Cache*uint64(os.Getpagesize()) >= span.Len
}

// willNeed makes the kernel start reading size bytes from off into the page cache. It does not wait for them.
func willNeed(f *os.File, off, size int64) {
	const most = 512 << 10 // the kernel cuts a larger request to the largest one of the device
	for end := off + size; off < end; off += most {
		_ = unix.Fadvise(int(f.Fd()), off, min(most, end-off), unix.FADV_WILLNEED)
	}
}

// ReadAhead turns the kernel's read-ahead of f on or off. It has no effect on the bytes that are read.
//
// Read-ahead marks pages in the page cache. Each later read of a marked page, also through another descriptor
// without read-ahead, makes the kernel read ahead again. So turn it off for a file of which only a small part is
// needed, such as a header.
func ReadAhead(f *os.File, on bool) {
	advice := unix.FADV_RANDOM
	if on {
		advice = unix.FADV_NORMAL
	}
	_ = unix.Fadvise(int(f.Fd()), 0, 0, advice)
}

// readCached reads bytes that inCache found. It does not wait for the device: a page that was evicted, or that
// is still being read, ends the read with EAGAIN or a short count.
func readCached(f *File, buf []byte, off int64) (int, error) {
	n, err := unix.Preadv2(f.fd, [][]byte{buf}, off, unix.RWF_NOWAIT)
	if errors.Is(err, unix.EOPNOTSUPP) { // the file system cannot do this
		return unix.Pread(f.fd, buf, off)
	}
	return n, err
}
