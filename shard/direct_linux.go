package shard

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// directAlign is what an offset and a length must be multiples of to be written past the
// page cache. It is enough for every device; a file system that wants more says EINVAL.
const directAlign = 4096

// A directFile makes aligned writes past the page cache. A dataset is written once and not read
// back through the cache, so copying each block into a new page for every 4 KiB gains nothing
// (BenchmarkDirect; docs/decisions/017-direct-writes.md). Other writes go through the cache, and both
// need an fsync. It is for one goroutine.
type directFile struct {
	*os.File
	direct  bool // O_DIRECT is set
	refused bool // the file system refused O_DIRECT: writes go through the page cache
}

func newDirectFile(f *os.File) *directFile { return &directFile{File: f} }

// WriteAt writes to the file, directly where off, p and its length are aligned.
func (f *directFile) WriteAt(p []byte, off int64) (int, error) {
	if err := f.set(!f.refused && (off|int64(len(p)))%directAlign == 0); err != nil {
		return 0, err
	}
	n, err := f.File.WriteAt(p, off)
	if !f.direct || !errors.Is(err, unix.EINVAL) {
		return n, err
	}
	// It was accepted for the file but not for this: not the alignment that the file system wants.
	f.refused = true
	if err := f.set(false); err != nil {
		return n, err
	}
	rest, err := f.File.WriteAt(p[n:], off+int64(n))
	return n + rest, err
}

// set turns O_DIRECT on or off. A file system that has no such thing refuses it for good.
func (f *directFile) set(direct bool) error {
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
