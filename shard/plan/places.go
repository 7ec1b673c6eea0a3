package plan

import (
	"iter"
	"math"
	"slices"
	"sort"
)

// placesChunk is the largest number of samples in a chunk: 16 or 32 KiB.
const placesChunk = 4096

// places are the start of each sample of a part and the running sum of costs: eight bytes a sample; four if all cost the
// same; one if they also lie evenly, as rows of numbers do. They grow without being copied. Small memory saves time as
// well: on a virtual machine each fresh megabyte may take milliseconds.
type places struct {
	chunks []chunk
	N      int
	Cost   int64 // of all
}

// A chunk is consecutive samples. It stores 32-bit distances from its first sample, and ends where
// a distance would not fit.
type chunk struct {
	first, n int // ordinal of its first sample, and how many it has
	off, end int64
	offs     []uint32 // start of each sample, from the first's; empty if near has them
	near     []int8   // what each start is beyond the straight line through the first and the last one
	last     uint32   // start of the last sample, if near is set
	ends     []uint32 // running sums of costs, without the first's; nil if all but the first cost the same
	each     uint32   // that cost
}

func (p *places) add(off, cost int64) {
	p.Cost += cost
	if p.N == 0 || !p.chunks[len(p.chunks)-1].add(off, p.Cost) {
		p.chunks = append(p.chunks, p.newChunk(off, p.Cost))
	}
	p.N++
}

// newChunk makes a chunk of one sample. After a full chunk it reserves the room of a full one; other
// chunks grow as samples are added.
func (p *places) newChunk(off, end int64) chunk {
	c := chunk{first: p.N, n: 1, off: off, end: end}
	if p.N > 0 && p.chunks[len(p.chunks)-1].n == placesChunk {
		c.offs = p.chunks[len(p.chunks)-1].even()
	}
	c.offs = append(c.offs[:0], 0)
	return c
}

// even moves the starts of a full chunk to near, if they fit there. It returns room for those of the next chunk.
func (c *chunk) even() []uint32 {
	var near [placesChunk]int8
	c.last = c.offs[placesChunk-1]
	for k, off := range c.offs {
		beyond := int64(off) - c.line(k)
		if near[k] = int8(beyond); int64(near[k]) != beyond {
			return make([]uint32, placesChunk)
		}
	}
	room := c.offs
	c.near, c.offs = slices.Clone(near[:]), nil
	return room
}

// line returns where sample k of a full chunk starts if all lie evenly.
func (c *chunk) line(k int) int64 { return int64(k) * int64(c.last) / (placesChunk - 1) }

// add appends the next sample. It returns false if the chunk is full.
func (c *chunk) add(off, end int64) bool {
	o, e, n := uint64(off-c.off), uint64(end-c.end), c.n
	if o > math.MaxUint32 || e > math.MaxUint32 || n == placesChunk {
		return false
	}
	if n == 1 {
		c.each = uint32(e)
	}
	if c.ends == nil && e != uint64(n)*uint64(c.each) {
		c.ends = make([]uint32, n, cap(c.offs))
		for i := range c.ends {
			c.ends[i] = uint32(i) * c.each
		}
	}
	c.offs, c.n = push(c.offs, uint32(o)), n+1
	if c.ends != nil {
		c.ends = push(c.ends, uint32(e))
	}
	return true
}

// push appends to a list of at most placesChunk elements, and never reserves more.
func push(list []uint32, x uint32) []uint32 {
	if n := len(list); n == cap(list) {
		list = append(make([]uint32, 0, min(2*n, placesChunk)), list...)
	}
	return append(list, x)
}

// beyond returns the cost of the samples of the chunk from the second to the k-th.
func (c *chunk) beyond(k int) int64 {
	if c.ends != nil {
		return int64(c.ends[k])
	}
	return int64(k) * int64(c.each)
}

// Trim releases unused capacity.
func (p *places) Trim() {
	p.chunks = slices.Clone(p.chunks)
	if n := len(p.chunks); n > 0 {
		last := &p.chunks[n-1]
		last.offs, last.ends = slices.Clone(last.offs), slices.Clone(last.ends)
	}
}

// At returns the start of sample i, and the cost of samples 0 … i.
func (p *places) At(i int) (off, end int64) {
	c := p.chunk(i)
	k := i - c.first
	if c.near != nil {
		off = c.line(k) + int64(c.near[k])
	} else {
		off = int64(c.offs[k])
	}
	return c.off + off, c.end + c.beyond(k)
}

func (p *places) chunk(i int) *chunk {
	k := i / placesChunk // the chunk number if all chunks before it are full
	if k >= len(p.chunks) || i < p.chunks[k].first || i-p.chunks[k].first >= p.chunks[k].n {
		k = sort.Search(len(p.chunks), func(k int) bool { return p.chunks[k].first > i }) - 1
	}
	return &p.chunks[k]
}

// CostOf returns the cost of sample i.
func (p *places) CostOf(i int) int64 {
	c := p.chunk(i)
	if k := i - c.first; k > 0 {
		return c.beyond(k) - c.beyond(k-1)
	}
	return c.end - p.before(i)
}

// before returns the cost of the samples before sample i.
func (p *places) before(i int) int64 {
	if i == 0 {
		return 0
	}
	_, end := p.At(i - 1)
	return end
}

// Costs yields the cost of each sample from first to last (exclusive).
func (p *places) Costs(first, last int) iter.Seq2[int, int64] {
	return func(yield func(int, int64) bool) {
		before := p.before(first)
		for i := first; i < last; i++ {
			_, end := p.At(i)
			if !yield(i, end-before) {
				return
			}
			before = end
		}
	}
}

// Written returns the number of samples from first to last (exclusive) that are not left out.
func (p *places) Written(first, last int) (n int64) {
	for _, cost := range p.Costs(first, last) {
		if cost > 0 {
			n++
		}
	}
	return n
}
