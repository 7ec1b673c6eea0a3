package loader

import (
	"cmp"
	"math/bits"
	"slices"
	"sort"
)

// An epochOrder is the order of samples in one epoch. It may be used concurrently.
type epochOrder struct {
	order  *ordering
	number uint64
	key    uint64
	all    permutation // mode Global: permutation of the samples

	// Modes Window and Interleave.
	first  []uint64 // number of the first sample of each shard, in the order of the epoch
	starts []uint64 // start of each of these shards in the sequence of all

	sorted []int64     // mode Group: samples sorted by group
	blocks permutation // mode Group: permutation of the full batches
}

// Streams of random numbers, by what they permute.
const (
	streamSamples = 0
	streamShards  = 1 // shards; batches in mode Group
	streamWindow  = 2 // window 0; 3 is window 1, and so on

	streamSets = 1<<64 - 1 // the seed of each dataset of a mixture
)

// epoch returns the order of an epoch, at most 2⁶³-1. It takes constant time; in modes Window and Interleave, time
// proportional to the number of shards; in mode Group, the time to sort all samples.
func (o *ordering) epoch(number uint64) *epochOrder {
	e := &epochOrder{order: o, number: number, key: keyOf(o.opts.Seed, number, streamSamples, o.n)}
	if o.mix != nil {
		return e
	}
	e.all = newPermutation(e.key, o.n)
	switch {
	case o.window > 0:
		e.shards()
	case o.opts.Mode == Group:
		e.groups()
	}
	return e
}

func (e *epochOrder) subkey(stream, n uint64) uint64 {
	return keyOf(e.order.opts.Seed, e.number, stream, n)
}

// shards puts the shards into the order of the epoch.
func (e *epochOrder) shards() {
	sizes := e.order.sizes
	begin := make([]uint64, len(sizes))
	for i := 1; i < len(sizes); i++ {
		begin[i] = begin[i-1] + sizes[i-1]
	}
	n := uint64(len(sizes))
	p := newPermutation(e.subkey(streamShards, n), n)
	at := uint64(0)
	for i := range n {
		k := p.at(i)
		e.first, e.starts = append(e.first, begin[k]), append(e.starts, at)
		at += sizes[k]
	}
}

func (e *epochOrder) groups() {
	n, group := e.order.n, e.order.opts.Groups
	e.sorted = make([]int64, n)
	for i := range n {
		e.sorted[i] = int64(e.all.at(i))
	}
	slices.SortStableFunc(e.sorted, func(a, b int64) int { return cmp.Compare(group[a], group[b]) })
	if whole := n / uint64(e.order.opts.Batch); whole > 0 {
		e.blocks = newPermutation(e.subkey(streamShards, whole), whole)
	}
}

// add appends the samples at positions lo to hi. Positions from Len on wrap around to 0: see [Pad].
func (e *epochOrder) add(dst []int64, lo, hi int64) []int64 {
	o := e.order
	if o.mix != nil {
		first := e.number * o.n
		return o.mix.add(dst, first+uint64(lo), first+uint64(hi))
	}
	var window permutation
	var number uint64 // number of the window, from 1
	batch := uint64(o.opts.Batch)
	for ; lo < hi; lo++ {
		p := uint64(lo) % o.n
		switch {
		case o.opts.Mode == Global:
			p = e.all.at(p)
		case o.opts.Mode == Resample:
			p, _ = bits.Mul64(mix(e.key+(p+1)*golden), o.n)
		case o.opts.Mode == Group:
			if b := p / batch; b < e.blocks.n {
				p = e.blocks.at(b)*batch + p%batch
			}
			p = uint64(e.sorted[p])
		case o.window > 0:
			v := p / o.window
			begin := v * o.window
			if number != v+1 {
				m := min(o.window, o.n-begin)
				number, window = v+1, newPermutation(e.subkey(streamWindow+v, m), m)
			}
			p = e.inShards(o.inLanes(begin + window.at(p-begin)))
		}
		dst = append(dst, int64(p))
	}
	return dst
}

// inLanes returns where the sequence of shards has the q-th sample of those that the lanes take in turns. The lanes are
// stretches of the sequence, as equal as can be, one behind another.
func (o *ordering) inLanes(q uint64) uint64 {
	lane, row := q%o.lanes, q/o.lanes
	return lane*(o.n/o.lanes) + min(lane, o.n%o.lanes) + row
}

// inShards returns the sample at position q of the shards in the order of the epoch.
func (e *epochOrder) inShards(q uint64) uint64 {
	i := sort.Search(len(e.starts), func(i int) bool { return e.starts[i] > q }) - 1
	return e.first[i] + q - e.starts[i]
}

// batch appends the samples of one rank in a step, 0 ≤ step < Steps, 0 ≤ rank < world.
func (e *epochOrder) batch(dst []int64, step int64, rank, world int) []int64 {
	g, ranks := e.order.opts.Batch, int64(world)
	size := g
	if rest := e.order.size() - step*g; rest < g {
		switch e.order.opts.Ends {
		case Short:
			size = rest
		case Even:
			size = (rest + ranks - 1) / ranks * ranks
		}
	}
	lo, hi := share(size, int64(rank), ranks), share(size, int64(rank)+1, ranks)
	return e.add(dst, step*g+lo, step*g+hi)
}

// share returns n·rank // world without overflow.
func share(n, rank, world int64) int64 { return n/world*rank + n%world*rank/world }
