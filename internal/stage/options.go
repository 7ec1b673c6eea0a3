package stage

import (
	"cmp"
	"runtime"
	"time"

	"github.com/ffconvert/ffconvert/internal/input"
)

// Options configure staging. The zero value is usable.
type Options struct {
	input.Options // of [input.Find]; this package uses Remote, Stdin and Sound

	// Guarded runs each command under a process that kills it, with its process group, when this
	// process is killed. The program's main function must call [Guard] first. Linux and macOS only.
	Guarded bool
	// CacheDir is the directory of the copies. It is created, with mode 0700, for the first copy, and
	// removed at the end of a run if it is empty. "": the directory ffconvert in [os.UserCacheDir].
	CacheDir string
	// NoCache is returned for inputs that need a copy, if the caller has found no CacheDir. nil: use CacheDir.
	NoCache error
	// Quota caps the bytes of all copies in CacheDir, including copies of other runs:
	// see package cache. 0: none.
	Quota int64
	// MaxRatio caps decompressed bytes per compressed byte, after 16 MiB of
	// output. 0: [DefaultMaxRatio]. Negative: none.
	MaxRatio int64
	// MaxWindow caps the window of zstd and the dictionary of xz, bytes; at most
	// 2 GiB. 0: [DefaultMaxWindow].
	MaxWindow int64
	// Workers is the number of files staged concurrently; each may need memory for two windows.
	// 0: GOMAXPROCS.
	Workers int
	// Fetches is the number of objects fetched concurrently, if it exceeds Workers: a fetch waits for
	// the network, not for a processor. Workers limits their decompression.
	Fetches int
	// Progress is called with numbers of bytes read of the named input (not bytes
	// written). It may be called concurrently. nil: not called.
	Progress func(name string, n int64)

	// Verbose is called for each fetched object, used copy and removed copy, with the line that webdataset prints for
	// WDS_VERBOSE_CACHE. It may be called concurrently. nil: not called.
	Verbose func(line string)

	fault func(op string) error // fails a cache operation; tests only
	grace time.Duration         // replaces commandGrace; tests only
}

// DefaultMaxRatio is just above the highest ratio of deflate (1032:1): no valid gzip file exceeds it, while a
// decompression bomb in a denser format does.
const DefaultMaxRatio = 1200

// DefaultMaxWindow is the limit of the zstd command; xz -9 needs half of it.
const DefaultMaxWindow = 128 << 20

// The range of Options.MaxWindow: the window of zstd --long=31, and the smallest one of both formats.
const (
	mostWindow  = 2 << 30
	leastWindow = 4 << 10
)

// withDefaults returns o with defaults in place of zero values.
func (o Options) withDefaults() Options {
	o.Workers = cmp.Or(max(0, o.Workers), runtime.GOMAXPROCS(0))
	o.MaxRatio = cmp.Or(o.MaxRatio, DefaultMaxRatio)
	o.MaxWindow = cmp.Or(max(0, o.MaxWindow), DefaultMaxWindow)
	o.MaxWindow = max(min(o.MaxWindow, mostWindow), leastWindow)
	o.grace = cmp.Or(o.grace, commandGrace)
	if o.Progress == nil {
		o.Progress = func(string, int64) {}
	}
	if o.Verbose == nil {
		o.Verbose = func(string) {}
	}
	if o.fault == nil {
		o.fault = func(string) error { return nil }
	}
	return o
}
