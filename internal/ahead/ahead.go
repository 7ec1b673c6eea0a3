// package ahead reads small files before they are needed, several at once, and returns them in order.
//
//	a := ahead.Start(src, 0, files, nil) // src: what to read, and how
//	defer a.Stop()
//	for i := range files {
//		data, err := a.Next(i) // valid until the next call
//	}
//
// A loop that opens one small file after another waits for the device at each, and the kernel cannot
// read ahead across files: see docs/decisions/008-tar-and-folder.md.
package ahead

import (
	"sync"
	"sync/atomic"
)

// Limits of reading ahead. Eight requests keep the queue of a disk filled. More bytes than arenaSize
// would leave the processor's cache before they are used.
const (
	workers   = 8
	slots     = 64            // items
	arenaSize = 4 << 20       // bytes
	MaxItem   = arenaSize / 4 // bytes of one item; a larger one is read alone
)

// A source has the items to read, numbered from 0 on.
type source interface {
	// Size returns the size of an item in bytes.
	Size(item int) int64
	// Worker returns a new worker. It is called by the goroutine that calls Start.
	Worker() Worker
	// Alone reads an item of more than MaxItem bytes. It is called by the goroutine that calls Next. The
	// bytes are valid until the following call.
	Alone(item int) ([]byte, error)
}

// A Worker reads items, one at a time. Each Worker is used by a goroutine of its own.
type Worker interface {
	// Read reads an item into b, which has its size.
	Read(item int, b []byte) error
	// Close is called once, after the last Read.
	Close()
}

// A Reader reads items before the caller asks for them. Items are placed in the arena in order, read by
// any of the workers, and returned in order. A Reader must be used by one goroutine.
type Reader struct {
	src     source
	arena   ring
	placed  int // the next item to place
	end     int // of the items
	given   int // the item that was returned last; -1: none
	slots   [slots]slot
	jobs    chan int // items
	workers sync.WaitGroup
	stopped atomic.Bool
}

// A slot is for one placed item, by its number modulo slots.
type slot struct {
	alone bool   // the item is too large to be read ahead
	bytes []byte // its place in the arena
	end   int    // of bytes, in the arena
	err   error
	read  chan struct{} // receives a value when bytes and err are set
}

// Start starts to read the items from first to first+n-1. The Reader reads into arena if that is large
// enough; it may be nil. The caller must call Stop.
func Start(src source, first, n int, arena []byte) *Reader {
	size := int64(0)
	for i := first; i < first+n && size < arenaSize; i++ {
		size += src.Size(i)
	}
	if size = min(size, arenaSize); size > int64(len(arena)) {
		arena = make([]byte, size)
	}
	r := &Reader{src: src, arena: ring{buf: arena}, placed: first, end: first + n, given: -1, jobs: make(chan int, slots)}
	for i := range r.slots[:min(n, slots)] {
		r.slots[(first+i)%slots].read = make(chan struct{}, 1)
	}
	for range min(n, workers) {
		w := src.Worker()
		r.workers.Go(func() { r.work(w) })
	}
	return r
}

func (r *Reader) slot(item int) *slot { return &r.slots[item%slots] }

// work runs one worker.
func (r *Reader) work(w Worker) {
	defer w.Close()
	for item := range r.jobs {
		s := r.slot(item)
		if !r.stopped.Load() {
			s.err = w.Read(item, s.bytes)
		}
		s.read <- struct{}{}
	}
}

// Next returns the bytes of the next item. They are valid until the following call.
func (r *Reader) Next(item int) ([]byte, error) {
	if r.given >= 0 && !r.slot(r.given).alone {
		r.arena.free(r.slot(r.given).end)
	}
	r.place(item)
	r.given = item
	s := r.slot(item)
	if s.alone {
		return r.src.Alone(item)
	}
	<-s.read
	return s.bytes, s.err
}

// place gives places to as many items as the arena has room for. The caller waits for item wanted.
func (r *Reader) place(wanted int) {
	for ; r.placed < min(r.end, wanted+slots); r.placed++ {
		s, n := r.slot(r.placed), r.src.Size(r.placed)
		if s.alone = n > MaxItem; s.alone {
			continue
		}
		at, ok := r.arena.alloc(int(n))
		if !ok {
			return
		}
		s.end = at + int(n)
		s.bytes, s.err = r.arena.buf[at:s.end], nil
		r.jobs <- r.placed
	}
}

// Stop ends the workers without reading the remaining items, and returns the arena, for another Start.
func (r *Reader) Stop() (arena []byte) {
	r.stopped.Store(true)
	close(r.jobs)
	r.workers.Wait()
	return r.arena.buf
}
