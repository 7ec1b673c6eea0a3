//go:build !linux

package direct

import "os"

// Reserve sets the size of f and allocates nothing: a full device is an error of a write.
func Reserve(f *os.File, size int64) error { return f.Truncate(size) }
