package plan

import (
	"fmt"
	"math"
	"slices"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/record"
)

// NewAligned plans shards of whole parts, cut by the sizes of these alone: as many as the
// sizes say, the largest as small as can be. How many samples a shard has is known only when
// its parts are there: each is then needed once, by the shard that it belongs to. Such a plan
// is for parts that are not local yet. Of each part it needs the name and the stored size. seen is the index of the parts that decide the columns: the first part
// of the dataset, or of each collection in a mixture.
func NewAligned(parts []converters.Part, seen []PartIndex, opts Options) (*Plan, error) {
	if opts.Shuffle != nil {
		return nil, fmt.Errorf("%w: a shuffle is of all samples; shards of whole parts have theirs in order", ErrSizes)
	}
	plan := &Plan{Source: opts.Source, Encode: opts.Encode, Encodes: opts.Encodes, Dataset: opts.Dataset, Whole: true}
	plan.Dataset.Encoding = ""
	var shown Plan
	for i := range seen {
		shown.Parts = append(shown.Parts, seen[i].Part)
	}
	plan.Columns = shown.columns()
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
		return nil, fmt.Errorf("%w: --shards %d, but there are %d parts; --exact cuts within them", ErrSizes, opts.Sizes.Shards, len(parts))
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

// partSizes are parts as an ordering: what all up to each of them take.
type partSizes []int64

func (s partSizes) len() int        { return len(s) }
func (s partSizes) end(i int) int64 { return s[i] }

// filled returns how many parts are not empty.
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

// Stored returns how many bytes the parts of shard i take where they are stored. It is for
// plans of whole parts.
func (p *Plan) Stored(i int) int64 {
	n := int64(0)
	for _, part := range p.Parts[p.Shards[i].First:][:p.Shards[i].Parts] {
		n += part.Size
	}
	return n
}

// ShardPlan returns the plan of one shard of a plan of whole parts, by the index of its parts:
// its parts, and the part numbers in its runs, are the shard's. Parts keep their names,
// wherever they lie now.
func (p *Plan) ShardPlan(s *Shard, parts []PartIndex) (*Plan, error) {
	one, err := New(parts, Options{Source: p.Source, Encode: p.Encode, Encodes: p.Encodes, Dataset: p.Dataset, Sizes: Sizes{Shards: 1}})
	if err != nil {
		of := p.Parts[s.First].Name
		if s.Parts > 1 {
			of += " to " + p.Parts[s.First+s.Parts-1].Name
		}
		return nil, fmt.Errorf("%s, %s: %w; --exact cuts within parts", of, s.Name, err)
	}
	one.Shards[0].Name = s.Name
	for i := range one.Parts {
		one.Parts[i].Name = p.Parts[s.First+i].Name
	}
	return one, nil
}

// WithParts returns a part-aligned plan whose parts have accounts; partsOf returns the parts of
// the shard of a name once it is finished.
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

// Weight is how many bytes shard i has, as far as the plan knows.
func (p *Plan) Weight(i int) int64 {
	if p.Whole {
		return p.Stored(i)
	}
	return p.Shards[i].Bytes
}

// Complete reports whether the size and the parts of a finished shard are all that the plan
// needs to know of it.
func (p *Plan) Complete(s *Shard, bytes int64, parts []Part) bool {
	if !p.Whole {
		return bytes == s.Bytes
	}
	return slices.EqualFunc(parts, p.Parts[s.First:s.First+s.Parts], func(found, planned Part) bool {
		return found.Name == planned.Name && found.Check() == nil
	})
}
