package plan

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// held is how many bytes of memory places take.
func held(p *places) int {
	n := cap(p.chunks) * int(unsafe.Sizeof(chunk{}))
	for _, c := range p.chunks {
		n += 4*(cap(c.offs)+cap(c.ends)) + cap(c.near)
	}
	return n
}

// Places give back what they were given, however far apart samples lie.
func TestPlaces(t *testing.T) {
	t.Parallel()
	for name, widest := range map[string]int64{
		"no bytes": 1, "rows": 100, "photos": 1 << 20, "a chunk is full by bytes": 1 << 26,
		"almost 4 GiB": math.MaxUint32, "beyond 4 GiB": 1 << 34, "far apart": 1 << 44,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(5, uint64(widest)))
			var p places
			var offs, ends []int64
			off, end := int64(0), int64(0)
			for i := range 2*placesChunk + 100 {
				cost := rng.Int64N(widest)
				switch {
				case i/1000%2 == 1: // as many that cost the same, across the ends of chunks
					cost = widest - 1
				case rng.IntN(10) == 0:
					cost = 0
				}
				end += cost
				p.add(off, cost)
				offs, ends = append(offs, off), append(ends, end)
				if off += rng.Int64N(widest); i%1000 == 999 {
					off -= rng.Int64N(off + 1) // an order that no source has
				}
			}
			p.Trim()
			if p.N != len(offs) || p.Cost != end {
				t.Fatalf("%d samples that cost %d, want %d and %d", p.N, p.Cost, len(offs), end)
			}
			for range 2 { // in order, then in any
				for i := range offs {
					if o, e := p.At(i); o != offs[i] || e != ends[i] {
						t.Fatalf("sample %d is at %d and ends at %d, want %d and %d", i, o, e, offs[i], ends[i])
					}
				}
				rng.Shuffle(len(offs), func(i, j int) {
					if o, e := p.At(i); o != offs[i] || e != ends[i] {
						t.Fatalf("sample %d is at %d and ends at %d, want %d and %d", i, o, e, offs[i], ends[i])
					}
				})
			}
			paying := int64(0)
			for i, cost := range p.Costs(100, p.N) {
				if want := ends[i] - ends[i-1]; cost != want || p.CostOf(i) != want {
					t.Fatalf("sample %d costs %d, or %d, want %d", i, cost, p.CostOf(i), want)
				}
				if cost > 0 {
					paying++
				}
			}
			if got := p.Written(100, p.N); got != paying {
				t.Errorf("%d samples are written, want %d", got, paying)
			}
		})
	}
}

// Many samples take 8 bytes each, 4 less where they cost the same, and 3 less where they lie evenly.
func TestPlacesMemory(t *testing.T) {
	t.Parallel()
	const n = 1_000_000
	for _, row := range []struct {
		kinds, apart int64
		each         int
	}{{1, 0, 1}, {2, 0, 5}, {1, 1000, 4}, {2, 1000, 8}} {
		var p places
		for i := range int64(n) {
			p.add(i*8_000_007/1000+i*i%7*row.apart, 90+i%row.kinds)
		}
		p.Trim()
		if held := held(&p); held > row.each*n+n/20 {
			t.Errorf("%d bytes are held for %d samples of %d costs", held, n, row.kinds)
		}
	}
}

// Indexes of the runs of a part, joined, are the index of the part.
func TestJoin(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 7))
	var whole, joined, run PartIndex
	off := int64(0)
	for i := range 4*placesChunk + 100 {
		size := rng.Int64N(1000) - 1 // -1: left out
		for _, idx := range []*PartIndex{&whole, &run} {
			idx.Add(off, size)
			idx.Account.Samples++
		}
		if off += 1000; i == 0 || i == 10 || i%6000 == 0 {
			joined.join(&run)
			run = PartIndex{}
		}
	}
	joined.join(&run)
	if joined.N != whole.N || joined.Cost != whole.Cost || joined.Largest != whole.Largest || joined.Account.Samples != whole.Account.Samples {
		t.Errorf("%d samples of %d bytes, the largest has %d, want %d, %d and %d", joined.N, joined.Cost, joined.Largest, whole.N, whole.Cost, whole.Largest)
	}
	for i := range whole.N {
		off, end := joined.At(i)
		if wantOff, wantEnd := whole.At(i); off != wantOff || end != wantEnd || joined.CostOf(i) != whole.CostOf(i) {
			t.Fatalf("sample %d: %d, %d, want %d, %d", i, off, end, wantOff, wantEnd)
		}
	}
}
