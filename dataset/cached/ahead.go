package cached

import (
	"context"
	"slices"
	"sync"
)

// An ahead fetches what one user has said that it will read, in that order, until the user ends or says something else.
type ahead struct {
	server  *server
	cancel  context.CancelFunc
	lists   chan []int64
	done    chan struct{} // closed when it fetches no more
	flights []*flight     // which hold room, in order; end reads it when done is closed

	mu   sync.Mutex
	said map[int64]bool // what is to come, neither begun here nor asked for by anybody
}

// mostLists is how many lists of a user may wait. Further ones are dropped: they are fetched when they are asked for.
const mostLists = 1 << 12

func (v *server) newAhead() *ahead {
	ctx, cancel := context.WithCancel(v.ctx)
	a := &ahead{server: v, cancel: cancel, lists: make(chan []int64, mostLists), done: make(chan struct{}), said: make(map[int64]bool)}
	v.mu.Lock()
	v.aheads[a] = true
	v.mu.Unlock()
	v.work.Go(func() {
		defer close(a.done)
		for ctx.Err() == nil {
			select {
			case samples := <-a.lists:
				a.fetch(ctx, samples)
			case <-ctx.Done():
			}
		}
	})
	return a
}

// coming adds samples that come after those that were said before.
func (a *ahead) coming(samples []int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	select {
	case a.lists <- samples:
		for _, i := range samples {
			a.said[i] = true
		}
	default:
	}
}

// asked says that somebody asks for samples: they are not fetched ahead any more.
func (v *server) asked(numbers []int64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for a := range v.aheads {
		a.claim(0, numbers)
	}
}

// claim returns those of samples, counted from first, that were said to come and are not asked for yet.
func (a *ahead) claim(first int64, samples []int64) (still []int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, i := range samples {
		if a.said[first+i] {
			delete(a.said, first+i)
			still = append(still, i)
		}
	}
	return still
}

// fetch fetches the samples of a list. Errors are left to the request for them.
func (a *ahead) fetch(ctx context.Context, samples []int64) {
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
		p.samples = a.claim(p.first, p.samples)
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
	if p.kept() {
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
	a.server.mu.Lock()
	delete(a.server.aheads, a)
	a.server.mu.Unlock()
	a.cancel()
	<-a.done
	for _, f := range a.flights {
		f.shard.mu.Lock()
		f.shard.land(f)
		f.shard.mu.Unlock()
	}
	a.flights = nil
}
