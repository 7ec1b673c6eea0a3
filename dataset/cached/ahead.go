package cached

import (
	"context"
	"sync"
)

// An ahead fetches what one user has said that it will read, in that order, until the user ends or says something else.
type ahead struct {
	server *server
	cancel context.CancelFunc

	mu      sync.Mutex
	flights []*flight
	lists   chan []int64
}

// mostLists is how many lists of a user may wait. Further ones are dropped: they are fetched when they are asked for.
const mostLists = 1 << 12

func (v *server) newAhead() *ahead {
	ctx, cancel := context.WithCancel(v.ctx)
	a := &ahead{server: v, cancel: cancel, lists: make(chan []int64, mostLists)}
	v.work.Go(func() {
		for {
			select {
			case samples := <-a.lists:
				a.fetch(ctx, samples)
			case <-ctx.Done():
				return
			}
		}
	})
	return a
}

// coming adds samples that come after those that were said before.
func (a *ahead) coming(samples []int64) {
	select {
	case a.lists <- samples:
	default:
	}
}

// fetch fetches the samples of a list. Errors are left to the request for them.
func (a *ahead) fetch(ctx context.Context, samples []int64) {
	parts, _ := a.server.parts(ctx, samples)
	for _, p := range parts {
		if !p.entered() {
			continue
		}
		flights, _ := p.begin()
		for _, f := range flights {
			if !a.start(ctx, f) {
				f.give(context.Cause(ctx))
			}
		}
	}
}

// start begins a flight once there is room for what it brings; false: the user has ended.
func (a *ahead) start(ctx context.Context, f *flight) bool {
	v := a.server
	if f.shard.have == nil {
		held := min(f.size(), v.memory)
		if v.room.Acquire(ctx, held) != nil {
			return false
		}
		f.shard.mu.Lock()
		f.held, f.room = held, v.room
		f.shard.mu.Unlock()
		a.mu.Lock()
		a.flights = append(a.flights, f)
		a.mu.Unlock()
	}
	if v.slots.Acquire(ctx, 1) != nil {
		return false
	}
	v.work.Go(func() {
		defer v.slots.Release(1)
		f.fly(v.ctx)
	})
	return true
}

// end forgets what the user has not taken.
func (a *ahead) end() {
	a.cancel()
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, f := range a.flights {
		f.shard.mu.Lock()
		f.shard.land(f)
		f.shard.mu.Unlock()
	}
	a.flights = nil
}
