package cached

import (
	"context"
	"slices"
)

// An ahead fetches what one user has said that it will read, in that order, until the user ends or says something else.
type ahead struct {
	server  *server
	cancel  context.CancelFunc
	lists   chan []int64
	done    chan struct{} // closed when it fetches no more
	flights []*flight     // which hold room, in order; end reads it when done is closed
}

const (
	// mostLists is how many lists of a user may wait. Further ones are dropped: they are fetched when they are asked for.
	mostLists = 1 << 12

	// listsAtOnce is how many are fetched as one, so that samples come together which lie together.
	listsAtOnce = 16
)

func (v *server) newAhead() *ahead {
	ctx, cancel := context.WithCancel(v.ctx)
	a := &ahead{server: v, cancel: cancel, lists: make(chan []int64, mostLists), done: make(chan struct{})}
	v.work.Go(func() {
		defer close(a.done)
		between := int64(mostBetween) // somebody waits for the first list
		for ctx.Err() == nil {
			select {
			case samples := <-a.lists:
				if between > mostBetween {
					samples = a.more(samples)
				}
				a.fetch(ctx, samples, between)
				between = aheadOfThem
			case <-ctx.Done():
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

// more adds what waits to a list.
func (a *ahead) more(samples []int64) []int64 {
	for range listsAtOnce - 1 {
		select {
		case next := <-a.lists:
			samples = append(samples, next...)
		default:
			return samples
		}
	}
	return samples
}

// fetch fetches the samples of a list. Errors are left to the request for them.
func (a *ahead) fetch(ctx context.Context, samples []int64, between int64) {
	a.prune()
	parts, _ := a.server.parts(ctx, samples)
	for _, p := range parts {
		if !p.entered() {
			continue
		}
		room, ok := a.reserve(ctx, p)
		if !ok {
			return
		}
		p.between = between
		flights, _ := p.begin()
		for _, f := range flights {
			room = a.hold(f, room)
			a.start(ctx, f)
		}
		a.server.room.Release(room)
	}
}

// reserve waits for room for the samples of a part, unless they are kept. Until there is, no flight of them is begun, which
// others would wait for: this user may take nothing for long. ok is false when the user has ended.
func (a *ahead) reserve(ctx context.Context, p *part) (room int64, ok bool) {
	if p.have != nil {
		return 0, true
	}
	size, err := p.find()
	if err != nil {
		return 0, true
	}
	room = min(2*size, a.server.memory) // at most half of a request is what lies between samples
	return room, a.server.room.Acquire(ctx, room) == nil
}

// hold makes a flight hold room until its samples are taken, and returns the rest of room.
func (a *ahead) hold(f *flight, room int64) int64 {
	f.shard.mu.Lock()
	defer f.shard.mu.Unlock()
	f.held, f.room = min(f.size(), room), a.server.room
	if f.held > 0 {
		a.flights = append(a.flights, f)
	}
	return room - f.held
}

// prune forgets flights of which all samples were taken, and with them their bytes.
func (a *ahead) prune() {
	a.flights = slices.DeleteFunc(a.flights, func(f *flight) bool {
		f.shard.mu.Lock()
		defer f.shard.mu.Unlock()
		return f.held == 0
	})
}

// start begins a flight.
func (a *ahead) start(ctx context.Context, f *flight) {
	v := a.server
	ended := v.slots.Acquire(ctx, 1) // the user may have ended; others may wait for the flight all the same
	v.work.Go(func() {
		if f.fly(v.ctx); ended == nil {
			v.slots.Release(1)
		}
	})
}

// end forgets what the user has not taken.
func (a *ahead) end() {
	a.cancel()
	<-a.done
	for _, f := range a.flights {
		f.shard.mu.Lock()
		f.shard.land(f)
		f.shard.mu.Unlock()
	}
	a.flights = nil
}
