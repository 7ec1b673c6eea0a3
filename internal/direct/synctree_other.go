//go:build !linux

package direct

import "os"

// SyncTree makes all files and directories below root durable.
func SyncTree(root *os.Root) error { return syncEach(root) }
