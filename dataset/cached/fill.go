package cached

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// A filler fetches the rest of the shards that are kept, in the order in which they were first asked for.
type filler struct {
	server *server

	mu     sync.Mutex
	change sync.Cond // queue, busy or closed has changed
	queue  []*shard
	known  map[*shard]bool
	failed map[*shard]error
	busy   int // pieces that are being fetched
	closed bool
}

// mostSamples is how many samples of a piece there are at the most: each takes 24 bytes.
const mostSamples = 256 << 10

// fillers is how many pieces are fetched at once, 8 MiB each at the most.
const fillers = 6

func (v *server) newFiller() *filler {
	f := &filler{server: v, known: make(map[*shard]bool), failed: make(map[*shard]error)}
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

// add makes a shard be filled, if it is kept. One that has failed is tried again.
func (f *filler) add(s *shard) {
	if s.have == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.known[s] || f.failed[s] != nil {
		f.known[s] = true
		delete(f.failed, s)
		f.queue = append(f.queue, s)
		f.change.Broadcast()
	}
}

// next waits for the next piece; nil: the server ends.
func (f *filler) next() *flight {
	f.mu.Lock()
	defer f.mu.Unlock()
	for {
		for k := 0; k < len(f.queue) && !f.closed; {
			s := f.queue[k]
			p, done, err := s.piece()
			if p != nil {
				f.busy++
				return p
			}
			if !done { // the rest is on its way, and may not come
				k++
				continue
			}
			f.fail(s, err)
			f.queue = slices.Delete(f.queue, k, k+1)
			f.change.Broadcast()
		}
		if f.closed {
			return nil
		}
		f.change.Wait()
	}
}

// landed counts a piece that has come, or has not: then its shard is given up.
func (f *filler) landed(p *flight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.busy--
	f.fail(p.shard, p.err)
	if k := slices.Index(f.queue, p.shard); p.err != nil && k >= 0 {
		f.queue = slices.Delete(f.queue, k, k+1)
	}
	f.change.Broadcast()
}

// wake looks at the queue again, as samples that were on their way are here, or are not.
func (f *filler) wake() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.change.Broadcast()
}

// fail says what is not kept. Whoever asks for such a sample gets the error. mu is held.
func (f *filler) fail(s *shard, err error) {
	if err != nil && f.server.ctx.Err() == nil {
		f.failed[s] = err
		f.server.dir.opts.Warn(fmt.Sprintf("%s: not all of it is kept: %v", s.Name, err))
	}
}

// wait waits until nothing is left to fetch, and returns the first error of shards.
func (f *filler) wait(ctx context.Context, shards []*shard) error {
	defer context.AfterFunc(ctx, func() { f.mu.Lock(); defer f.mu.Unlock(); f.change.Broadcast() })()
	f.mu.Lock()
	defer f.mu.Unlock()
	for (len(f.queue) > 0 || f.busy > 0) && ctx.Err() == nil {
		f.change.Wait()
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for _, s := range shards {
		if err := f.failed[s]; err != nil {
			return err
		}
	}
	return nil
}

func (f *filler) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.change.Broadcast()
}

// piece makes a flight of the first samples that are neither here nor on their way. Without one, done says whether nothing
// is on its way either, or nothing more can be kept, which err tells.
func (s *shard) piece() (f *flight, done bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.from < s.Samples && s.has(s.from) {
		s.from++
	}
	if s.from == s.Samples {
		return nil, true, nil
	}
	if s.full != nil {
		return nil, true, s.full
	}
	from := s.from
	for from < s.Samples {
		if f := s.coming(from); f != nil {
			from = f.lo + int64(len(f.at)) // all of them, as the shard is kept
		} else if s.has(from) {
			from++
		} else {
			break
		}
	}
	if from >= s.Samples {
		return nil, false, nil
	}
	if err := s.room(mostAtOnce); err != nil {
		return nil, true, err
	}
	if f, err = s.run(from, mostAtOnce); err != nil {
		return nil, true, err
	}
	s.pieces = append(s.pieces, f)
	return f, false, nil
}
