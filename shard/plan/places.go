package plan

import (
	"iter"
	"math"
	"slices"
	"sort"
)

// placesChunk is how many samples a chunk holds at most: 16 or 32 KiB.
const placesChunk = 4096

// places are where the samples of a part start, and what all up to each of them cost: eight
// bytes a sample, and four where all cost the same, as rows of numbers do. They grow without
// being copied. What they do not take is time too: a virtual machine may need milliseconds
// for each fresh megabyte.
type places struct {
	chunks []chunk
	N      int
	Cost   int64 // of all
}

// A chunk is consecutive samples. What is kept of each is how far it lies beyond the
// first of them, so a chunk ends where that no longer fits 32 bits.
type chunk struct {
	first    int // ordinal of its first sample
	off, end int64
	offs     []uint32 // where each starts
	ends     []uint32 // what all up to each cost; nil where each but the first costs the same
	each     uint32   // which is this
}

// add takes the next sample.
func (p *places) add(off, cost int64) {
	p.Cost += cost
	if p.N == 0 || !p.chunks[len(p.chunks)-1].add(off, p.Cost) {
		p.chunks = append(p.chunks, p.newChunk(off, p.Cost))
	}
	p.N++
}

// newChunk makes a chunk of one sample. Behind a full one there is likely to be another; the
// others grow as samples are added.
func (p *places) newChunk(off, end int64) chunk {
	room := 1
	if p.N > 0 && len(p.chunks[len(p.chunks)-1].offs) == placesChunk {
		room = placesChunk
	}
	return chunk{first: p.N, off: off, end: end, offs: make([]uint32, 1, room)}
}

// add appends the next sample; false: the chunk is full.
func (c *chunk) add(off, end int64) bool {
	o, e, n := uint64(off-c.off), uint64(end-c.end), len(c.offs)
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
	c.offs = push(c.offs, uint32(o))
	if c.ends != nil {
		c.ends = push(c.ends, uint32(e))
	}
	return true
}

// push appends to a list of at most placesChunk, and never reserves more.
func push(list []uint32, x uint32) []uint32 {
	if n := len(list); n == cap(list) {
		list = append(make([]uint32, 0, min(2*n, placesChunk)), list...)
	}
	return append(list, x)
}

// beyond returns what the samples up to the k-th of the chunk cost, without the first.
func (c *chunk) beyond(k int) int64 {
	if c.ends != nil {
		return int64(c.ends[k])
	}
	return int64(k) * int64(c.each)
}

// Trim drops the room that was not needed.
func (p *places) Trim() {
	p.chunks = slices.Clone(p.chunks)
	if n := len(p.chunks); n > 0 {
		last := &p.chunks[n-1]
		last.offs, last.ends = slices.Clone(last.offs), slices.Clone(last.ends)
	}
}

// At returns where sample i starts, and the cost of samples 0 … i.
func (p *places) At(i int) (off, end int64) {
	c := p.chunk(i)
	k := i - c.first
	return c.off + int64(c.offs[k]), c.end + c.beyond(k)
}

// chunk returns the one that holds sample i.
func (p *places) chunk(i int) *chunk {
	k := i / placesChunk // where all before it are full
	if k >= len(p.chunks) || i < p.chunks[k].first || i-p.chunks[k].first >= len(p.chunks[k].offs) {
		k = sort.Search(len(p.chunks), func(k int) bool { return p.chunks[k].first > i }) - 1
	}
	return &p.chunks[k]
}

// CostOf returns what sample i costs.
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

// Costs yields what each of the samples first to last (exclusive) costs.
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

// Written returns how many of the samples first to last (exclusive) are not left out.
func (p *places) Written(first, last int) (n int64) {
	for _, cost := range p.Costs(first, last) {
		if cost > 0 {
			n++
		}
	}
	return n
}
