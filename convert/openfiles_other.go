//go:build !unix

package convert

import "math"

// openFiles returns no limit: the system has none that can be asked for.
func openFiles() int { return math.MaxInt32 }
