package filter

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/cache"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/place"
)

// Options name the program and the cache of its answers.
type Options struct {
	Command   *input.Command
	Guarded   bool // see [stage.Options]
	Processes int  // that run at once, at least 1

	// Timeout is how long a process may neither read nor write while it has samples to answer, or is to end. 0: forever.
	Timeout time.Duration

	// Progress is told of samples that were answered, and of the bytes of the source that they are in. nil: nothing is.
	Progress func(samples, bytes int64)

	CacheDir string // see [stage.Options]
	NoCache  error
	Quota    int64

	// Check may refuse the answers to a part, of which it is given the number and the name. nil: all are taken.
	Check func(part int, name string, is *converters.Filtered) error

	lull time.Duration // in place of usualLull; tests only
}

// A Filter is a program with its processes and the samples that they have made. Its methods may be called
// concurrently.
type Filter struct {
	opts  Options
	slots chan struct{} // has a value for each process that works

	mu     sync.Mutex
	idle   []*worker
	cache  *cache.Cache    // nil: nothing has needed it yet
	copies map[int]*answer // by number of the part
	users  map[int]int     // Holds of each part
	taken  int             // first part of the last Hold
	failed error           // of the first part that has failed; no other is begun then
}

// New returns a filter that has started nothing yet.
func New(opts Options) *Filter {
	return &Filter{opts: opts, slots: make(chan struct{}, max(1, opts.Processes)), copies: make(map[int]*answer), users: make(map[int]int)}
}

// work calls use with a process that no other caller has. If use returns an error, or true because the
// process has ended, the process is stopped and not used again. After an error every call returns that error.
func (f *Filter) work(ctx context.Context, use func(*worker) (ended bool, err error)) error {
	select {
	case f.slots <- struct{}{}:
		defer func() { <-f.slots }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	f.mu.Lock()
	failed := f.failed
	f.mu.Unlock()
	if failed != nil {
		return failed
	}
	w, err := f.process()
	if err != nil {
		return f.fail(err)
	}
	ended, err := use(w)
	if err != nil || ended {
		w.Stop()
		return f.fail(err)
	}
	f.mu.Lock()
	f.idle = append(f.idle, w)
	f.mu.Unlock()
	return nil
}

// fail keeps the first error, and returns its argument. The caller must still hold the slot of the process: a part that
// waits for the slot would start another process otherwise.
func (f *Filter) fail(err error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failed == nil {
		f.failed = err
	}
	return err
}

// process returns an idle process, or a new one.
func (f *Filter) process() (*worker, error) {
	f.mu.Lock()
	var w *worker
	if n := len(f.idle) - 1; n >= 0 {
		w, f.idle = f.idle[n], f.idle[:n]
	}
	f.mu.Unlock()
	if w != nil && w.Exited() { // it has ended with nothing to do
		err := w.finish(context.Background())
		w.Stop()
		if err != nil {
			return nil, err
		}
		w = nil
	}
	if w != nil {
		return w, nil
	}
	return f.opts.startWorker()
}

// Finish ends the processes. It returns an error if an exit status is not 0, or if a process has written more answers
// than it was given samples: the first one. No source of the filter may be read meanwhile.
func (f *Filter) Finish(ctx context.Context) error {
	f.mu.Lock()
	idle := f.idle
	f.idle = nil
	f.mu.Unlock()
	var first error
	for _, w := range idle {
		if err := w.finish(ctx); first == nil {
			first = err
		}
		w.Stop()
	}
	return first
}

// Close kills the processes and removes all copies. It may be called again.
func (f *Filter) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, w := range f.idle {
		w.Stop()
	}
	f.idle = nil
	var all []error
	for n, a := range f.copies {
		all = append(all, a.release())
		delete(f.copies, n)
	}
	if f.cache != nil {
		all = append(all, f.cache.Close())
		f.cache = nil
	}
	return errors.Join(all...)
}

// Hold keeps the answers to parts first … first+n-1 until release is called. The answers to parts before are
// removed then. It is for callers that need one shard's parts after another's; without it Close removes all.
func (f *Filter) Hold(first, n int) (release func() error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.taken = max(f.taken, first)
	for i := first; i < first+n; i++ {
		f.users[i]++
	}
	return func() error {
		f.mu.Lock()
		defer f.mu.Unlock()
		for i := first; i < first+n; i++ {
			if f.users[i]--; f.users[i] == 0 {
				delete(f.users, i)
			}
		}
		var all []error
		for i, a := range f.copies {
			if i < f.taken && f.users[i] == 0 {
				all = append(all, a.release())
				delete(f.copies, i)
			}
		}
		return errors.Join(all...)
	}
}

// open opens the cache when the first copy needs it.
func (f *Filter) open() (*cache.Cache, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.cache != nil || f.opts.NoCache != nil {
		return f.cache, f.opts.NoCache
	}
	c, err := cache.Open(f.opts.CacheDir, f.opts.Quota, cache.Options{})
	if err != nil {
		return nil, place.IOError(f.opts.CacheDir, err)
	}
	f.cache = c
	return c, nil
}
