package loader

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

// inTurns returns the samples of an epoch as docs/order.md has them before windows are permuted, one by one: the shards
// in the order of the epoch, cut into lanes, which take turns.
func inTurns(o *ordering, epoch uint64, lanes int) (turns []int64) {
	count := uint64(len(o.sizes))
	shuffle := newPermutation(keyOf(o.opts.Seed, epoch, streamShards, count), count)
	var sequence []int64
	for i := range count {
		k, first := shuffle.at(i), uint64(0)
		for _, n := range o.sizes[:k] {
			first += n
		}
		for x := range o.sizes[k] {
			sequence = append(sequence, int64(first+x))
		}
	}
	each, longer := len(sequence)/lanes, len(sequence)%lanes
	var all [][]int64
	for lane := 0; len(sequence) > 0; lane++ {
		n := each
		if lane < longer {
			n++
		}
		all, sequence = append(all, sequence[:n]), sequence[n:]
	}
	for row := 0; len(turns) < int(o.n); row++ {
		for _, lane := range all {
			if row < len(lane) {
				turns = append(turns, lane[row])
			}
		}
	}
	return turns
}

// Each window has the samples that come in turns, for any number of lanes and any sizes of shards; none comes twice.
func TestInterleave(t *testing.T) {
	t.Parallel()
	for name, sizes := range map[string][]int64{
		"one sample":         {1},
		"empty shards":       {0, 0, 5, 0},
		"equal":              slices.Repeat([]int64{100}, 40),
		"one is huge":        {1, 20000, 0, 3, 7},
		"a window of 3":      {700, 68},
		"one more":           {700, 69},
		"many small":         slices.Repeat([]int64{0, 1, 0, 2, 5}, 500),
		"none divides other": {997, 1009, 13, 1013, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := 0
			for _, size := range sizes {
				n += int(size)
			}
			for _, lanes := range []int{1, 2, 3, 7, 64, max(1, n-1), n, n + 1, maxLanes} {
				o := made(t, sizes, Order{Batch: 1, Mode: Interleave(int64(lanes)), Seed: 3})
				e, turns := o.epoch(5), inTurns(o, 5, lanes)
				seen := make([]bool, n)
				for lo := 0; lo < n; lo += laneRows * lanes {
					want := slices.Clone(turns[lo:min(lo+laneRows*lanes, n)])
					got := e.add(nil, int64(lo), int64(lo+len(want)))
					if len(got) > 8 && slices.Equal(got, want) {
						t.Errorf("%d lanes: the window at %d is not permuted", lanes, lo)
					}
					slices.Sort(want)
					slices.Sort(got)
					if !slices.Equal(got, want) {
						t.Fatalf("%d lanes: the window at %d has %d, want %d", lanes, lo, got, want)
					}
					for _, i := range got {
						if seen[i] {
							t.Fatalf("%d lanes: sample %d comes twice", lanes, i)
						}
						seen[i] = true
					}
				}
			}
		})
	}
}

// Lanes read shards from start to end: a window has at most two shards of each lane, and goes on where the last one ended.
// Only shards that lie in two lanes, fewer than there are lanes, have a break, one each.
func TestSideBySide(t *testing.T) {
	t.Parallel()
	const lanes = 16
	sizes, shardOf := make([]int64, 200), []int(nil)
	for i := range sizes {
		sizes[i] = int64(500 + i*i%1000)
		shardOf = append(shardOf, slices.Repeat([]int{i}, int(sizes[i]))...)
	}
	o := made(t, sizes, Order{Batch: laneRows * lanes, Mode: Interleave(lanes), Ends: Short})
	e := o.epoch(2)
	next, breaks := make(map[int]int64), make(map[int]int) // by shard
	for step := range o.steps() {
		window := e.batch(nil, step, 0, 1)
		slices.Sort(window)
		shards := 0
		for i, sample := range window {
			shard := shardOf[sample]
			if i == 0 || shard != shardOf[window[i-1]] {
				shards++
			}
			if at, begun := next[shard]; begun && at != sample {
				breaks[shard]++
			}
			next[shard] = sample + 1
		}
		if shards < lanes || shards > 2*lanes {
			t.Errorf("window %d has samples of %d shards", step, shards)
		}
	}
	if len(breaks) >= lanes {
		t.Errorf("%d shards are read in several parts", len(breaks))
	}
	for shard, n := range breaks {
		if n > 1 {
			t.Errorf("shard %d is read in %d parts", shard, n+1)
		}
	}
}

// Over windows and epochs, each lane is equally often at every place of a window and behind every other lane, and so is
// each of the 256 neighbours that a window has of a lane.
func TestInterleaveUniform(t *testing.T) {
	t.Parallel()
	need.Time(t, "a million positions")
	const lanes, cells, size = 16, 64, 1024 // each lane is one shard
	o := made(t, slices.Repeat([]int64{size}, lanes), Order{Batch: laneRows * lanes, Mode: Interleave(lanes)})
	places, neighbours := make([]float64, cells*lanes), make([]float64, cells*laneRows)
	behind := make([]float64, lanes*lanes)
	windows := 0
	for epoch := range uint64(64) {
		e := o.epoch(epoch)
		for step := range o.steps() {
			window := e.batch(nil, step, 0, 1)
			windows++
			for i, sample := range window {
				cell := i * cells / len(window)
				lane, row := int(sample/size), int(sample%laneRows)
				places[cell*lanes+lane]++
				neighbours[cell*laneRows+row]++
				if i > 0 {
					behind[int(window[i-1]/size)*lanes+lane]++
				}
			}
		}
	}
	n := float64(windows * laneRows * lanes)
	deviates(t, "places of lanes", places, n/cells/lanes, (cells-1)*(lanes-1))
	deviates(t, "places of neighbours", neighbours, n/cells/laneRows, (cells-1)*(laneRows-1))
	deviates(t, "lanes behind lanes", behind, (n-float64(windows))/lanes/lanes, (lanes-1)*(lanes-1))
}

// The numbers of shards in a batch are those of docs/order.md.
func TestShardsInBatch(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "docs", "order.md"))
	if err != nil {
		t.Fatal(err)
	}
	of := func(mode Mode, size int64) float64 {
		o := made(t, slices.Repeat([]int64{size}, 100), Order{Batch: 256, Mode: mode})
		shards, steps := 0, 0
		for epoch := range uint64(4) {
			e := o.epoch(epoch)
			for step := int64(0); step < o.steps(); step += size / 1000 {
				different := make(map[int64]bool)
				for _, i := range e.batch(nil, step, 0, 1) {
					different[i/size] = true
				}
				shards, steps = shards+len(different), steps+1
			}
		}
		return float64(shards) / float64(steps)
	}
	for _, mode := range []Mode{Window(4096), Window(16384), Interleave(16), Interleave(32), Interleave(64), Global} {
		small, large := of(mode, 1000), of(mode, 10000)
		if mode == Interleave(64) && small < 55 {
			t.Errorf("%s: %.1f shards in a batch", mode, small)
		}
		if row := fmt.Sprintf("| `%s` | %.1f | %.1f |\n", mode, small, large); !strings.Contains(string(page), row) {
			t.Errorf("docs/order.md does not have %s", row)
		}
	}
}
