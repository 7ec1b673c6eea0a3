package plan

import (
	"fmt"
	"math"
	"slices"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/record"
)

// NewAligned makes a part-aligned plan, for parts that are not local yet: it cuts between parts, by their names and
// stored sizes alone. The number of shards follows from the sizes, and the largest shard is as small as possible. Each
// part is then fetched once, by the process that writes its shard, and its samples are counted then. seen is the index
// of the parts that decide the columns: the first part of the dataset, or of each collection in a mixture.
func NewAligned(parts []converters.Part, seen []PartIndex, opts Options) (*Plan, error) {
	if opts.Shuffle != nil {
		return nil, fmt.Errorf("%w: a shuffle is of all samples; part-aligned shards have theirs in order", errSizes)
	}
	if opts.Choice != nil {
		return nil, fmt.Errorf("%w: samples are chosen by an index of all parts; part-aligned shards have none", errSizes)
	}
	plan := opts.plan()
	plan.Whole = true
	var first Plan
	for i := range seen {
		first.Parts = append(first.Parts, seen[i].Part)
	}
	plan.Columns = first.columns()
	plan.Columns.Alike = alike(seen)
	sizes := make(partSizes, len(parts))
	total, largest := int64(0), int64(0)
	for i, p := range parts {
		if p.Size > math.MaxInt64-total {
			return nil, fmt.Errorf("%w: the dataset is larger than 8 EiB", converters.ErrLimit)
		}
		total += p.Size
		largest = max(largest, p.Size)
		sizes[i] = total
		plan.Parts = append(plan.Parts, Part{Name: KeptName(p.Name), Size: p.Size})
		if opts.EncodeOf != nil {
			plan.Parts[i].Encode = opts.EncodeOf[i]
		}
	}
	if total == 0 {
		return nil, ErrEmpty
	}
	if opts.Sizes.Shards > len(parts) {
		return nil, sizesClash("option shards %d is above the number of parts, %d; option exact cuts within them", opts.Sizes.Shards, len(parts))
	}
	n, err := opts.Sizes.count(total, sizes.filled())
	if err != nil {
		return nil, err
	}
	from := 0
	for i, end := range cut(sizes, int(n), largest) {
		plan.Shards = append(plan.Shards, Shard{Name: record.Name(i, int(n)), First: from, Parts: end - from})
		from = end
	}
	return plan, nil
}

// partSizes is an ordering whose items are parts: element i is the sum of the sizes of parts 0 … i.
type partSizes []int64

func (s partSizes) len() int        { return len(s) }
func (s partSizes) end(i int) int64 { return s[i] }

// filled returns the number of parts that are not empty.
func (s partSizes) filled() int64 {
	n, before := int64(0), int64(0)
	for _, end := range s {
		if end > before {
			n++
		}
		before = end
	}
	return n
}

// Stored returns the sum of the stored sizes of the parts of shard i of a part-aligned plan, in bytes.
func (p *Plan) Stored(i int) int64 {
	n := int64(0)
	for _, part := range p.Parts[p.Shards[i].First:][:p.Shards[i].Parts] {
		n += part.Size
	}
	return n
}

// ShardPlan returns the plan of one shard of a part-aligned plan. parts is the index of the shard's parts.
// Part numbers in its runs count from the shard's first part. Parts keep their planned names.
func (p *Plan) ShardPlan(s *Shard, parts []PartIndex) (*Plan, error) {
	one, err := New(parts, Options{Recipe: Recipe{Source: p.Source, Encode: p.Encode, Encodes: p.Encodes, Dataset: p.Dataset}, Sizes: Sizes{Shards: 1}})
	if err != nil {
		of := p.Parts[s.First].Name
		if s.Parts > 1 {
			of += " to " + p.Parts[s.First+s.Parts-1].Name
		}
		return nil, place.Options("%s, %s: %w; option exact cuts within parts", of, s.Name, err)
	}
	one.Shards[0].Name = s.Name
	for i := range one.Parts {
		one.Parts[i].Name = p.Parts[s.First+i].Name
	}
	return one, nil
}

// WithParts returns a part-aligned plan with the accounts of its parts, and any other plan unchanged.
// partsOf returns the parts of a finished shard by the shard's name.
func (p *Plan) WithParts(partsOf func(shard string) []Part) *Plan {
	if !p.Whole {
		return p
	}
	all := *p
	all.Parts = nil
	for i := range p.Shards {
		all.Parts = append(all.Parts, partsOf(p.Shards[i].Name)...)
	}
	return &all
}

// Weight returns the size of shard i in bytes; the stored size of its parts if the plan is part-aligned.
func (p *Plan) Weight(i int) int64 {
	if p.Whole {
		return p.Stored(i)
	}
	return p.Shards[i].Bytes
}

// Complete reports whether the size and the parts of a finished shard hold everything that the plan requires of it.
func (p *Plan) Complete(s *Shard, bytes int64, parts []Part) bool {
	if !p.Whole {
		return bytes == s.Bytes
	}
	return slices.EqualFunc(parts, p.Parts[s.First:s.First+s.Parts], func(found, planned Part) bool {
		return found.Name == planned.Name && found.Check() == nil
	})
}
