package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// costs is an ordering made of single costs.
type costs []int64

func newCosts(single []int64) costs {
	c := make(costs, len(single))
	sum := int64(0)
	for i, x := range single {
		sum += x
		c[i] = sum
	}
	return c
}

func (c costs) len() int        { return len(c) }
func (c costs) end(i int) int64 { return c[i] }

// smallestLargest finds by trying every division the least possible largest shard.
func smallestLargest(single []int64, k int) int64 {
	if k == 1 {
		sum := int64(0)
		for _, x := range single {
			sum += x
		}
		return sum
	}
	best := int64(1 << 62)
	sum := int64(0)
	for i := range len(single) - k + 1 {
		sum += single[i]
		best = min(best, max(sum, smallestLargest(single[i+1:], k-1)))
	}
	return best
}

func TestCut(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 3000 {
		n := 1 + rng.IntN(12)
		single := make([]int64, n)
		paying := 0
		for j := range single {
			switch rng.IntN(4) {
			case 0: // left out
			case 1:
				single[j] = 1 + rng.Int64N(1000)
			default:
				single[j] = 1 + rng.Int64N(10)
			}
			if single[j] > 0 {
				paying++
			}
		}
		if paying == 0 {
			continue
		}
		k := 1 + rng.IntN(paying)
		t.Run(fmt.Sprint(i), func(t *testing.T) { checkCut(t, single, k, smallestLargest(single, k)) })
	}
}

func TestCutLarge(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	for _, k := range []int{1, 2, 3, 7, 199, 200} {
		single := make([]int64, 20_000)
		for j := range single {
			single[j] = 12 + rng.Int64N(1<<rng.IntN(20))
		}
		checkCut(t, single, k, 0)
	}
}

// checkCut asserts what cut promises; best is the least possible largest shard, 0 where
// it is not known.
func checkCut(t *testing.T, single []int64, k int, best int64) {
	t.Helper()
	largest := slices.Max(single)
	ends := cut(newCosts(single), k, largest)
	if len(ends) != k || ends[k-1] != len(single) {
		t.Fatalf("cut(%v, %d) = %v", single, k, ends)
	}
	from, least, most := 0, int64(1<<62), int64(0)
	for _, end := range ends {
		sum := int64(0)
		for _, x := range single[from:end] {
			sum += x
		}
		least, most = min(least, sum), max(most, sum)
		from = end
	}
	if least < 1 {
		t.Errorf("cut(%v, %d) = %v: an empty shard", single, k, ends)
	}
	if most-least > largest {
		t.Errorf("cut(%v, %d) = %v: sizes from %d to %d differ by more than the largest sample", single, k, ends, least, most)
	}
	if best > 0 && most != best {
		t.Errorf("cut(%v, %d) = %v: largest shard %d, could be %d", single, k, ends, most, best)
	}
}

func TestSizes(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	for _, row := range []struct {
		name           string
		sizes          Sizes
		total, samples int64
		want           int64 // 0: a clash
	}{
		{"small dataset is one shard", Sizes{}, 10 * mib, 100, 1},
		{"just below two", Sizes{}, 512*mib - 1, 1000, 1},
		{"two of the least size", Sizes{}, 512 * mib, 1000, 2},
		{"at most 200", Sizes{}, 1000 << 30, 1 << 30, 200},
		{"no more shards than samples", Sizes{}, 512 * mib, 1, 1},
		{"exact number", Sizes{Shards: 7}, 10 * mib, 100, 7},
		{"exact number beyond the default most", Sizes{Shards: 300}, 10 * mib, 1000, 300},
		{"exact number above the samples", Sizes{Shards: 7}, 10 * mib, 6, 0},
		{"nearest to a size, down", Sizes{ShardSize: 4 * mib}, 9 * mib, 100, 2},
		{"nearest to a size, up", Sizes{ShardSize: 4 * mib}, 11 * mib, 100, 3},
		{"size and least", Sizes{ShardSize: 4 * mib, Min: 4 * mib}, 11 * mib, 100, 2},
		{"size below least", Sizes{ShardSize: 4 * mib, Min: 5 * mib}, 11 * mib, 100, 0},
		{"size above most", Sizes{ShardSize: mib, Max: 5}, 11 * mib, 100, 0},
		{"number above most", Sizes{Shards: 6, Max: 5}, 11 * mib, 100, 0},
		{"number below least", Sizes{Shards: 6, Min: 5 * mib}, 11 * mib, 100, 0},
		{"number and size", Sizes{Shards: 6, ShardSize: mib}, 11 * mib, 100, 0},
		{"own least", Sizes{Min: mib}, 11 * mib, 100, 11},
		{"own most", Sizes{Min: mib, Max: 3}, 11 * mib, 100, 3},
		{"negative", Sizes{Min: -1}, 11 * mib, 100, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got, err := row.sizes.count(row.total, row.samples)
			if got != row.want || (err == nil) != (row.want > 0) {
				t.Errorf("count = %d, %v; want %d", got, err, row.want)
			}
		})
	}
}
