// Package wrap makes a source of other sources: a mixture of several, or one with other keys and more fields.
//
// [Mix] reads each collection whole, several times, or in part, as a random share of its samples.
//
//	src, err := wrap.Mix([]wrap.Collection{
//		{Source: tar.Open(photos, tar.Options{})},               // all of it
//		{Source: tar.Open(noise, tar.Options{}), Times: 0.1},    // a tenth, drawn
//		{Source: tar.Open(rare, tar.Options{}), Times: 2.5},     // all twice, and a drawn half
//	}, 7)
//
// The mixture has the parts of all collections, in order. The parts of a repeated collection appear
// once for each pass:
//
//	collection   │ photos      │ noise │ rare              │
//	pass         │ 1           │ drawn │ 1   │ 2   │ drawn │
//	part         │ 0   1   2   │ 3   4 │ 5   │ 6   │ 7     │
//
// The draw of a sample depends only on the seed, the number of the collection, the number of the part
// in it, and the ordinal in the part. It does not depend on workers or other draws. Index yields each
// sample that is not drawn as a skipped entry, so that counts are complete.
//
// [Rekey] changes keys by rules and prefixes, and adds fields from tables that are looked up by the new keys.
//
//	src = wrap.Rekey(src, wrap.Keys{Rules: rules, Prefix: func(int) string { return "train/" }})
package wrap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/ffconvert/ffconvert/converters"
)

// MaxTimes is the largest Collection.Times. Each pass over a part is a part of the plan and takes
// memory.
const MaxTimes = 1000

// NotDrawn is the Span.Skip of samples that are not drawn.
const NotDrawn = "not drawn"

// A Collection is one dataset of the mixture.
type Collection struct {
	// Name is used in errors.
	Name string

	// Source may be the same for several collections.
	Source converters.Source

	// Times is how often each sample is used: 2 means twice, 0.25 means a random quarter of the
	// samples once, 2.5 means all twice and a random half once more. 0 means 1; at most MaxTimes.
	Times float64
}

// Passes returns the number of passes over the parts of the collection.
func (c Collection) Passes() int {
	if c.Times == 0 {
		return 1
	}
	return int(math.Ceil(c.Times))
}

// A mixture concatenates the parts of several sources.
type mixture struct {
	parts   []converters.Part
	places  []origin            // by part
	members []converters.Source // one for each pass over a collection
	desc    converters.Description
}

// An origin is where a part of the mixture comes from.
type origin struct {
	member int   // index into mixture.members
	part   int   // part of the member
	draw   *draw // nil if all samples are used
}

var (
	_ converters.Source    = (*mixture)(nil)
	_ converters.Describer = (*mixture)(nil)
	_ converters.Doubter   = (*mixture)(nil)
)

// Mix returns the mixture. It is [converters.Divisible] if all its sources are. Mix returns an
// error if two sources have different classes, because a class number would be ambiguous.
func Mix(collections []Collection, seed uint64) (converters.Source, error) {
	s := &mixture{}
	divides := true
	for i, c := range collections {
		c.Times = cmp.Or(c.Times, 1)
		if !(c.Times > 0 && c.Times <= MaxTimes) {
			return nil, fmt.Errorf("%s: %v times: want more than 0 and at most %d", c.Name, c.Times, MaxTimes)
		}
		whole, share := math.Modf(c.Times)
		for range int(whole) {
			s.add(c.Source, func(int) *draw { return nil })
		}
		if share > 0 {
			parts := c.Source.Parts()
			s.add(c.Source, func(p int) *draw { return newDraw(seed, i, p, share, &parts[p]) })
		}
		_, ok := c.Source.(converters.Divisible)
		divides = divides && ok
	}
	if err := s.describe(collections); err != nil {
		return nil, err
	}
	if divides {
		return divisibleMixture{s}, nil
	}
	return s, nil
}

func (s *mixture) add(src converters.Source, draw func(part int) *draw) {
	s.members = append(s.members, src)
	for p, part := range src.Parts() {
		s.parts = append(s.parts, part)
		s.places = append(s.places, origin{len(s.members) - 1, p, draw(p)})
	}
}

// Check runs the checks of the collections that need all samples. Call it after indexing all parts.
func (s *mixture) Check(ctx context.Context) error {
	var all []error
	seen := make(map[converters.Source]bool)
	for _, m := range s.members {
		if c, ok := m.(interface{ Check(context.Context) error }); ok && !seen[m] {
			seen[m] = true
			all = append(all, c.Check(ctx))
		}
	}
	return errors.Join(all...)
}

func (s *mixture) Parts() []converters.Part { return s.parts }

func (s *mixture) Doubts() []converters.Doubt {
	var all []converters.Doubt
	seen := make(map[converters.Source]bool)
	for _, m := range s.members {
		if d, ok := m.(converters.Doubter); ok && !seen[m] {
			seen[m] = true
			all = append(all, d.Doubts()...)
		}
	}
	return all
}

// Describe returns the description shared by all collections, with the classes of the collections that have any. If the
// descriptions differ otherwise, it has only the encoding MessagePack, which can hold the samples of every source.
func (s *mixture) Describe() converters.Description { return s.desc }

func (s *mixture) describe(collections []Collection) error {
	named, held := -1, int64(0) // the first collection with classes; the most that a reader holds
	var added []converters.AddedField
	for i, c := range collections {
		desc := converters.Describe(c.Source)
		if i == 0 {
			s.desc = desc
		}
		classes := s.desc.Classes
		switch {
		case desc.Classes == nil:
		case named < 0:
			named, classes = i, desc.Classes
		case !slices.Equal(desc.Classes, classes):
			err := fmt.Errorf("%w: it numbers its classes otherwise than %s", converters.ErrUnsupported, collections[named].Name)
			return &converters.Error{Where: c.Name, Off: -1, Err: err, Hint: "give both the same list of classes"}
		}
		added = append(added, desc.Added...)
		held, desc.Held, s.desc.Held = max(held, desc.Held), 0, 0
		desc.Classes, s.desc.Classes = nil, nil
		desc.Added, s.desc.Added = nil, nil
		if !reflect.DeepEqual(desc, s.desc) {
			s.desc = converters.Description{Encoding: "msgpack"}
		}
		s.desc.Classes = classes
	}
	s.desc.Added, s.desc.Held = added, held
	return nil
}

// divisibleMixture is a mixture of divisible sources.
type divisibleMixture struct{ *mixture }

// WithParts returns a mixture with other parts. It draws the same samples of these parts.
func (s divisibleMixture) WithParts(first int, parts []converters.Part) converters.Source {
	some := &mixture{parts: parts, desc: s.desc}
	for from := 0; from < len(parts); {
		at := s.places[first+from]
		to := from + 1
		for to < len(parts) && s.places[first+to].member == at.member {
			to++
		}
		member := s.members[at.member].(converters.Divisible) // checked by Mix
		some.members = append(some.members, member.WithParts(at.part, parts[from:to:to]))
		for i := from; i < to; i++ {
			some.places = append(some.places, origin{len(some.members) - 1, i - from, s.places[first+i].draw.of(&parts[i])})
		}
		from = to
	}
	return divisibleMixture{some}
}

// of returns the same draw for a part that replaces the original, as a copy of it.
func (d *draw) of(part *converters.Part) *draw {
	if d == nil {
		return nil
	}
	return &draw{part: part, key: d.key, below: d.below, ranks: []int64{0}}
}
