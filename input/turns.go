package input

import (
	"context"
	"slices"
	"sync"

	"github.com/ffconvert/ffconvert/input/cache"
)

// turns are for what so many jobs may do at once: run at all, fetch, or decompress, which needs a
// processor and a window. Who waits for a turn rests: see [cache.Draft.Rest].
type turns struct {
	mu    sync.Mutex
	free  int
	queue []*place // the one that waits longest first
}

// A place is one in the queue for a turn.
type place struct {
	d   *cache.Draft
	had chan struct{} // closed when it is its turn
}

func newTurns(n int) *turns { return &turns{free: n} }

// take waits for a turn for what becomes of d.
func (t *turns) take(ctx context.Context, d *cache.Draft) error { return t.await(ctx, t.enqueue(d)) }

// enqueue takes a turn if there is one, or a place for it.
func (t *turns) enqueue(d *cache.Draft) *place {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := &place{d: d, had: make(chan struct{})}
	if t.free > 0 {
		t.free--
		close(p.had)
		return p
	}
	t.queue = append(t.queue, p)
	d.Rest()
	return p
}

func (t *turns) await(ctx context.Context, p *place) error {
	select {
	case <-p.had:
		return nil
	case <-ctx.Done():
		t.leave(p)
		return context.Cause(ctx)
	}
}

func (t *turns) leave(p *place) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := slices.Index(t.queue, p); i >= 0 {
		t.queue = slices.Delete(t.queue, i, i+1)
		p.d.Work()
		return
	}
	t.next()
}

// give hands the turn to whoever waits longest, who counts as at work from here on, not from
// when it wakes up: in between all others could wait for room, and find nobody at work. So a turn
// is given before what it was for ends, or waits for room.
func (t *turns) give() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next()
}

// next is give. t.mu is held.
func (t *turns) next() {
	if len(t.queue) == 0 {
		t.free++
		return
	}
	p := t.queue[0]
	t.queue = t.queue[1:]
	p.d.Work()
	close(p.had)
}
