package mix

import (
	"context"
	"fmt"
	"math"
	"sort"
	"sync"

	"github.com/ffconvert/ffconvert/converters"
)

// A draw decides which samples of one part are taken, each for itself and with the same
// chance. Whether sample i is depends on the i-th number of the generator SplitMix64
// (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014) that the part
// seeds. It is written out because the same seed must draw the same samples in every version
// of the tool and of Go, and because the i-th number must cost no more than the first.
type draw struct {
	part  *converters.Part
	key   uint64 // of the part
	below uint64 // numbers below it are drawn

	mu    sync.Mutex
	ranks []int64 // how many are drawn before each block of samples, as far as was asked
}

// rankBlock is how many samples a rank is kept for: an eighth of a bit each.
const rankBlock = 512

// newDraw draws a share, above 0 and below 1, of a part of a collection.
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

// takes reports whether a sample is drawn, by its ordinal in the part.
func (d *draw) takes(ordinal int64) bool {
	return scramble(d.key+(uint64(ordinal)+1)*golden) < d.below
}

// ordinal returns which sample of the part the k-th of the drawn ones is, from 0 on. Where
// the part does not have so many it is some ordinal behind the end, or an error.
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

// block returns the block of the k-th drawn sample, and how many are drawn before it.
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
			return 0, 0, &converters.Error{Where: d.part.Name, Off: -1, Err: fmt.Errorf("%w: more than %d samples were drawn of it, it cannot have so many", converters.ErrChanged, k)}
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

// most bounds the samples of the part, so that no number in a plan is counted up to: a
// sample has a byte, unless the part is files, of which a listing has fewer than 2³².
func (d *draw) most() int64 {
	if d.part.Path == "" {
		return 1 << 32
	}
	return d.part.Size
}
