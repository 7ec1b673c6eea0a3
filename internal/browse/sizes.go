package browse

import (
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/dataset/lookup"
)

// A bucket counts the records with From ≤ size < To, in bytes. There are four buckets for each power of two.
type bucket struct{ From, To, Count int64 }

// An outlier is a sample of unusual size.
type outlier struct {
	Number int64
	Key    string // at most 16 KiB of it; "": none
	Size   int64
}

const outliers = 20 // of each kind

// Sizes are counted exactly up to 2^fineBits, and above that in 2^(fineBits-1) cells for each power of two.
const (
	fineBits = 11
	steps    = 1 << (fineBits - 1)
	cells    = (63 - fineBits + 2) * steps
)

// sizes counts records by size.
type sizes struct {
	fine              [cells]int64
	largest, smallest []outlier // sorted, the most unusual first
}

// cell returns the index of the cell for a size.
func cell(size int64) int {
	shift := max(0, bits.Len64(uint64(size))-fineBits)
	return shift*steps + int(size>>shift)
}

// least returns the smallest size of a cell.
func least(cell int) int64 {
	switch {
	case cell < 2*steps:
		return int64(cell)
	case cell == cells:
		return math.MaxInt64
	}
	shift := cell/steps - 1
	return int64(cell-shift*steps) << shift
}

func (z *sizes) add(r *lookup.Row) {
	size := r.At.Size
	z.fine[cell(size)]++
	if len(z.largest) < outliers || size > z.largest[outliers-1].Size {
		z.largest = insert(z.largest, r, func(a, b int64) bool { return a > b })
	}
	if len(z.smallest) < outliers || size < z.smallest[outliers-1].Size {
		z.smallest = insert(z.smallest, r, func(a, b int64) bool { return a < b })
	}
}

// insert inserts a sample after the samples that are at least as unusual.
func insert(all []outlier, r *lookup.Row, more func(a, b int64) bool) []outlier {
	i := len(all)
	for i > 0 && more(r.At.Size, all[i-1].Size) {
		i--
	}
	all = all[:min(len(all), outliers-1)]
	return slices.Insert(all, i, outlier{r.Number, r.Key, r.At.Size})
}

// describe sets the size statistics of s, for s.Samples records.
func (z *sizes) describe(s *survey) {
	for _, all := range [][]outlier{z.largest, z.smallest} {
		for i := range all {
			all[i].Key = strings.Clone(all[i].Key[:min(longestKey, len(all[i].Key))]) // a copy, so that the index's memory can be freed
		}
	}
	s.Largest, s.Smallest = z.largest, z.smallest
	s.Sizes = z.buckets()
	for _, q := range []struct {
		to   *int64
		part float64
	}{{&s.P01, 0.01}, {&s.Median, 0.5}, {&s.P99, 0.99}} {
		*q.to = z.quantile(int64(math.Ceil(q.part * float64(s.Samples))))
	}
}

// quantile returns the size of the record of a rank, counted from 1 in order of size.
func (z *sizes) quantile(rank int64) int64 {
	for i, n := range z.fine {
		if rank -= n; n > 0 && rank <= 0 {
			return least(i)
		}
	}
	return 0
}

// buckets sums the cells of each bucket.
func (z *sizes) buckets() []bucket {
	first := slices.IndexFunc(z.fine[:], func(n int64) bool { return n > 0 })
	if first < 0 {
		return nil
	}
	last := len(z.fine) - 1
	for z.fine[last] == 0 {
		last--
	}
	var all []bucket
	from := 0 // first cell of the bucket
	for quarter := 4; from <= last; quarter++ {
		to := cells
		if bound := math.Exp2(float64(quarter) / 4); bound < math.MaxInt64 {
			to = cell(int64(math.Ceil(bound)))
		}
		if to == from {
			continue
		}
		b := bucket{From: least(from), To: least(to)}
		for _, n := range z.fine[from:to] {
			b.Count += n
		}
		if to > first {
			all = append(all, b)
		}
		from = to
	}
	return all
}
