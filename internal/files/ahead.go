package files

import (
	"sync"
	"sync/atomic"
)

// Limits of reading ahead. A loop that opens one small file after another waits for the device at each, and the kernel
// cannot read ahead across files: see docs/decisions/008-tar-and-folder.md. Eight requests keep the queue of a disk filled.
// More bytes than arenaSize would leave the processor's cache before they are used.
const (
	workers   = 8
	slots     = 64            // items
	arenaSize = 4 << 20       // bytes
	MaxAhead  = arenaSize / 4 // bytes of one item; a larger one is read alone
)

// A source has the items to read, numbered from 0 on.
type source interface {
	// Size returns the size of an item in bytes.
	Size(item int) int64
	// Worker returns a new worker. It is called by the goroutine that calls ReadAhead.
	Worker() Worker
	// Alone reads an item of more than MaxAhead bytes. It is called by the goroutine that calls Next. The
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

// An Ahead reads items before the caller asks for them. Items are placed in the arena in order, read by
// any of the workers, and returned in order. An Ahead must be used by one goroutine.
type Ahead struct {
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

// ReadAhead starts to read the items from first to first+n-1. The Ahead reads into arena if that is large
// enough; it may be nil. The caller must call Stop.
func ReadAhead(src source, first, n int, arena []byte) *Ahead {
	size := int64(0)
	for i := first; i < first+n && size < arenaSize; i++ {
		size += src.Size(i)
	}
	if size = min(size, arenaSize); size > int64(len(arena)) {
		arena = make([]byte, size)
	}
	a := &Ahead{src: src, arena: ring{buf: arena}, placed: first, end: first + n, given: -1, jobs: make(chan int, slots)}
	for i := range a.slots[:min(n, slots)] {
		a.slots[(first+i)%slots].read = make(chan struct{}, 1)
	}
	for range min(n, workers) {
		w := src.Worker()
		a.workers.Go(func() { a.work(w) })
	}
	return a
}

func (a *Ahead) slot(item int) *slot { return &a.slots[item%slots] }

// work runs one worker.
func (a *Ahead) work(w Worker) {
	defer w.Close()
	for item := range a.jobs {
		s := a.slot(item)
		if !a.stopped.Load() {
			s.err = w.Read(item, s.bytes)
		}
		s.read <- struct{}{}
	}
}

// Next returns the bytes of the next item. They are valid until the following call.
func (a *Ahead) Next(item int) ([]byte, error) {
	if a.given >= 0 && !a.slot(a.given).alone {
		a.arena.free(a.slot(a.given).end)
	}
	a.place(item)
	a.given = item
	s := a.slot(item)
	if s.alone {
		return a.src.Alone(item)
	}
	<-s.read
	return s.bytes, s.err
}

// place gives places to as many items as the arena has room for. The caller waits for item wanted.
func (a *Ahead) place(wanted int) {
	for ; a.placed < min(a.end, wanted+slots); a.placed++ {
		s, n := a.slot(a.placed), a.src.Size(a.placed)
		if s.alone = n > MaxAhead; s.alone {
			continue
		}
		at, ok := a.arena.alloc(int(n))
		if !ok {
			return
		}
		s.end = at + int(n)
		s.bytes, s.err = a.arena.buf[at:s.end], nil
		a.jobs <- a.placed
	}
}

// Stop ends the workers without reading the remaining items, and returns the arena, for another ReadAhead.
func (a *Ahead) Stop() (arena []byte) {
	a.stopped.Store(true)
	close(a.jobs)
	a.workers.Wait()
	return a.arena.buf
}
