//go:build !linux

package direct

import "os"

// newFile returns f: files are written through the page cache here.
func newFile(f *os.File) *os.File { return f }

// Reserve sets the size of f and allocates nothing: a full device is an error of a write.
func Reserve(f *os.File, size int64) error { return f.Truncate(size) }

// SyncTree makes all files and directories below root durable.
func SyncTree(root *os.Root) error { return syncEach(root) }
