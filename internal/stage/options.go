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
	// Transient removes each copy as soon as its last user has released it: for a
	// CacheDir that serves one run.
	Transient bool
	// MaxRatio caps decompressed bytes per compressed byte, once 16 MiB have
	// come out. 0: [DefaultMaxRatio]. Negative: none.
	MaxRatio int64
	// MaxWindow caps the window of zstd and the dictionary of xz, bytes; at most
	// 2 GiB. 0: [DefaultMaxWindow].
	MaxWindow int64
	// Workers is how many files are staged at once; each may hold two windows.
	// 0: GOMAXPROCS.
	Workers int
	// Fetches is how many objects are fetched at once: a fetch waits for the network, not for a
	// processor. Workers limits their decompression. 0: as Workers.
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

// running is how many sources are staged at once.
func (o Options) running() int { return max(o.workers(), o.Fetches) }

func (o Options) workers() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return runtime.GOMAXPROCS(0)
}

func (o Options) maxRatio() int64 {
	return cmp.Or(o.MaxRatio, DefaultMaxRatio)
}

func (o Options) maxWindow() int64 {
	if o.MaxWindow <= 0 {
		return DefaultMaxWindow
	}
	return max(min(o.MaxWindow, mostWindow), leastWindow)
}

// injected is what a test lets the operation fail with.
func (o Options) injected(op string) error {
	if o.fault != nil {
		return o.fault(op)
	}
	return nil
}

func (o Options) progress(name string, n int64) {
	if o.Progress != nil {
		o.Progress(name, n)
	}
}
