package aio

import (
	"fmt"
	"math/rand/v2"
	"syscall"
)

// sim is a kernel that reads from memory and behaves as badly as a real one
// may. Each field of odds is the chance of one misbehaviour.
type sim struct {
	rng  *rand.Rand
	data []byte // the file
	more []byte // the other file, whose descriptor is 1
	bad  int64  // that page of each file cannot be read; 0: all can
	odds struct{ short, eintr, eagain, hard, partial, full, waitEINTR, waitEAGAIN float64 }

	depth     int
	inflight  []request
	hard      int // EIO completions given
	asked     []Request
	company   int // of hard, those of reads that touch more than one of asked
	misses    int // requests that were not aligned
	calls     int // of getevents, those that gave EINTR or EAGAIN
	destroyed bool
}

func (k *sim) setup(depth int, _ []byte) error { k.depth = depth; return nil }

func (k *sim) chance(p float64) bool { return k.rng.Float64() < p }

func (k *sim) submit(reqs []request) (int, error) {
	switch {
	case k.destroyed || len(reqs) == 0:
		panic("submit: nothing to submit, or to nobody")
	case len(k.inflight) >= k.depth, k.chance(k.odds.full):
		return 0, syscall.EAGAIN
	case k.chance(k.odds.waitEINTR):
		return 0, syscall.EINTR
	}
	n := min(len(reqs), k.depth-len(k.inflight))
	if k.chance(k.odds.partial) {
		n = k.rng.IntN(n + 1)
	}
	for _, r := range reqs[:n] {
		// From here on the buffer is the kernel's, and full of garbage.
		for i := range r.buf {
			r.buf[i] = 0xEE
		}
		k.inflight = append(k.inflight, r)
	}
	return n, nil
}

func (k *sim) getevents(min int, events []event) (int, error) {
	switch {
	case k.destroyed:
		panic("getevents after destroy")
	case min > len(k.inflight):
		panic("getevents waits for ever")
	case k.chance(k.odds.waitEINTR):
		k.calls++
		return 0, syscall.EINTR
	case k.chance(k.odds.waitEAGAIN):
		k.calls++
		return 0, syscall.EAGAIN
	}
	n := min
	if len(k.inflight) > min { // the others are delayed
		n += k.rng.IntN(len(k.inflight) - min + 1)
	}
	for i := range n {
		j := k.rng.IntN(len(k.inflight))
		events[i] = k.finish(k.inflight[j])
		k.inflight[j] = k.inflight[len(k.inflight)-1]
		k.inflight = k.inflight[:len(k.inflight)-1]
	}
	return n, nil
}

func (k *sim) finish(r request) event {
	align := r.file.align
	// A slot's buffer is page aligned and its capacity ends with the block, so
	// the capacity tells the alignment of the address.
	if r.off%int64(align) != 0 || len(r.buf)%align != 0 || cap(r.buf)%align != 0 {
		k.misses++
		return event{tag: r.tag, err: syscall.EINVAL}
	}
	first, last := r.off/pageSize, (r.off+int64(len(r.buf))-1)/pageSize
	switch {
	case k.bad > 0 && first <= k.bad && k.bad <= last:
		return event{tag: r.tag, err: syscall.EIO}
	case k.chance(k.odds.hard):
		k.hard++
		touched := 0
		for _, q := range k.asked {
			if q.File == r.file && q.Off < r.off+int64(len(r.buf)) && r.off < q.end() {
				touched++
			}
		}
		if touched > 1 {
			k.company++
		}
		return event{tag: r.tag, err: syscall.EIO}
	case k.chance(k.odds.eintr):
		return event{tag: r.tag, err: syscall.EINTR}
	case k.chance(k.odds.eagain):
		return event{tag: r.tag, err: syscall.EAGAIN}
	}
	src := k.content(r.file)
	src = src[min(r.off, int64(len(src))):]
	n := min(len(src), len(r.buf))
	if n > align && k.chance(k.odds.short) {
		n = align * (1 + k.rng.IntN(n/align)) // may be all of it
		n = min(n, len(src))
	}
	copy(r.buf, src[:n])
	return event{tag: r.tag, n: n}
}

func (k *sim) content(f *File) []byte {
	if f.fd == 1 {
		return k.more
	}
	return k.data
}

func (k *sim) destroy() error {
	k.inflight, k.destroyed = nil, true
	return nil
}

// simReader returns a Reader on k and its file.
func simReader(opts Options, k *sim, align int) (*Reader, *File, error) {
	r, err := newReader(opts, k)
	if err != nil {
		return nil, nil, err
	}
	f := &File{path: "sim", size: int64(len(k.data)), align: align}
	if align == 1 {
		f.why = "simulated"
	}
	return r, f, nil
}

// idle returns an error if anything is left in r's queue.
func (r *Reader) idle() error {
	if r.inflight != 0 || len(r.queue) != 0 || r.busy {
		return fmt.Errorf("not drained: %d in flight, %d queued, busy %t", r.inflight, len(r.queue), r.busy)
	}
	return nil
}
