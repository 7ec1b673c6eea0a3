package loader

import (
	"fmt"
	"math"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

// Each number has a place of its own, for every n up to 4096 and some large ones.
func TestPermutation(t *testing.T) {
	t.Parallel()
	need.Time(t, "8 million positions")
	seen := make([]uint64, 4096) // n of the permutation that had it last
	for n := uint64(1); n <= 4096; n++ {
		p := newPermutation(keyOf(3, 1, streamSamples, n), n)
		for x := range n {
			y := p.at(x)
			if y >= n || seen[y] == n {
				t.Fatalf("n = %d: %d goes to %d, as another does", n, x, y)
			}
			seen[y] = n
		}
	}
}

// Large n, sampled: results are in range, and no two of neighbouring positions are equal.
func TestPermutationOfLarge(t *testing.T) {
	t.Parallel()
	for _, n := range []uint64{1<<20 + 1, 1e9, 1 << 32, 1<<40 - 1, maxSamples} {
		p := newPermutation(keyOf(0, 0, streamSamples, n), n)
		seen := make(map[uint64]bool)
		for i := range uint64(2000) {
			for _, x := range []uint64{i, n - 1 - i} {
				y := p.at(x)
				if y >= n || seen[y] {
					t.Fatalf("n = %d: %d goes to %d", n, x, y)
				}
				seen[y] = true
			}
		}
	}
}

// Over many seeds, every sample is equally often at every place, and behind every other.
func TestUniform(t *testing.T) {
	t.Parallel()
	need.Time(t, "permutations of a million numbers for each n")
	for _, n := range []int{2, 3, 4, 5, 7, 8, 16, 33, 64, 100} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			draws := 1_000_000 / n
			if n < 16 {
				draws /= 4 // most results are outside, and permuted again
			}
			places, neighbours := make([]float64, n*n), make([]float64, n*n)
			for seed := range draws {
				p := newPermutation(keyOf(uint64(seed), 5, streamSamples, uint64(n)), uint64(n))
				before := -1
				for i := range n {
					y := int(p.at(uint64(i)))
					places[i*n+y]++
					if before >= 0 {
						neighbours[before*n+y]++
					}
					before = y
				}
			}
			deviates(t, "places", places, float64(draws)/float64(n), (n-1)*(n-1))
			if n == 2 {
				return // places say it all
			}
			pairs := neighbours[:0]
			for i, c := range neighbours {
				if i/n != i%n {
					pairs = append(pairs, c)
				}
			}
			deviates(t, "neighbours", pairs, float64(draws*(n-1))/float64(n*(n-1)), n*(n-1)-1)
		})
	}
}

// One permutation of a million: positions in its order fall evenly into cells of places and of distances.
func TestSpread(t *testing.T) {
	t.Parallel()
	need.Time(t, "a million positions")
	const n, cells = 1_000_000, 100
	for seed := range uint64(2) {
		p := newPermutation(keyOf(seed, 0, streamSamples, n), n)
		places, distances := make([]float64, cells*cells), make([]float64, cells)
		before := p.at(n - 1)
		for i := range uint64(n) {
			y := p.at(i)
			places[i*cells/n*cells+y*cells/n]++
			distances[(y+n-before)%n*cells/n]++
			before = y
		}
		deviates(t, "places", places, n/cells/cells, (cells-1)*(cells-1))
		deviates(t, "distances", distances, n/cells, cells-1)
	}
}

// deviates fails the test if counts differ from the one expected by more than one time in a hundred million: the seeds are fixed,
// so that a run fails always or never.
func deviates(t *testing.T, what string, counts []float64, want float64, freedom int) {
	t.Helper()
	chi := 0.0
	for _, c := range counts {
		chi += (c - want) * (c - want) / want
	}
	f := float64(freedom)
	// Wilson and Hilferty: the cube root of chi²/f is nearly normal.
	z := (math.Cbrt(chi/f) - 1 + 2/(9*f)) / math.Sqrt(2/(9*f))
	if z > 4.5 {
		t.Errorf("%s: chi² is %.1f with %d degrees of freedom, %.1f deviations above", what, chi, freedom, z)
	}
}

func BenchmarkSample(b *testing.B) {
	o, err := newOrdering([]int64{2e9}, Order{Batch: 256})
	if err != nil {
		b.Fatal(err)
	}
	e := o.epoch(1)
	for b.Loop() {
		e.add(nil, 1e9, 1e9+1)
	}
}

func BenchmarkEpoch(b *testing.B) {
	o, err := newOrdering([]int64{2e9}, Order{Batch: 256})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		o.epoch(1)
	}
}
