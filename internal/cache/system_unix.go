//go:build linux || darwin

package cache

import (
	"io/fs"
	"os"
	"syscall"
)

// trusted reports whether no other user could have written a file.
func trusted(fi fs.FileInfo) bool {
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && fi.Mode().IsRegular() && fi.Mode().Perm()&0o022 == 0 && int(st.Uid) == os.Geteuid()
}
