package loader

import (
	"context"
	"slices"
)

// slabs allocates the batches of one loop, and limits their number and their bytes. Only the goroutine that chooses
// samples calls its methods; others return batches through the channel, including those that the caller keeps.
type slabs struct {
	most  int   // limit on the number of batches
	limit int64 // limit on the bytes of all batches
	back  chan *Batch

	free  []*Batch // returned batches
	used  int      // number of batches that are not returned
	total int64    // bytes of all slabs, including free ones
}

func newSlabs(most int, limit int64) *slabs {
	return &slabs{most: most, limit: limit, back: make(chan *Batch, most)}
}

// take returns a batch with a slab of at least size bytes, after there is room for it. It returns nil when ctx is
// cancelled.
func (s *slabs) take(ctx context.Context, size int64) *Batch {
	for ctx.Err() == nil {
		for len(s.back) > 0 {
			s.put(<-s.back)
		}
		if b := s.fit(size); b != nil {
			s.used++
			b.size = size
			return b
		}
		select {
		case b := <-s.back:
			s.put(b)
		case <-ctx.Done():
		}
	}
	return nil
}

// put takes back a batch, or forgets one that the caller keeps.
func (s *slabs) put(b *Batch) {
	s.used--
	if b.kept {
		s.total -= int64(cap(b.slab))
		return
	}
	s.free = append(s.free, b)
}

// fit returns the smallest free batch that is large enough, or a new one if the limits allow it. To make room it drops
// free batches that are too small.
func (s *slabs) fit(size int64) *Batch {
	if s.used == s.most {
		return nil
	}
	best := -1
	for i, b := range s.free {
		if int64(cap(b.slab)) >= size && (best < 0 || cap(b.slab) < cap(s.free[best].slab)) {
			best = i
		}
	}
	if best >= 0 {
		b := s.free[best]
		s.free = slices.Delete(s.free, best, best+1)
		return b
	}
	room := size + size/8 // the next batch may be larger
	for len(s.free) > 0 && (s.used+len(s.free) >= s.most || s.total > s.limit-room) {
		s.total -= int64(cap(s.free[0].slab))
		s.free = slices.Delete(s.free, 0, 1)
	}
	if s.used > 0 && s.total > s.limit-room {
		return nil
	}
	s.total += room
	return &Batch{slab: make([]byte, room), done: make(chan struct{}, 1)}
}
