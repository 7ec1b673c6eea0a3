package converters

import (
	"os"

	"golang.org/x/sys/unix"
)

// NoReadAhead has the kernel read only what it is asked for. Read-ahead marks a page that is to begin the next
// one: another open of the file that comes upon it has the kernel read on, whatever its own advice.
func NoReadAhead(f *os.File) { _ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_RANDOM) }
