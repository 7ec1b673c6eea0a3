package shard

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// behind is how many bytes are written before the kernel is told to start bringing them
// to the device. Large enough for long requests, small enough that the device is never
// idle and the fsync at the end finds little left.
const behind = 8 << 20

// writeBehind is a file written front to back whose pages start for the device at once,
// not when memory runs short or fsync is called. It is a speed trick alone:
// BenchmarkWriteBehind shows what it brings to one file, docs/benchmarks.md to a
// conversion.
type writeBehind struct {
	file  *os.File
	start int64 // of what was not yet sent off
}

func newWriteBehind(f *os.File) *writeBehind { return &writeBehind{file: f} }

// WriteAt is that of the file.
func (w *writeBehind) WriteAt(p []byte, off int64) (int, error) {
	n, err := w.file.WriteAt(p, off)
	if end := off + int64(n); err == nil && end-w.start >= behind {
		// Its errors are those of the device, and fsync reports these.
		unix.SyncFileRange(int(w.file.Fd()), w.start, end-w.start, unix.SYNC_FILE_RANGE_WRITE)
		w.start = end
	}
	return n, err
}

// reserve takes room for size bytes on the device, so that a full one is found before
// the work and not after.
func reserve(f *os.File, size int64) error {
	for {
		err := unix.Fallocate(int(f.Fd()), 0, 0, size)
		switch {
		case err == nil, errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS):
			return nil // some file systems cannot; their writes will tell
		case errors.Is(err, unix.EINTR):
			continue
		}
		return &os.PathError{Op: "fallocate", Path: f.Name(), Err: err}
	}
}
