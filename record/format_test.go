package record

import (
	"math"
	"slices"
	"testing"
)

func TestName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		i, of int
		want  string
	}{
		{0, 1, "PART_00000.ffr"},
		{199, 200, "PART_00199.ffr"},
		{99998, 99999, "PART_99998.ffr"},
		{7, 100000, "PART_000007.ffr"},
		{1234567, 1234568, "PART_1234567.ffr"},
	} {
		if got := Name(c.i, c.of); got != c.want {
			t.Errorf("Name(%d, %d) = %s, want %s", c.i, c.of, got, c.want)
		}
	}
	for _, of := range []int{99999, 100000, 100001} {
		names := make([]string, of)
		for i := range names {
			names[i] = Name(i, of)
		}
		if !slices.IsSorted(names) {
			t.Errorf("names of %d shards do not sort", of)
		}
	}
}

func TestFileSize(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ n, payload, want int64 }{
		{0, 0, 12},
		{3, 1005, 1053},
		{3, 4104, 4152},
		{0, math.MaxInt64 - 12, math.MaxInt64},
		{0, math.MaxInt64 - 11, -1},
		{maxN, 0, 12 + 12*maxN},
		{maxN + 1, 0, -1},
		{math.MaxInt64, math.MaxInt64, -1},
		{-1, 0, -1},
		{0, -1, -1},
	} {
		if got := FileSize(c.n, c.payload); got != c.want {
			t.Errorf("FileSize(%d, %d) = %d, want %d", c.n, c.payload, got, c.want)
		}
	}
	for _, n := range []int{0, 1, 5} {
		samples := make([][]byte, n)
		for i := range samples {
			samples[i] = noise(1, 33)
		}
		if b := shardOf(t, samples...); int64(len(b)) != FileSize(int64(n), int64(33*n)) {
			t.Errorf("%d samples: %d bytes", n, len(b))
		}
	}
}
