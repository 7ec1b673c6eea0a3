//go:build !unix

package aio

import (
	"errors"
	"fmt"
	"os"
)

// Alloc returns n zero bytes, nil if n is 0. They are ordinary Go memory: without O_DIRECT buffers
// need neither alignment nor a fixed address.
func Alloc(n int) ([]byte, error) {
	if n < 0 {
		return nil, fmt.Errorf("aio: alloc %d bytes: negative size", n)
	}
	if n == 0 {
		return nil, nil
	}
	return make([]byte, n), nil
}

// Map returns an error: this system does not map files in this way.
func Map(*os.File, int64) ([]byte, error) { return nil, errors.ErrUnsupported }

// Free releases a slice that [Alloc] returned, not a part of one. It must not be used afterwards.
// Free(nil) does nothing.
func Free([]byte) error { return nil }

func pread(f *File, buf []byte, off int64) (int, error) {
	return f.os.ReadAt(buf, off)
}
