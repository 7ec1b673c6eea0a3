package wrap

import (
	"context"
	"fmt"
	"hash/maphash"
	"iter"
	"slices"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/text"
)

// Keys describe the changes to keys and fields. The zero value changes nothing.
type Keys struct {
	// Rules are applied in order; each replaces all its matches in a key.
	Rules []*text.Rule

	// Prefix returns the text to put before the keys of a part, after the rules. Its argument is the number of the
	// part among the parts of Rekey. nil: nothing.
	Prefix func(part int) string

	// Tables are fields to add, looked up by the changed key.
	Tables []*Table

	// Added describes the source of the fields of Tables.
	Added []converters.AddedField

	// Unmatched accepts samples without a row in a table, which do not get its field, and rows without a sample,
	// and reports them as doubts; otherwise Check refuses them.
	Unmatched bool

	// Unique makes Check refuse keys that several samples have. It takes 16 bytes of memory per sample.
	Unique bool
}

// errNoKey is the error for a sample without a key, if keys are changed or looked up.
var errNoKey = fmt.Errorf("%w: the sample has no key", converters.ErrUnsupported)

// keeps reports whether o changes neither keys nor fields.
func (o *Keys) keeps() bool { return o.Rules == nil && o.Prefix == nil && o.Tables == nil }

// A rekeyed is a source with changed keys and added fields. It is [converters.Divisible] if the wrapped source is.
type rekeyed struct {
	converters.Source
	opts  Keys
	first int // number of its part 0 among the parts of Rekey
	seen  *seen
}

// Rekey returns src with other keys.
func Rekey(src converters.Source, opts Keys) converters.Source {
	s := &rekeyed{Source: src, opts: opts, seen: &seen{seed: maphash.MakeSeed(), parts: make([]seenPart, len(src.Parts()))}}
	if _, ok := src.(converters.Divisible); ok {
		return divisibleRekeyed{s}
	}
	return s
}

// A divisibleRekeyed is a rekeyed whose wrapped source is divisible.
type divisibleRekeyed struct{ *rekeyed }

// WithParts returns a source of other parts of the dataset, with the same changes.
func (s divisibleRekeyed) WithParts(first int, parts []converters.Part) converters.Source {
	src := s.Source.(converters.Divisible).WithParts(first, parts)
	return divisibleRekeyed{&rekeyed{Source: src, opts: s.opts, first: s.first + first, seen: s.seen}}
}

// Describe returns the description of the wrapped source and the added fields.
func (s *rekeyed) Describe() converters.Description {
	desc := converters.Describe(s.Source)
	desc.Added = append(desc.Added[:len(desc.Added):len(desc.Added)], s.opts.Added...)
	return desc
}

// Doubts returns the doubts of the wrapped source, except those about files that are tables, and the doubts of
// Keys.Unmatched.
func (s *rekeyed) Doubts() []converters.Doubt {
	var all []converters.Doubt
	if d, ok := s.Source.(converters.Doubter); ok {
		for _, doubt := range d.Doubts() {
			if !slices.ContainsFunc(s.opts.Tables, func(t *Table) bool { return t.name == doubt.Part }) {
				all = append(all, doubt)
			}
		}
	}
	if s.opts.Unmatched && s.seen.checked.Load() {
		all = append(all, s.unmatched()...)
	}
	return all
}

// Index yields the samples of a part with their new keys and fields.
func (s *rekeyed) Index(ctx context.Context, p int) iter.Seq2[*converters.Span, error] {
	return func(yield func(*converters.Span, error) bool) {
		c := s.changer(p)
		here := seenPart{}
		var own converters.Span
		for span, err := range s.Source.Index(ctx, p) {
			if err == nil && span.Shape != nil {
				own = *span
				span = &own
				if span.Shape, err = c.change(span.Shape); err != nil {
					err = c.fail(span.Off, err)
				} else {
					span.Alike = span.Alike && s.opts.keeps()
					here.add(s.seen.seed, span.Shape.Key, &s.opts)
				}
			}
			if !yield(span, err) || err != nil {
				return
			}
		}
		s.seen.set(s.first+p, here)
	}
}

// Read yields the samples of a run with their new keys and fields.
func (s *rekeyed) Read(ctx context.Context, run converters.Run) iter.Seq2[*converters.Sample, error] {
	return func(yield func(*converters.Sample, error) bool) {
		c := s.changer(run.Part)
		for sample, err := range s.Source.Read(ctx, run) {
			if err == nil {
				off := sample.Off
				if sample, err = c.change(sample); err != nil {
					err = c.fail(off, err)
				}
			}
			if !yield(sample, err) || err != nil {
				return
			}
		}
	}
}

// A changer changes the samples of one part, one at a time.
type changer struct {
	opts   *Keys
	part   converters.Part
	prefix string
	before string // key of the last sample as the wrapped source has it
	key    [2][]byte
	sample converters.Sample
}

func (s *rekeyed) changer(part int) *changer {
	c := &changer{opts: &s.opts, part: s.Parts()[part]}
	if s.opts.Prefix != nil {
		c.prefix = s.opts.Prefix(s.first + part)
	}
	return c
}

func (c *changer) fail(off int64, err error) error {
	return &converters.Error{Where: c.part.Name, Off: off, Entry: c.before, Err: err}
}

// change returns s with a changed key and added fields. The result is valid until the next call, and as long as s is.
func (c *changer) change(s *converters.Sample) (*converters.Sample, error) {
	c.before = s.Key
	if c.opts.keeps() {
		return s, nil
	}
	if s.Key == "" {
		return nil, errNoKey
	}
	key := append(c.key[0][:0], s.Key...)
	for _, rule := range c.opts.Rules {
		next := rule.All(c.key[1][:0], string(key))
		c.key[0], c.key[1] = next, key
		key = next
	}
	if c.key[0] = key; len(key) == 0 {
		return nil, fmt.Errorf("%w: nothing is left of its key", converters.ErrUnsupported)
	}
	c.sample = converters.Sample{Key: c.prefix + string(key), Off: s.Off, Fields: append(c.sample.Fields[:0], s.Fields...)}
	for _, t := range c.opts.Tables {
		if err := c.add(t); err != nil {
			return nil, err
		}
	}
	return &c.sample, nil
}

// add adds the field of a table if it has a row for the key.
func (c *changer) add(t *Table) error {
	v, ok := t.find(c.sample.Key)
	if !ok {
		return nil // Check reports it
	}
	if _, twice := c.sample.Field(t.field); twice {
		return fmt.Errorf("%w: the sample has a field %q already", converters.ErrDuplicate, t.field)
	}
	c.sample.Fields = append(c.sample.Fields, converters.Field{Name: t.field, Value: v})
	return nil
}
