//go:build !unix

package aio

func pread(f *File, buf []byte, off int64) (int, error) {
	return f.os.ReadAt(buf, off)
}
