package wrap

import (
	"context"
	"fmt"
	"math"
	"sort"
	"sync"

	"github.com/ffconvert/ffconvert/converters"
)

// A draw selects samples of one part, each independently with the same probability. Sample i is
// drawn or not by the i-th number of a SplitMix64 generator seeded for the part (Steele, Lea, Flood:
// Fast Splittable Pseudorandom Number Generators, 2014). The generator is implemented here so that a
// seed draws the same samples in every version of the program and of Go, and so that the i-th number
// can be computed directly. A draw may be used concurrently.
type draw struct {
	part  *converters.Part
	key   uint64 // seed of the part's generator
	below uint64 // a sample is drawn if its number is less

	mu    sync.Mutex
	ranks []int64 // number of samples drawn before each block, computed as needed
}

// rankBlock is the number of samples per entry of ranks, which takes 1/8 bit per sample.
const rankBlock = 512

// newDraw returns a draw of a share of a part of a collection, 0 < share < 1.
func newDraw(seed uint64, collection, part int, share float64, of *converters.Part) *draw {
	key := scramble(seed)
	for _, n := range []int{collection, part} {
		key = scramble(key + (uint64(n)+1)*golden)
	}
	return &draw{part: of, key: key, below: uint64(math.Ldexp(share, 64)), ranks: []int64{0}}
}

// golden is 2⁶⁴ divided by the golden ratio, the step of SplitMix64.
const golden = 0x9e3779b97f4a7c15

// scramble is the output function of SplitMix64.
func scramble(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// takes reports whether the sample with an ordinal in the part is drawn.
func (d *draw) takes(ordinal int64) bool {
	return scramble(d.key+(uint64(ordinal)+1)*golden) < d.below
}

// ordinal returns the ordinal of the k-th drawn sample, counted from 0. If the part has fewer drawn
// samples, the result is an ordinal past its end or an error.
func (d *draw) ordinal(ctx context.Context, k int64) (int64, error) {
	block, rank, err := d.block(ctx, k)
	if err != nil {
		return 0, err
	}
	for i := block * rankBlock; ; i++ {
		if !d.takes(i) {
			continue
		}
		if rank == k {
			return i, nil
		}
		rank++
	}
}

// block returns the block of the k-th drawn sample and the number of samples drawn before the block.
func (d *draw) block(ctx context.Context, k int64) (block, rank int64, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for blocks := 0; d.ranks[len(d.ranks)-1] <= k; blocks++ {
		if blocks%1024 == 0 && ctx.Err() != nil {
			return 0, 0, &converters.Error{Where: d.part.Name, Off: -1, Err: ctx.Err()}
		}
		last := len(d.ranks) - 1
		from := int64(last) * rankBlock
		if from > d.most() {
			return 0, 0, &converters.Error{Where: d.part.Name, Off: -1, Err: fmt.Errorf("%w: more than %d samples were drawn of it, but it is too small for that", converters.ErrChanged, k)}
		}
		n := d.ranks[last]
		for i := from; i < from+rankBlock; i++ {
			if d.takes(i) {
				n++
			}
		}
		d.ranks = append(d.ranks, n)
	}
	at := sort.Search(len(d.ranks), func(i int) bool { return d.ranks[i] > k }) - 1
	return int64(at), d.ranks[at], nil
}

// most returns an upper bound on the number of samples of the part: its size in bytes, or 2³² for a directory of
// files. It limits the work for a number read from a plan.
func (d *draw) most() int64 {
	if d.part.Path == "" {
		return 1 << 32
	}
	return d.part.Size
}
