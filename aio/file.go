package aio

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
)

// A File is a regular file open for reading. Any number of Readers may read it
// at once: it has no position.
type File struct {
	path  string
	os    *os.File
	fd    int
	size  int64
	align int    // requests start and end at multiples of it; a power of two, 1 without O_DIRECT
	why   string // why not O_DIRECT; empty with it

	mu     sync.Mutex
	users  int // Readers inside a Sweep or a ReadBatch of it
	closed bool

	// What sync.go found out about the file system.
	streak atomic.Int32 // submissions that were complete on return
	async  atomic.Bool  // one was not: AIO is asynchronous here
	sync   atomic.Bool  // AIO is synchronous here: use the pool
}

// Open opens a regular file for reading, by r and any other Reader, past the
// page cache where the file system allows it. A file that is not regular is an
// error, and is not opened: a FIFO would wait for its writer.
func (r *Reader) Open(path string) (*File, error) {
	return r.open(path,
		func() (os.FileInfo, error) { return os.Stat(path) },
		func(flag int) (*os.File, error) { return os.OpenFile(path, flag, 0) })
}

// OpenIn is Open of a file below a directory that is open: the file is found though the directory
// is renamed meanwhile. A symbolic link is not a regular file here.
func (r *Reader) OpenIn(root *os.Root, name string) (*File, error) {
	return r.open(filepath.Join(root.Name(), name),
		func() (os.FileInfo, error) { return root.Lstat(name) },
		func(flag int) (*os.File, error) { return root.OpenFile(name, flag, 0) })
}

func (r *Reader) open(path string, stat func() (os.FileInfo, error), open func(flag int) (*os.File, error)) (*File, error) {
	if r.closed {
		return nil, &os.PathError{Op: "open", Path: path, Err: os.ErrClosed}
	}
	fi, err := stat()
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() {
		return nil, fmt.Errorf("open %q: not a regular file", path)
	}
	f := &File{path: path}
	if f.os, f.align, f.why, err = openDirect(open); err != nil {
		return nil, err
	}
	if f.os == nil {
		f.align = 1
		if f.os, err = open(os.O_RDONLY); err != nil {
			return nil, err
		}
	}
	if fi, err = f.os.Stat(); err == nil && !fi.Mode().IsRegular() {
		err = fmt.Errorf("open %q: not a regular file", path)
	}
	if err != nil {
		f.os.Close()
		return nil, err
	}
	f.size = fi.Size()
	f.fd = int(f.os.Fd())
	return f, nil
}

// Size returns the file's size in bytes when it was opened.
func (f *File) Size() int64 { return f.size }

// Direct reports whether the file is read with O_DIRECT, past the page cache.
func (f *File) Direct() bool { return f.why == "" }

// Stat describes the file that is open, whatever has its name by now.
func (f *File) Stat() (os.FileInfo, error) { return f.os.Stat() }

// Close closes the file. It is an error while the file is being read, and does
// nothing the second time.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.users > 0 {
		return fmt.Errorf("close %q: %w", f.path, errBusy)
	}
	if f.closed {
		return nil
	}
	f.closed = true
	return f.os.Close()
}

// acquire keeps f open until release. It reports false where f is closed.
func (f *File) acquire() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closed {
		f.users++
	}
	return !f.closed
}

func (f *File) release() {
	f.mu.Lock()
	f.users--
	f.mu.Unlock()
}
