//go:build !linux

package converters

import "os"

func advise(*os.File, Access) {}
