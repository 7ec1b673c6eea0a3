package record

import (
	"os"

	"golang.org/x/sys/unix"
)

// readAhead switches the read-ahead of f on or off. While a header is read it is off: the kernel would read
// samples as well, and leave marks in the page cache at which each later read of a small sample makes it
// read ahead again, up to the whole file. Without the advice the same bytes are read.
func readAhead(f *os.File, on bool) {
	advice := unix.FADV_RANDOM
	if on {
		advice = unix.FADV_NORMAL
	}
	_ = unix.Fadvise(int(f.Fd()), 0, 0, advice)
}
