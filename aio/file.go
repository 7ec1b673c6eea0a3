package aio

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/ffconvert/ffconvert/internal/place"
)

var errNotRegular = place.New(place.Refused, "not a regular file")

// A File is a regular file open for reading. It has no position, so any number of Readers may read it at once.
type File struct {
	path  string
	os    *os.File
	fd    int
	size  int64
	align int    // alignment of requests in bytes, a power of two; 1 without O_DIRECT
	why   string // f's descriptor is also read through the page cache: see setDirect
	both  bool   // its descriptor is also read through the page cache: see setDirect

	buffered *File        // the same file without O_DIRECT; nil: do not read from the page cache
	answers  atomic.Int64 // see batch.inCache

	mu     sync.Mutex
	users  int // Readers in a Sweep or a ReadBatch of the file
	closed bool

	// Observations about the file system; see Reader.observe.
	streak atomic.Int32 // submissions that were complete when io_submit returned
	async  atomic.Bool  // AIO is asynchronous: one submission was not complete
	sync   atomic.Bool  // AIO is synchronous: use the pool
}

// Open opens a regular file for any Readers, past the page cache if the file system allows it. It refuses any other
// kind of file without opening it, since opening a FIFO blocks.
func Open(path string) (*File, error) {
	return open(path,
		func() (os.FileInfo, error) { return os.Stat(path) },
		func(flag int) (*os.File, error) { return os.OpenFile(path, flag, 0) })
}

// OpenIn opens a file below root as Open does. It finds the file even if the directory has been
// renamed, and it refuses symbolic links.
func OpenIn(root *os.Root, name string) (*File, error) {
	return open(filepath.Join(root.Name(), name),
		func() (os.FileInfo, error) { return root.Lstat(name) },
		func(flag int) (*os.File, error) { return root.OpenFile(name, flag, 0) })
}

func open(path string, stat func() (os.FileInfo, error), openAs func(flag int) (*os.File, error)) (*File, error) {
	fi, err := stat()
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() {
		return nil, fmt.Errorf("open %q: %w", path, errNotRegular)
	}
	f := &File{path: path}
	if f.os, f.align, f.why, err = openDirect(openAs); err != nil {
		return nil, err
	}
	if f.os == nil {
		f.align = 1
		if f.os, err = openAs(os.O_RDONLY); err != nil {
			return nil, err
		}
	}
	if fi, err = f.os.Stat(); err == nil && !fi.Mode().IsRegular() {
		err = fmt.Errorf("open %q: %w", path, errNotRegular)
	}
	if err != nil {
		f.os.Close()
		return nil, err
	}
	f.size = fi.Size()
	f.fd = int(f.os.Fd())
	return f, nil
}

// Size returns the size of the file in bytes at the time of Open.
func (f *File) Size() int64 { return f.size }

// direct reports whether Readers read the file with O_DIRECT, past the page cache.
func (f *File) direct() bool { return f.why == "" }

// Stat describes the open file, even if its path now names another file.
func (f *File) Stat() (os.FileInfo, error) { return f.os.Stat() }

// Close closes the file. It returns an error while a Reader reads the file. A second Close does nothing.
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

// setDirect turns O_DIRECT on before Readers read a file of asDirect, or off after they did.
func (f *File) setDirect(on bool) error {
	if !f.both {
		return nil
	}
	if err := SetDirect(f.os, on); err != nil {
		return &os.PathError{Op: "fcntl", Path: f.path, Err: err}
	}
	return nil
}

// acquire keeps f open until release. It returns false if f is closed.
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
