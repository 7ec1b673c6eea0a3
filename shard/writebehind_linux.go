package shard

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// behind is how many bytes are written before the kernel is told to start bringing them
// to the device: large enough for long requests, small enough that the device is never
// idle and the fsync at the end finds little left. lag is how many such pieces may be on
// their way before the oldest is waited for, and its pages are given back.
const (
	behind = 8 << 20
	lag    = 4
)

// writeBehind is a file written front to back whose pages start for the device at once,
// not when memory runs short or fsync is called, and leave the page cache when they are
// there: a shard is not read through it, and a few pages that are used again cost less
// than new ones for the whole dataset. It is a speed trick alone: BenchmarkWriteBehind
// shows what it brings to one file, docs/benchmarks.md to a conversion.
type writeBehind struct {
	file    *os.File
	start   int64 // of what was not yet sent off
	sent    [lag]piece
	next    int  // of sent, the oldest
	refused bool // the kernel or the file system does not do this
}

// A piece was sent off.
type piece struct{ off, size int64 }

func newWriteBehind(f *os.File) *writeBehind { return &writeBehind{file: f} }

// WriteAt is that of the file. An error may be that of a write before.
func (w *writeBehind) WriteAt(p []byte, off int64) (int, error) {
	n, err := w.file.WriteAt(p, off)
	if err != nil || w.refused {
		return n, err
	}
	if off < w.start {
		w.start = off // the tables, which stand before the payload
	}
	if end := off + int64(n); end-w.start >= behind {
		err = w.send(piece{w.start, end - w.start})
		w.start = end
	}
	return n, err
}

// send starts a piece for the device and lets go of the oldest one. Waiting for that takes
// note of an error in place of fsync, so it must be reported here.
func (w *writeBehind) send(p piece) error {
	fd := int(w.file.Fd())
	err := unix.SyncFileRange(fd, p.off, p.size, unix.SYNC_FILE_RANGE_WRITE)
	if old := w.sent[w.next]; err == nil && old.size > 0 {
		err = unix.SyncFileRange(fd, old.off, old.size, unix.SYNC_FILE_RANGE_WAIT_BEFORE|unix.SYNC_FILE_RANGE_WRITE|unix.SYNC_FILE_RANGE_WAIT_AFTER)
		if err == nil {
			_ = unix.Fadvise(fd, old.off, old.size, unix.FADV_DONTNEED) // advice, and no more
		}
	}
	w.sent[w.next] = p
	w.next = (w.next + 1) % lag
	if lost(err) {
		return &os.PathError{Op: "sync_file_range", Path: w.file.Name(), Err: err}
	}
	w.refused = err != nil
	return nil
}

// lost says whether an error of sync_file_range is the device's, not that of a kernel
// that does not know the call or of a sandbox that forbids it.
func lost(err error) bool {
	return errors.Is(err, unix.EIO) || errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) || errors.Is(err, unix.ENOMEM)
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
