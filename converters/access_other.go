//go:build !linux

package converters

import "os"

// adviseRandom does nothing.
func adviseRandom(*os.File) {}
