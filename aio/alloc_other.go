//go:build !unix

package aio

import "fmt"

// Alloc returns n zero bytes. Where there is no O_DIRECT they need neither
// alignment nor a fixed place, and are ordinary Go memory. n = 0 gives nil.
func Alloc(n int) ([]byte, error) {
	if n < 0 {
		return nil, fmt.Errorf("aio: alloc %d bytes: negative size", n)
	}
	if n == 0 {
		return nil, nil
	}
	return make([]byte, n), nil
}

// Free gives back what [Alloc] returned: that slice, not a part of it. Nothing
// may use it afterwards. Free(nil) does nothing.
func Free([]byte) error { return nil }
