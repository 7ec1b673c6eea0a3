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
			var used int64
			for _, b := range held {
				used += int64(cap(b.slab))
			}
			fits := len(held) == 0 || used+size+size/8 <= limit
			for _, b := range s.free {
				fits = fits || int64(cap(b.slab)) >= size
			}
			fits = fits && len(held) < most
			ctx, cancel := context.WithCancel(t.Context())
			var b *Batch
			if fits {
				b = s.take(ctx, size)
			} else if s.fit(size) != nil {
				t.Fatalf("a batch of %d bytes beside %d in use, of %d", size, used, limit)
			}
			cancel()
			if b != nil {
				if int64(len(b.slab)) < size || s.take(ctx, 0) != nil {
					t.Fatalf("%d bytes of %d, or one for a loop that is cancelled", len(b.slab), size)
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
				s.back <- b
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
