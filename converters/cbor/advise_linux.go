package cbor

import (
	"os"

	"golang.org/x/sys/unix"
)

// access is how a part is going to be read.
type access int

const (
	plain access = unix.FADV_NORMAL     // from front to back, or in jumps: the kernel finds out
	hops  access = unix.FADV_RANDOM     // one sample: no readahead
	sweep access = unix.FADV_SEQUENTIAL // from front to back: twice the readahead
)

// advise tells the kernel. It is advice: nothing depends on it being taken.
func advise(f *os.File, how access) {
	_ = unix.Fadvise(int(f.Fd()), 0, 0, int(how))
}
