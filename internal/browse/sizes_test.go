package browse

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ffconvert/ffconvert/dataset/lookup"
	"github.com/ffconvert/ffconvert/record"
)

// Cells cover all sizes without gaps, and a cell is at most a thousandth of its size wide.
func TestCells(t *testing.T) {
	t.Parallel()
	for i := range cells {
		from, to := least(i), least(i+1)
		if cell(from) != i || cell(to-1) != i || from >= to || (to-from)/1000 > from/1000_000 && to-from > 1 {
			t.Fatalf("cell %d is %d to %d", i, from, to)
		}
	}
	if i := cell(math.MaxInt64); i != cells-1 {
		t.Errorf("the largest size has cell %d of %d", i, cells)
	}
}

// Counts are those of the sorted sizes.
func TestSizes(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(21, 1))
	for _, row := range []struct {
		n    int
		size func() int64
	}{
		{1, func() int64 { return 0 }}, {7, func() int64 { return 1 }}, {100, func() int64 { return rng.Int64N(5) }},
		{5000, func() int64 { return rng.Int64N(3000) }}, {5000, func() int64 { return int64(1) << rng.IntN(62) }}, {2000, func() int64 { return math.MaxInt64 - rng.Int64N(1<<61) }}, {2000, func() int64 { return 1<<40 + rng.Int64N(1<<40) }},
	} {
		var z sizes
		all := make([]int64, row.n)
		for i := range all {
			all[i] = row.size()
			z.add(&lookup.Row{Number: int64(i), At: record.Extent{Size: all[i]}})
		}
		s := &survey{Samples: int64(row.n)}
		z.describe(s)
		by := func(a, b int) int { // by size, then number
			if all[a] != all[b] {
				if all[a] < all[b] {
					return -1
				}
				return 1
			}
			return a - b
		}
		order := make([]int, row.n)
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, by)
		for i, o := range s.Smallest {
			if int(o.Number) != order[i] {
				t.Errorf("%d sizes: number %d of the smallest is sample %d, want %d", row.n, i, o.Number, order[i])
			}
		}
		slices.SortFunc(order, func(a, b int) int {
			if all[a] == all[b] {
				return a - b
			}
			return by(b, a)
		})
		for i, o := range s.Largest {
			if int(o.Number) != order[i] || o.Size != all[o.Number] {
				t.Errorf("%d sizes: number %d of the largest is sample %d, want %d", row.n, i, o.Number, order[i])
			}
		}
		if want := min(row.n, outliers); len(s.Largest) != want || len(s.Smallest) != want {
			t.Errorf("%d and %d outliers, want %d", len(s.Largest), len(s.Smallest), want)
		}
		slices.Sort(all)
		for _, q := range []struct{ got, want int64 }{{s.P01, all[(row.n+99)/100-1]}, {s.Median, all[(row.n+1)/2-1]}, {s.P99, all[(99*row.n+99)/100-1]}} {
			if q.got > q.want || q.want-q.got > q.want/1000 {
				t.Errorf("%d sizes: a quantile is %d, want %d", row.n, q.got, q.want)
			}
		}
		sum := 0
		for i, b := range s.Sizes {
			lo, _ := slices.BinarySearch(all, b.From)
			hi, _ := slices.BinarySearch(all, b.To)
			if int(b.Count) != hi-lo || b.From >= b.To || i > 0 && b.From != s.Sizes[i-1].To {
				t.Errorf("%d to %d bytes: %d records, want %d", b.From, b.To, b.Count, hi-lo)
			}
			sum += hi - lo
		}
		if sum != row.n || s.Sizes[0].Count == 0 || s.Sizes[len(s.Sizes)-1].Count == 0 {
			t.Errorf("the buckets %v have %d records of %d", s.Sizes, sum, row.n)
		}
	}
}
