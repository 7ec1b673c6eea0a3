package converters

import (
	"os"

	"golang.org/x/sys/unix"
)

func advise(f *os.File, how Access) {
	advice := [...]int{AnyAccess: unix.FADV_NORMAL, RandomAccess: unix.FADV_RANDOM, SequentialAccess: unix.FADV_SEQUENTIAL}
	_ = unix.Fadvise(int(f.Fd()), 0, 0, advice[how])
}
