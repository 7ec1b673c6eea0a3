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

// Options name the program and the cache for its answers.
type Options struct {
	Command   *input.Command
	Guarded   bool // see [stage.Options]
	Processes int  // maximum of concurrent processes, at least 1

	// Timeout is how long a process may neither read nor write while it has samples to answer or must exit. 0:
	// unlimited.
	Timeout time.Duration

	// Progress receives the number of answered samples and their bytes in the source. nil: not called.
	Progress func(samples, bytes int64)

	CacheDir string // see [stage.Options]
	NoCache  error
	Quota    int64

	// Check may refuse the answers to a part; it receives the number and the name of the part. nil: all are accepted.
	Check func(part int, name string, is *converters.Filtered) error

	lull time.Duration // replaces usualLull in tests
}

// A Filter is a program with its running processes and the samples of their answers. Its methods may be called
// concurrently.
type Filter struct {
	opts  Options
	slots chan struct{} // has a value for each busy process

	mu     sync.Mutex
	idle   []*worker
	cache  *cache.Cache    // nil until the first answer
	copies map[int]*answer // by part number
	users  map[int]int     // number of Holds, by part number
	taken  int             // first part of the last Hold
	failed error           // error of the first part that failed; no other part is started after it
}

// New returns a filter. It starts no process.
func New(opts Options) *Filter {
	return &Filter{opts: opts, slots: make(chan struct{}, max(1, opts.Processes)), copies: make(map[int]*answer), users: make(map[int]int)}
}

// work calls use with a process that no other caller has. If use returns an error, or true because the process has
// exited, the process is stopped and not used again. After an error every call returns that error.
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

// fail keeps the first error, and returns its argument. The caller must still hold the slot of the process;
// otherwise a part that waits for the slot would start another process.
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
	if w != nil && w.Exited() { // it exited while it was idle
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

// Finish ends the processes. It returns the first error: an exit status other than 0, or more answers than
// samples. No source of the filter may be read during the call.
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

// Hold keeps the answers to parts first … first+n-1 until release is called, and removes the answers to earlier
// parts. Callers that need the parts of one shard after another use it; otherwise only Close removes answers.
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

// open returns the cache; the first call opens it.
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
