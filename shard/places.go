package shard

import (
	"iter"
	"math"
	"slices"
	"sort"
)

// placesChunk is how many samples a chunk holds at most: 32 KiB.
const placesChunk = 4096

// places are where the samples of a part start, and what all up to each of them cost: eight
// bytes a sample. They grow without being copied.
type places struct {
	chunks []chunk
	n      int
	cost   int64 // of all
}

// A chunk is consecutive samples. What is kept of each is how far it lies beyond the
// first of them, so a chunk ends where that no longer fits.
type chunk struct {
	first    int // ordinal of its first sample
	off, end int64
	beyond   []beyond
}

type beyond struct{ off, end uint32 }

// add takes the next sample.
func (p *places) add(off, cost int64) {
	p.cost += cost
	if p.n == 0 || !p.chunks[len(p.chunks)-1].add(off, p.cost) {
		p.chunks = append(p.chunks, p.newChunk(off, p.cost))
	}
	p.n++
}

// newChunk makes a chunk of one sample. Behind a full one there is likely to be another; the
// others grow with what they hold.
func (p *places) newChunk(off, end int64) chunk {
	room := 1
	if p.n > 0 && len(p.chunks[len(p.chunks)-1].beyond) == placesChunk {
		room = placesChunk
	}
	return chunk{first: p.n, off: off, end: end, beyond: make([]beyond, 1, room)}
}

// add takes the next sample unless there is no room for it.
func (c *chunk) add(off, end int64) bool {
	o, e := uint64(off-c.off), uint64(end-c.end)
	if o > math.MaxUint32 || e > math.MaxUint32 || len(c.beyond) == placesChunk {
		return false
	}
	if n := len(c.beyond); n == cap(c.beyond) {
		c.beyond = append(make([]beyond, 0, min(2*n, placesChunk)), c.beyond...)
	}
	c.beyond = append(c.beyond, beyond{uint32(o), uint32(e)})
	return true
}

// trim drops the room that was not needed.
func (p *places) trim() {
	p.chunks = slices.Clone(p.chunks)
	if n := len(p.chunks); n > 0 {
		last := &p.chunks[n-1].beyond
		*last = slices.Clone(*last)
	}
}

// at returns where sample i starts, and the cost of samples 0 … i.
func (p *places) at(i int) (off, end int64) {
	c := p.chunk(i)
	b := c.beyond[i-c.first]
	return c.off + int64(b.off), c.end + int64(b.end)
}

// chunk returns the one that holds sample i.
func (p *places) chunk(i int) *chunk {
	k := i / placesChunk // where all before it are full
	if k >= len(p.chunks) || i < p.chunks[k].first || i-p.chunks[k].first >= len(p.chunks[k].beyond) {
		k = sort.Search(len(p.chunks), func(k int) bool { return p.chunks[k].first > i }) - 1
	}
	return &p.chunks[k]
}

// costOf returns what sample i costs.
func (p *places) costOf(i int) int64 {
	c := p.chunk(i)
	if k := i - c.first; k > 0 {
		return int64(c.beyond[k].end - c.beyond[k-1].end)
	}
	return c.end - p.before(i)
}

// before returns the cost of the samples before sample i.
func (p *places) before(i int) int64 {
	if i == 0 {
		return 0
	}
	_, end := p.at(i - 1)
	return end
}

// costs yields what each of the samples first to last (exclusive) costs.
func (p *places) costs(first, last int) iter.Seq2[int, int64] {
	return func(yield func(int, int64) bool) {
		before := p.before(first)
		for i := first; i < last; i++ {
			_, end := p.at(i)
			if !yield(i, end-before) {
				return
			}
			before = end
		}
	}
}

// written returns how many of the samples first to last (exclusive) are not left out.
func (p *places) written(first, last int) (n int64) {
	for _, cost := range p.costs(first, last) {
		if cost > 0 {
			n++
		}
	}
	return n
}
