package aio

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/ffconvert/ffconvert/internal/place"
)

// A Backend is a way to have many reads in flight. *Backend is a flag.Value.
type Backend int

// The backends.
const (
	Auto  Backend = iota // AIO if the system accepts it and it is asynchronous, else Pread
	AIO                  // Linux AIO for every read; NewReader fails if the kernel refuses it
	Pread                // a pool of goroutines, each in one pread at a time
)

var backendNames = [...]string{Auto: "auto", AIO: "aio", Pread: "pread"}

// String returns "auto", "aio" or "pread".
func (b Backend) String() string {
	if b < 0 || int(b) >= len(backendNames) {
		return fmt.Sprintf("Backend(%d)", int(b))
	}
	return backendNames[b]
}

// Set is the inverse of [Backend.String].
func (b *Backend) Set(s string) error {
	i := slices.Index(backendNames[:], s)
	if i < 0 {
		return fmt.Errorf("backend %q: want auto, aio or pread", s)
	}
	*b = Backend(i)
	return nil
}

// Type returns "backend", the name of the value in usage texts.
func (b *Backend) Type() string { return "backend" }

const (
	defaultDepth     = 32
	defaultBlockSize = 1 << 20

	// maxDepth limits a Reader to 1/64 of the usual aio-max-nr (65,536 for the whole host), and a
	// pool to a reasonable number of threads.
	maxDepth = 1024

	// MaxBlockSize is large enough for the full rate of any device, and far below 2 GiB, where the
	// kernel shortens a read.
	MaxBlockSize = 64 << 20

	// pageSize is the unit of BlockSize, the alignment of buffers, and the assumed alignment for
	// O_DIRECT if the kernel does not report one.
	pageSize = 4096
)

// Options configure a [Reader]. The zero value suits reads of whole files.
type Options struct {
	Backend   Backend // default Auto
	Depth     int     // requests in flight, 1 to 1024; default 32
	BlockSize int     // bytes of one buffer, a multiple of 4096 up to 64 MiB; default 1 MiB
}

// withDefaults fills in the zero fields and checks the others.
func (o Options) withDefaults() (Options, error) {
	o.Depth = cmp.Or(o.Depth, defaultDepth)
	o.BlockSize = cmp.Or(o.BlockSize, defaultBlockSize)
	switch {
	case o.Backend < Auto || o.Backend > Pread:
		return o, fmt.Errorf("aio: unknown backend %d", int(o.Backend))
	case o.Depth < 1 || o.Depth > maxDepth:
		return o, fmt.Errorf("aio: depth %d: want 1 to %d", o.Depth, maxDepth)
	case o.BlockSize < pageSize || o.BlockSize > MaxBlockSize || o.BlockSize%pageSize != 0:
		return o, fmt.Errorf("aio: block size %d: want a multiple of %d up to %d", o.BlockSize, pageSize, MaxBlockSize)
	}
	return o, nil
}

// Stats are statistics of a [Reader].
type Stats struct {
	Backend  Backend // AIO if all reads but Cached and, with Auto, those before 8 MiB (see NewReader) used Linux AIO; else, and before, Pread
	Direct   bool    // no file was read through the page cache, except for Cached
	Depth    int     // most requests in flight
	Fallback string  // reason for Pread; empty for AIO, and with Auto before 8 MiB
	Bytes    int64   // bytes passed to the caller
	Cached   int64   // the part of Bytes that ReadBatch read from the page cache; see File.UsePageCache
	Reads    int64   // requests that the kernel completed; reads from the page cache do not count
	Retries  int64   // completed requests that were incomplete and submitted again
}

// A ReadError is the error of a read at one place of a file. Err is the errno, or
// [io.ErrUnexpectedEOF] if the file ends before the requested range does, or [fs.ErrClosed].
type ReadError struct {
	Path string
	Off  int64 // file offset in bytes of the end of the data, or of the failed request
	Err  error
}

func (e *ReadError) Error() string {
	return fmt.Sprintf("read %q at byte %d: %v", e.Path, e.Off, e.Err)
}

func (e *ReadError) Unwrap() error { return e.Err }

// PlaceKind makes a failed read end with the exit status of an I/O error.
func (e *ReadError) PlaceKind() place.Kind { return place.IO }

var (
	errBusy  = errors.New("aio: reader is in the middle of a sweep or a batch")
	errRange = errors.New("negative offset or size, or beyond 2^63-1")
)
