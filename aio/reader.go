package aio

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"
)

// A Reader reads files through one queue of requests. It serves one goroutine
// at a time; at rest it may be handed to another, and any may close it.
//
// With AIO its goroutine is locked to its OS thread while the Reader waits on
// its queue, that is inside a ReadBatch, and inside a Sweep but for the body of
// the caller's loop.
type Reader struct {
	opts  Options
	mem   []byte // the one mapping: the slots' buffers, then the ring's structures
	slots []slot

	ring kernel // Linux AIO; nil when it was refused, not asked for, or given up
	pool kernel // pread; nil until it is needed
	k    kernel // of the two, the one in use

	// The queue. Slots move from queue to the kernel (inflight of them) and on to done.
	files     []*File // in use
	queue     []int   // slots to be submitted
	done      []int   // slots that finished, in that order
	free      []int   // slots that a batch may use
	sorted    []int   // requests of a batch
	forPool   []int   // those of them that the ring does not read
	inflight  int
	submitted time.Time // when the last io_submit returned
	reqs      []request
	events    []event

	busy     bool // inside a Sweep or a ReadBatch
	closed   bool
	locked   bool  // to its OS thread
	keepMem  bool  // the kernel may still own buffers: never unmap
	broken   error // sticky: the state of the kernel's queue is unknown
	stats    Stats
	fallback string
	usedPool bool // the pool did some of the reading
	cached   bool // the page cache was read
}

// NewReader makes a Reader with its Depth × BlockSize bytes of buffers, which
// take memory only as they are used. AIO asked for by name and refused is an
// error; Auto takes the pread pool instead, and Stats says why.
func NewReader(opts Options) (*Reader, error) {
	return newReader(opts, newRing())
}

func newReader(opts Options, ring kernel) (*Reader, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	r := &Reader{
		opts:   opts,
		slots:  make([]slot, opts.Depth),
		queue:  make([]int, 0, opts.Depth),
		done:   make([]int, 0, opts.Depth),
		free:   make([]int, 0, opts.Depth),
		reqs:   make([]request, 0, opts.Depth),
		events: make([]event, opts.Depth),
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
		return r, nil
	}
	if err := ring.setup(opts.Depth, r.mem[blocks:]); err != nil {
		if opts.Backend == AIO {
			return nil, errors.Join(fmt.Errorf("aio: io_setup with depth %d: %w", opts.Depth, err), Free(r.mem))
		}
		r.fallback = fmt.Sprintf("io_setup: %v", err)
		return r, nil
	}
	r.ring = ring
	return r, nil
}

// Stats returns what was done so far. It stays valid after Close.
func (r *Reader) Stats() Stats {
	s := r.stats
	s.Depth = r.opts.Depth
	s.Direct = !r.cached
	s.Fallback = r.fallback
	s.Backend = AIO
	if r.usedPool || r.fallback != "" {
		s.Backend = Pread
	}
	return s
}

// Close waits for the kernel, frees the queue and its buffers, and ends the
// pool's goroutines. Files stay open. Close is an error in the middle of a
// Sweep or ReadBatch, and does nothing the second time.
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

// lock keeps the goroutine on its thread while it uses the ring. The pool needs
// no such thing: channels are dear on a locked thread.
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

// begin starts a Sweep or a ReadBatch, which end ends.
func (r *Reader) begin() error {
	switch {
	case r.closed:
		return os.ErrClosed
	case r.busy:
		return errBusy
	case r.broken != nil:
		return r.broken
	}
	r.busy = true
	r.lock()
	return nil
}

// placed says where a closed Reader was to read.
func placed(f *File, off int64, err error) error {
	if f != nil && errors.Is(err, os.ErrClosed) {
		return &ReadError{f.path, off, err}
	}
	return err
}

// use keeps f open until end, to read size bytes of it.
func (r *Reader) use(f *File, off, size int64) error {
	if off < 0 || size < 0 || off+size < 0 {
		return &ReadError{f.path, off, errRange}
	}
	if !f.acquire() {
		return &ReadError{f.path, off, os.ErrClosed}
	}
	r.files = append(r.files, f)
	r.cached = r.cached || !f.Direct()
	return nil
}

// end drains the queue: afterwards the kernel owns no buffer.
func (r *Reader) end() {
	defer r.unlock()
	for r.inflight > 0 {
		r.reap(1) // gives up by itself, with inflight = 0, when the kernel fails
	}
	r.queue, r.done = r.queue[:0], r.done[:0]
	for i := range r.slots {
		r.slots[i].busy, r.slots[i].file = false, nil
	}
	clear(r.reqs[:cap(r.reqs)]) // they hold files
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

// pooled reports whether f is for the pool, and why if it is because of f.
func (r *Reader) pooled(f *File) (why string, yes bool) {
	switch {
	case r.ring == nil:
		return "", true
	case r.opts.Backend == AIO:
		return "", false
	case !f.Direct():
		return f.why, true
	case f.sync.Load():
		return whySync, true
	}
	return "", false
}

// usePool turns to the pool, and keeps the first reason for it.
func (r *Reader) usePool(why string) {
	if r.fallback == "" {
		r.fallback = why
	}
	if r.pool == nil {
		p := newPool()
		p.setup(r.opts.Depth, nil)
		r.pool = p
	}
	r.k, r.usedPool = r.pool, true
}

// fail ends the Reader: err tells that nobody knows what the kernel's queue
// holds. destroy waits until it holds nothing.
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
