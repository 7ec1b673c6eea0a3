package cached

import (
	"context"
	"fmt"
	"sync"
)

// A filler fetches the rest of the shards that are kept, in the order in which they were first asked for.
type filler struct {
	server *server

	mu     sync.Mutex
	change sync.Cond // queue, busy or closed has changed
	queue  []*shard
	known  map[*shard]bool
	busy   int // pieces that are being fetched
	closed bool
	err    error // the first one
}

// mostSamples is how many samples of a piece there are at the most: each takes 24 bytes.
const mostSamples = 256 << 10

// fillers is how many pieces are fetched at once, 8 MiB each at the most.
const fillers = 6

func (v *server) newFiller() *filler {
	f := &filler{server: v, known: make(map[*shard]bool)}
	f.change.L = &f.mu
	for range fillers {
		v.work.Go(func() {
			for {
				p := f.next()
				if p == nil {
					return
				}
				p.fly(v.ctx)
				f.landed(p)
			}
		})
	}
	return f
}

// add makes a shard be filled, if it is kept.
func (f *filler) add(s *shard) {
	if s.have == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.known[s] {
		f.known[s] = true
		f.queue = append(f.queue, s)
		f.change.Broadcast()
	}
}

// next waits for the next piece; nil: the server ends.
func (f *filler) next() *flight {
	f.mu.Lock()
	defer f.mu.Unlock()
	for {
		for len(f.queue) > 0 && !f.closed {
			p, err := f.queue[0].piece()
			if p != nil {
				f.busy++
				return p
			}
			f.fail(f.queue[0], err)
			f.queue = f.queue[1:]
			f.change.Broadcast()
		}
		if f.closed {
			return nil
		}
		f.change.Wait()
	}
}

func (f *filler) landed(p *flight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.busy--
	f.fail(p.shard, p.err)
	f.change.Broadcast()
}

// fail says what is not kept. Whoever asks for such a sample gets the error. mu is held.
func (f *filler) fail(s *shard, err error) {
	if err != nil && !f.closed {
		if f.err == nil {
			f.err = err
		}
		f.server.dir.opts.Warn(fmt.Sprintf("%s: not all of it is kept: %v", s.Name, err))
	}
}

// wait waits until nothing is left to fetch, and returns the first error.
func (f *filler) wait(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() { f.mu.Lock(); defer f.mu.Unlock(); f.change.Broadcast() })()
	f.mu.Lock()
	defer f.mu.Unlock()
	for (len(f.queue) > 0 || f.busy > 0) && ctx.Err() == nil {
		f.change.Wait()
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return f.err
}

func (f *filler) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.change.Broadcast()
}

// piece makes a flight of the first samples that are neither here nor on their way; nil: there are none.
func (s *shard) piece() (*flight, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.from < s.Samples && s.here(s.from) {
		s.from++
	}
	if s.from == s.Samples || s.full != nil {
		return nil, nil
	}
	if err := s.room(mostAtOnce); err != nil {
		return nil, err
	}
	count := int64(1)
	for most := min(mostSamples, 1+mostAtOnce/max(1, s.Bytes/s.Samples)); count < most && s.from+count < s.Samples; count++ {
		if s.here(s.from + count) {
			break
		}
	}
	at, err := s.extents(s.from, count)
	if err != nil {
		return nil, err
	}
	f := &flight{shard: s, lo: s.from, at: at, done: make(chan struct{})}
	for f.size() > mostAtOnce && len(f.at) > 1 {
		f.at = f.at[:(len(f.at)+1)/2]
	}
	s.pieces = append(s.pieces, f)
	s.from += int64(len(f.at))
	return f, nil
}
