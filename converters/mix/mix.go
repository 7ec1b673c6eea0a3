// Package mix makes one dataset of several: each whole, a drawn share of it, or more than
// once.
//
//	src, err := mix.Open([]mix.Collection{
//		{Source: tar.Open(photos, tar.Options{})},               // all of it
//		{Source: tar.Open(noise, tar.Options{}), Times: 0.1},    // a tenth, drawn
//		{Source: tar.Open(rare, tar.Options{}), Times: 2.5},     // all twice, and a drawn half
//	}, 7)
//
// The parts of the dataset are those of the collections, one behind the other, and those of
// a collection that is repeated come again for each pass:
//
//	collection   │ photos      │ noise │ rare              │
//	pass         │ 1           │ drawn │ 1   │ 2   │ drawn │
//	part         │ 0   1   2   │ 3   4 │ 5   │ 6   │ 7     │
//
// Whether a sample is drawn is decided by its place alone: the seed, the collection, the part
// in it, and the ordinal in the part. Nobody's work decides it, nor what else is drawn. An
// index tells of each sample that is not drawn as one that is passed over, so that nothing
// is missing from an account.
package mix

import (
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/ffconvert/ffconvert/converters"
)

// MaxTimes is the most that Collection.Times may be: each pass over a part is a part of the
// plan, and takes its memory.
const MaxTimes = 1000

// NotDrawn is what an index says of the samples that are not drawn, as Span.Skip has it.
const NotDrawn = "not drawn"

// A Collection is a source of the mixture.
type Collection struct {
	// Name is what errors call it.
	Name string

	// Source may be that of another collection too.
	Source converters.Source

	// Times is how often each of its samples comes: 2 twice, 0.25 a drawn quarter of them
	// once, 2.5 all of them twice and a drawn half once more. 0: 1. At most MaxTimes.
	Times float64
}

// Passes returns how often the parts of the collection come.
func (c Collection) Passes() int {
	if c.Times == 0 {
		return 1
	}
	return int(math.Ceil(c.Times))
}

// A Source is the mixture.
type Source struct {
	parts   []converters.Part
	places  []place // of the parts
	members []converters.Source
	says    converters.Description
}

// A place says what a part of the mixture is.
type place struct {
	member int // whose part it is; another one for each pass
	part   int // among those of the member
	draw   *draw
}

var (
	_ converters.Source    = (*Source)(nil)
	_ converters.Describer = (*Source)(nil)
	_ converters.Doubter   = (*Source)(nil)
)

// Open returns the mixture. It is [converters.Divisible] where all its sources are. Sources
// that number their classes each in its own way are refused: a number would mean two classes.
func Open(collections []Collection, seed uint64) (converters.Source, error) {
	s := &Source{}
	divides := true
	for i, c := range collections {
		if c.Times == 0 {
			c.Times = 1
		}
		if !(c.Times > 0 && c.Times <= MaxTimes) {
			return nil, fmt.Errorf("%s: %v times: want more than 0, and %d at most", c.Name, c.Times, MaxTimes)
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
		return divisible{s}, nil
	}
	return s, nil
}

// add appends one pass over a source.
func (s *Source) add(src converters.Source, draw func(part int) *draw) {
	s.members = append(s.members, src)
	for p, part := range src.Parts() {
		s.parts = append(s.parts, part)
		s.places = append(s.places, place{len(s.members) - 1, p, draw(p)})
	}
}

// Parts lists the parts of all collections, in order.
func (s *Source) Parts() []converters.Part { return s.parts }

// Doubts are those of all collections.
func (s *Source) Doubts() []converters.Doubt {
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

// Describe tells what all collections say alike. Classes are those of the collections that
// have any. Where they differ, MessagePack is what all of them can be encoded in.
func (s *Source) Describe() converters.Description { return s.says }

func (s *Source) describe(collections []Collection) error {
	named := -1 // the first that has classes
	for i, c := range collections {
		var says converters.Description
		if d, ok := c.Source.(converters.Describer); ok {
			says = d.Describe()
		}
		if says.Encoding == "" {
			says.Encoding = "msgpack"
		}
		if i == 0 {
			s.says = says
		}
		classes := s.says.Classes
		switch {
		case says.Classes == nil:
		case named < 0:
			named, classes = i, says.Classes
		case !slices.Equal(says.Classes, classes):
			err := fmt.Errorf("%w: it numbers its classes otherwise than %s", converters.ErrUnsupported, collections[named].Name)
			return &converters.Error{Where: c.Name, Off: -1, Err: err, Hint: "give both the same list of classes"}
		}
		says.Classes, s.says.Classes = nil, nil
		if !reflect.DeepEqual(says, s.says) {
			s.says = converters.Description{Encoding: "msgpack"}
		}
		s.says.Classes = classes
	}
	return nil
}
