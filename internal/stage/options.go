package stage

import (
	"cmp"
	"runtime"
	"time"

	"github.com/ffconvert/ffconvert/internal/input"
)

// Options say how files are staged. The zero value is usable.
type Options struct {
	input.Options // how the names were found; Remote and Stdin matter here

	// Guarded runs each command below a process that kills it, with its process group, when this
	// process is killed. The program's main function must call [Guard] first. Linux and macOS.
	Guarded bool
	// CacheDir is where copies are staged; it is created, mode 0700, when the
	// first one is, and removed whenever a run leaves it empty. "": the directory
	// ffconvert in [os.UserCacheDir].
	CacheDir string
	// NoCache is the error for inputs that need a copy where no CacheDir could be found. nil: none.
	NoCache error
	// Quota caps the bytes of all staged copies in CacheDir, including copies of other runs:
	// see package cache. 0: none.
	Quota int64
	// MaxRatio caps decompressed bytes per compressed byte, once 16 MiB have
	// come out. 0: [DefaultMaxRatio]. Negative: none.
	MaxRatio int64
	// MaxWindow caps the window of zstd and the dictionary of xz, bytes; at most
	// 2 GiB. 0: [DefaultMaxWindow].
	MaxWindow int64
	// Workers is how many files are staged at once; each may hold two windows.
	// 0: GOMAXPROCS.
	Workers int
	// Fetches is how many objects are fetched at once, if that is more than Workers: a fetch waits for
	// the network, not for a processor. Workers limits their decompression.
	Fetches int
	// Progress is told of every n bytes read of the named input (not bytes
	// written). It may be called from several goroutines at once. nil: not called.
	Progress func(name string, n int64)

	// Verbose is told what happens in CacheDir, in the lines that webdataset prints for WDS_VERBOSE_CACHE: objects that are
	// fetched, copies that are used, copies that are removed. It may be called from several goroutines at once. nil: not called.
	Verbose func(line string)

	fault func(op string) error // fails a cache operation; tests only
	grace time.Duration         // in place of commandGrace; tests only
}

// DefaultMaxRatio is just above what deflate can reach (1032:1), so that no sound
// gzip file meets it, while a bomb made for the denser formats does.
const DefaultMaxRatio = 1200

// DefaultMaxWindow is the limit of the zstd command; xz -9 needs half of it.
const DefaultMaxWindow = 128 << 20

// The range of Options.MaxWindow: what zstd --long=31 uses, and what both formats have at
// the least.
const (
	mostWindow  = 2 << 30
	leastWindow = 4 << 10
)

// withDefaults returns o without zero values that stand for others.
func (o Options) withDefaults() Options {
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	o.MaxRatio = cmp.Or(o.MaxRatio, DefaultMaxRatio)
	if o.MaxWindow <= 0 {
		o.MaxWindow = DefaultMaxWindow
	}
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
