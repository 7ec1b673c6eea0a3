package aio

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"
)

// A Reader reads files through one queue of requests. Only one goroutine may use it at a time.
//
// With AIO the Reader locks the calling goroutine to its OS thread during a ReadBatch, and during a
// Sweep except in the body of the caller's loop.
type Reader struct {
	opts  Options
	mem   []byte // one mapping: the buffers of the slots, then the structures of the ring
	slots []slot

	ring kernel // Linux AIO; nil if it is not available or not used
	late kernel // what ring will be when a Sweep or ReadBatch begins and fewBytes have been requested; nil: nothing
	all  int64  // bytes requested so far
	pool kernel // pread; nil until it is needed
	k    kernel // ring or pool, in use for the current file

	// Functions of the page cache, replaced in tests.
	cacheHas  func(f *os.File, off, size int64) bool
	cacheRead func(f *File, buf []byte, off int64) (int, error)

	// Slots move from queue to the kernel (inflight of them) and then to done.
	files     []*File // in use
	queue     []int   // slots to submit
	done      []int   // slots that finished, in that order
	free      []int   // free slots of a batch
	sorted    []int   // requests of a batch
	forPool   []int   // requests of a batch for the pool
	inflight  int
	submitted time.Time // when the last io_submit returned
	reqs      []request
	events    []event

	busy     bool // inside a Sweep or a ReadBatch
	closed   bool
	locked   bool  // to its OS thread
	keepMem  bool  // the kernel may still own buffers: never unmap
	broken   error // returned by all later calls: the state of the kernel's queue is unknown
	stats    Stats
	fallback string
	usedRing bool // there was a ring
	cached   bool // a file was read through the page cache
}

const (
	fewBytes     = 8 << 20  // are read by the pool with Auto, see NewReader
	requestBytes = 64 << 10 // a request of ReadBatch counts as so many at least: a device takes as long for a small one
)

// NewReader returns a Reader with Depth × BlockSize bytes of buffers, which take memory only when they are used. If the
// kernel refuses AIO, NewReader fails with the backend AIO; with Auto the Reader uses the pread pool, and Stats has the
// reason. With Auto it uses the pool, too, until the call that brings the bytes asked for to 8 MiB, a request of ReadBatch
// being 64 KiB at least: the kernel takes 30 ms to destroy a queue, also when the process ends, which is longer than a device
// takes for them.
func NewReader(opts Options) (*Reader, error) {
	if opts.Backend != Auto {
		return newReader(opts, newRing())
	}
	r, err := newReader(opts, nil)
	if ring := newRing(); ring != nil && err == nil {
		r.late, r.fallback = ring, ""
	}
	return r, err
}

// setup begins to use a ring. After an error the pool is used.
func (r *Reader) setup(ring kernel) error {
	err := errors.ErrUnsupported
	if ring != nil {
		err = ring.setup(r.opts.Depth, r.mem[r.opts.Depth*r.opts.BlockSize:])
	}
	if err != nil {
		r.fallback = fmt.Sprintf("io_setup: %v", err)
		return err
	}
	r.ring, r.usedRing = ring, true
	return nil
}

// newReader returns a Reader that uses ring from the first byte on.
func newReader(opts Options, ring kernel) (*Reader, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	r := &Reader{
		opts:      opts,
		slots:     make([]slot, opts.Depth),
		queue:     make([]int, 0, opts.Depth),
		done:      make([]int, 0, opts.Depth),
		free:      make([]int, 0, opts.Depth),
		reqs:      make([]request, 0, opts.Depth),
		events:    make([]event, opts.Depth),
		cacheHas:  inCache,
		cacheRead: readCached,
	}
	blocks := opts.Depth * opts.BlockSize
	if r.mem, err = Alloc(blocks + ringMem(opts.Depth)); err != nil {
		return nil, err
	}
	for i := range r.slots {
		r.slots[i].buf = r.mem[i*opts.BlockSize:][:opts.BlockSize:opts.BlockSize]
	}
	if opts.Backend == Pread {
		r.fallback = "pread was asked for"
	} else if err := r.setup(ring); err != nil && opts.Backend == AIO {
		return nil, errors.Join(fmt.Errorf("aio: io_setup with depth %d: %w", opts.Depth, err), Free(r.mem))
	}
	return r, nil
}

// Stats returns the statistics so far. It may be called after Close.
func (r *Reader) Stats() Stats {
	s := r.stats
	s.Depth = r.opts.Depth
	s.Direct = !r.cached
	s.Fallback = r.fallback
	s.Backend = Pread
	if r.usedRing && r.fallback == "" {
		s.Backend = AIO
	}
	return s
}

// Close waits for the kernel, frees the queue and its buffers, and ends the goroutines of the pool.
// Files stay open. Close returns an error during a Sweep or ReadBatch. A second Close does nothing.
func (r *Reader) Close() error {
	if r.busy {
		return errBusy
	}
	if r.closed {
		return nil
	}
	r.closed = true
	var errs []error
	for _, k := range []kernel{r.ring, r.pool} {
		if k == nil {
			continue
		}
		if err := k.destroy(); err != nil {
			r.keepMem = true
			errs = append(errs, fmt.Errorf("aio: destroy the queue: %w", err))
		}
	}
	if !r.keepMem {
		errs = append(errs, Free(r.mem))
	}
	r.ring, r.pool, r.k, r.mem, r.slots = nil, nil, nil, nil, nil
	return errors.Join(errs...)
}

// lock locks the goroutine to its thread while it uses the ring. For the pool it does nothing:
// channel operations are expensive on a locked thread.
func (r *Reader) lock() {
	if r.ring != nil && !r.locked {
		runtime.LockOSThread()
		r.locked = true
	}
}

func (r *Reader) unlock() {
	if r.locked {
		r.locked = false
		runtime.UnlockOSThread()
	}
}

// begin starts a Sweep or a ReadBatch of size bytes. The caller must call end.
func (r *Reader) begin(size int64) error {
	switch {
	case r.closed:
		return os.ErrClosed
	case r.busy:
		return errBusy
	case r.broken != nil:
		return r.broken
	}
	r.busy = true
	if r.all += size; r.late != nil && r.all >= fewBytes {
		r.setup(r.late) // if it fails, Stats says why
		r.late = nil
	}
	r.lock()
	return nil
}

// placed adds file and offset to the error of a closed Reader.
func placed(f *File, off int64, err error) error {
	if f != nil && errors.Is(err, os.ErrClosed) {
		return &ReadError{f.path, off, err}
	}
	return err
}

// use keeps f open until end. It returns an error if off and size are not a valid range.
func (r *Reader) use(f *File, off, size int64) error {
	if off < 0 || size < 0 || off+size < 0 {
		return &ReadError{f.path, off, errRange}
	}
	if !f.acquire() {
		return &ReadError{f.path, off, os.ErrClosed}
	}
	r.files = append(r.files, f)
	r.cached = r.cached || !f.direct()
	return nil
}

// end waits for all requests in flight, so that the kernel does not own any buffer, and releases the files.
func (r *Reader) end() {
	defer r.unlock()
	for r.inflight > 0 {
		r.reap(1) // sets inflight to 0 if the kernel fails
	}
	r.queue, r.done = r.queue[:0], r.done[:0]
	for i := range r.slots {
		r.slots[i].busy, r.slots[i].file = false, nil
	}
	clear(r.reqs[:cap(r.reqs)]) // they refer to files
	for _, f := range r.files {
		f.release()
	}
	clear(r.files)
	r.files = r.files[:0]
	r.busy = false
}

// pick sets the kernel that reads f.
func (r *Reader) pick(f *File) {
	if why, pooled := r.pooled(f); pooled {
		r.usePool(why)
		return
	}
	r.k = r.ring
}

// pooled reports whether the pool must read f. why is the reason if it is a property of f.
func (r *Reader) pooled(f *File) (why string, yes bool) {
	switch {
	case r.opts.Backend == AIO:
		return "", false
	case !f.direct():
		return f.why, true
	case f.sync.Load():
		return whySync, true
	}
	return "", r.ring == nil
}

// usePool switches to the pool and records the first reason for it.
func (r *Reader) usePool(why string) {
	r.fallback = cmp.Or(r.fallback, why)
	if r.pool == nil {
		p := newPool()
		p.setup(r.opts.Depth, nil)
		r.pool = p
	}
	r.k = r.pool
}

// fail makes all later calls return err, because the state of the kernel's queue is unknown. It
// destroys the queue, which waits for all requests.
func (r *Reader) fail(err error) error {
	r.broken = err
	if derr := r.k.destroy(); derr != nil {
		r.keepMem = true
	}
	if r.k == r.ring {
		r.ring = nil
	} else {
		r.pool = nil
	}
	r.k = nil
	r.inflight = 0
	r.queue = r.queue[:0]
	return err
}
