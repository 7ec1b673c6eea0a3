//go:build unix

package aio

import "golang.org/x/sys/unix"

// pread is one pread call. os.File.ReadAt would go on from a short count, and
// with O_DIRECT from a misaligned offset.
func pread(f *File, buf []byte, off int64) (int, error) {
	return unix.Pread(f.fd, buf, off)
}
