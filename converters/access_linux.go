package converters

import (
	"os"

	"golang.org/x/sys/unix"
)

// adviseRandom has the kernel not read ahead.
func adviseRandom(f *os.File) { _ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_RANDOM) }
