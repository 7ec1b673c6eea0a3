//go:build !linux

package packed

import "os"

// syncTree makes all files and directories below root durable.
func syncTree(root *os.Root) error { return syncEach(root) }
