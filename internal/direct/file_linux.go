package direct

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// directAlign is the alignment in bytes of offset and length of a write past the page cache. It
// suffices for every device; a file system that requires more returns EINVAL.
const directAlign = 4096

// A File makes aligned writes past the page cache and others through it. A dataset is written once
// and not read back through the cache, so a copy of each block in the cache gains nothing
// (BenchmarkFile; docs/decisions/017-direct-writes.md). Both kinds of write need an fsync. A File must
// be used by one goroutine.
type File struct {
	*os.File
	direct  bool // O_DIRECT is set
	refused bool // the file system refused O_DIRECT: writes go through the page cache
}

// NewFile returns a File that writes to f.
func NewFile(f *os.File) *File { return &File{File: f} }

// WriteAt writes to the file, directly where off, p and its length are aligned.
func (f *File) WriteAt(p []byte, off int64) (int, error) {
	if err := f.set(!f.refused && (off|int64(len(p)))%directAlign == 0); err != nil {
		return 0, err
	}
	n, err := f.File.WriteAt(p, off)
	if !f.direct || !errors.Is(err, unix.EINVAL) {
		return n, err
	}
	// The file system accepts O_DIRECT, but requires another alignment.
	f.refused = true
	if err := f.set(false); err != nil {
		return n, err
	}
	rest, err := f.File.WriteAt(p[n:], off+int64(n))
	return n + rest, err
}

// set turns O_DIRECT on or off. If the file system refuses it, it is not tried again.
func (f *File) set(direct bool) error {
	if direct == f.direct {
		return nil
	}
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	if err == nil {
		flags &^= unix.O_DIRECT
		if direct {
			flags |= unix.O_DIRECT
		}
		_, err = unix.FcntlInt(f.Fd(), unix.F_SETFL, flags)
	}
	switch {
	case err == nil:
		f.direct = direct
	case direct:
		f.refused = true
	default:
		return fmt.Errorf("write %s through the page cache: %w", f.Name(), err)
	}
	return nil
}
