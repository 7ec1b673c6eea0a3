//go:build !linux

package record

import "os"

// readAhead does nothing: the system has no advice.
func readAhead(*os.File, bool) {}
