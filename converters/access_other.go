//go:build !linux

package converters

import "os"

// NoReadAhead does nothing.
func NoReadAhead(*os.File) {}
