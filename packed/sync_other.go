//go:build !linux

package packed

import "os"

// syncTree brings all that was written below root to the device.
func syncTree(root *os.Root) error { return syncEach(root) }
