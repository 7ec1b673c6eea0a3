//go:build unix

package aio

import "golang.org/x/sys/unix"

// pread makes one call of pread. os.File.ReadAt would continue after a short count, with O_DIRECT at
// a misaligned offset.
func pread(f *File, buf []byte, off int64) (int, error) {
	return unix.Pread(f.fd, buf, off)
}
