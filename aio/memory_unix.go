//go:build unix

package aio

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Alloc returns n zero bytes outside the Go heap, nil if n is 0. They are page aligned and suitable
// for reads with O_DIRECT. The garbage collector neither moves nor frees them; call [Free].
func Alloc(n int) ([]byte, error) {
	if n < 0 {
		return nil, fmt.Errorf("aio: alloc %d bytes: %w", n, unix.EINVAL)
	}
	if n == 0 {
		return nil, nil
	}
	b, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("aio: alloc %d bytes: %w", n, err)
	}
	useHugePages(b)
	return b, nil
}

// Map maps the first n bytes of f, which are then read-only and shared with the page cache. They are freed by [Free]. A
// page that was evicted is read alone. An access behind the end of a file that was cut, or to a page that the device
// cannot read, is a fault: see [runtime/debug.SetPanicOnFault].
func Map(f *os.File, n int64) ([]byte, error) {
	b, err := unix.Mmap(int(f.Fd()), 0, int(n), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("aio: map %d bytes of %s: %w", n, f.Name(), err)
	}
	_ = unix.Madvise(b, unix.MADV_RANDOM)
	return b, nil
}

// Free releases a slice that [Alloc] or [Map] returned, not a part of one. It must not be used afterwards.
// Free(nil) does nothing.
func Free(b []byte) error {
	if b == nil {
		return nil
	}
	if err := unix.Munmap(b); err != nil {
		return fmt.Errorf("aio: free %d bytes: %w", len(b), err)
	}
	return nil
}

// pread makes one call of pread. os.File.ReadAt would continue after a short count, with O_DIRECT at
// a misaligned offset.
func pread(f *File, buf []byte, off int64) (int, error) {
	return unix.Pread(f.fd, buf, off)
}
