package cache

import (
	"io/fs"
	"syscall"
	"time"
)

// accessed is the access time of a file.
func accessed(fi fs.FileInfo) time.Time {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		return time.Unix(st.Atim.Unix())
	}
	return fi.ModTime()
}
