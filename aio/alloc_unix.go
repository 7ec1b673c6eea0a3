//go:build unix

package aio

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Alloc returns n zero bytes outside the Go heap, page aligned, fit to be
// handed to the kernel and read into with O_DIRECT. The garbage collector
// neither sees, moves nor frees them: that is for [Free]. n = 0 gives nil.
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

// Free gives back what [Alloc] returned: that slice, not a part of it. Nothing
// may use it afterwards. Free(nil) does nothing.
func Free(b []byte) error {
	if b == nil {
		return nil
	}
	if err := unix.Munmap(b); err != nil {
		return fmt.Errorf("aio: free %d bytes: %w", len(b), err)
	}
	return nil
}
