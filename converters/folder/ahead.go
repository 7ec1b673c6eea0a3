package folder

import (
	"sync"
	"sync/atomic"
)

// Limits of reading ahead. Eight requests keep the queue of a disk filled. More bytes than arenaSize
// would leave the processor's cache before they are used.
const (
	workers   = 8
	slots     = 64            // samples
	arenaSize = 4 << 20       // bytes
	maxAhead  = arenaSize / 4 // of one sample; larger ones are read on their own
)

// An ahead reads samples of a run before the caller asks for them. Samples are placed in the arena in
// order, read by any of the workers, and returned in order.
type ahead struct {
	r       *reader
	arena   ring
	placed  int // the next sample to place
	end     int // of the run
	given   int // the sample that was returned last; -1: none
	slots   [slots]slot
	jobs    chan int // samples
	workers sync.WaitGroup
	stopped atomic.Bool
}

// A slot is for one placed sample, by its number modulo slots.
type slot struct {
	alone bool   // the sample is too large to be read ahead
	bytes []byte // its place in the arena
	end   int    // of bytes, in the arena
	err   error
	read  chan struct{} // receives a value when bytes and err are set
}

// startAhead starts the workers for n samples. The caller must call stop.
func (r *reader) startAhead(first, n int) *ahead {
	l := r.hand.l
	from, _ := l.extent(first)
	_, to := l.extent(first + n - 1)
	if size := min(arenaSize, l.off(to)-l.off(from)); size > int64(len(r.arena)) {
		r.arena = make([]byte, size)
	}
	a := &ahead{r: r, arena: ring{buf: r.arena}, placed: first, end: first + n, given: -1, jobs: make(chan int, slots)}
	for i := range a.slots[:min(n, slots)] {
		a.slots[(first+i)%slots].read = make(chan struct{}, 1)
	}
	for range min(n, workers) {
		h := hand{src: r.hand.src, part: r.hand.part, l: l}
		a.workers.Go(func() { a.work(&h) })
	}
	return a
}

func (a *ahead) slot(sample int) *slot { return &a.slots[sample%slots] }

// work runs one worker.
func (a *ahead) work(h *hand) {
	defer h.close()
	for sample := range a.jobs {
		s := a.slot(sample)
		if !a.stopped.Load() {
			s.err = h.readSample(sample, s.bytes)
		}
		s.read <- struct{}{}
	}
}

// next returns the bytes of the next sample. They are valid until the following call.
func (a *ahead) next(sample int) ([]byte, error) {
	if a.given >= 0 && !a.slot(a.given).alone {
		a.arena.free(a.slot(a.given).end)
	}
	a.place(sample)
	a.given = sample
	s := a.slot(sample)
	if s.alone {
		return a.r.alone(sample)
	}
	<-s.read
	return s.bytes, s.err
}

// place gives places to as many samples as the arena has room for. The caller waits for sample wanted.
func (a *ahead) place(wanted int) {
	for ; a.placed < min(a.end, wanted+slots); a.placed++ {
		s, n := a.slot(a.placed), a.r.hand.l.bytes(a.placed)
		if s.alone = n > maxAhead; s.alone {
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

// stop ends the workers without reading the remaining samples.
func (a *ahead) stop() {
	a.stopped.Store(true)
	close(a.jobs)
	a.workers.Wait()
}

// A ring allocates memory that is freed in the same order.
//
//	│ free │ allocated │ free │        │ allocated │ free │ allocated │ lost │
//	       tail        head                        head   tail
type ring struct {
	buf        []byte
	head, tail int
	live       int // allocations
}

// alloc allocates n bytes and returns their index, or false if there is not enough room.
func (r *ring) alloc(n int) (at int, ok bool) {
	switch {
	case r.tail <= r.head && n <= len(r.buf)-r.head:
		at = r.head
	case r.tail <= r.head && n < r.tail:
		at = 0
	case r.tail > r.head && n < r.tail-r.head:
		at = r.head
	default:
		return 0, false
	}
	r.head = at + n
	r.live++
	return at, true
}

// free frees the oldest allocation, which must end at end.
func (r *ring) free(end int) {
	r.tail = end
	if r.live--; r.live == 0 {
		r.head, r.tail = 0, 0
	}
}
