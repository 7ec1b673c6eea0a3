package cache

import (
	"os"

	"golang.org/x/sys/unix"
)

// labelName is the extended attribute that says what a file is a copy of.
const labelName = "user.ffconvert.source"

const mostLabel = 4 << 10 // bytes; file systems have some KiB for all attributes of a file

// setLabel is for people: where the file system keeps no attributes, nothing is lost.
func setLabel(f *os.File, label string) {
	if label != "" && len(label) <= mostLabel {
		_ = unix.Fsetxattr(int(f.Fd()), labelName, []byte(label), 0)
	}
}

// labelOf returns what setLabel has set, "" where that is nothing.
func labelOf(f *os.File) string {
	buf := make([]byte, mostLabel)
	n, err := unix.Fgetxattr(int(f.Fd()), labelName, buf)
	if err != nil {
		return ""
	}
	return string(buf[:n])
}
