package loader

import (
	"context"
	"math/rand/v2"
	"testing"
)

// TestSlabs takes and gives back batches of random sizes. Neither bound is passed, and what fits is never waited for.
func TestSlabs(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 4))
	for range 200 {
		most, limit := 1+rng.IntN(6), 1+rng.Int64N(10_000)
		s := newSlabs(most, limit)
		var held []*Batch
		var kept int64
		for range 300 {
			size := rng.Int64N(limit * 5 / 4) // some are larger than the bound
			ctx, cancel := context.WithCancel(t.Context())
			if len(held) == most {
				cancel() // none may be given
			}
			var used int64
			for _, b := range held {
				used += int64(cap(b.slab))
			}
			if used+size+size/8 > limit && len(held) > 0 {
				cancel()
			}
			b := s.take(ctx, size)
			cancel()
			if b != nil {
				if int64(len(b.slab)) < size {
					t.Fatalf("%d bytes of %d", len(b.slab), size)
				}
				held = append(held, b)
			}
			var total int64
			for _, b := range append(held[:len(held):len(held)], s.free...) {
				total += int64(cap(b.slab))
			}
			if total != s.total || s.used != len(held) || s.used+len(s.free) > most || s.total > limit && s.used > 1 {
				t.Fatalf("%d in use, %d free, of %d; %d bytes, counted %d, limit %d", s.used, len(s.free), most, total, s.total, limit)
			}
			for len(held) > 0 && rng.IntN(2) == 0 {
				b := held[0]
				held = held[1:]
				if rng.IntN(4) == 0 {
					b.Keep()
					kept += int64(cap(b.slab))
				}
				s.release(b)
			}
			for len(s.back) > 0 {
				s.put(<-s.back)
			}
		}
		if kept == 0 {
			t.Fatal("none was kept")
		}
	}
}
