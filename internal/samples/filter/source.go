package filter

import (
	"context"
	"iter"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
)

// dropped is the Span.Skip of the entries of samples that the program drops.
const dropped = "dropped by the filter"

// A source yields the samples of the program's answers. It is [converters.Divisible] if the inner source is.
type source struct {
	converters.Source // the source of the samples given to the program

	f        *Filter
	spec     func(part int) *encode.Spec
	answered converters.Divisible // template for the source of the answers to a part
	first    int                  // number of part 0 in the dataset
}

var (
	_ converters.Describer = (*source)(nil)
	_ converters.Doubter   = (*source)(nil)
	_ converters.Filtering = (*source)(nil)
)

// Source returns the source of the answers to the samples of inner. spec returns how the samples of a part of
// inner are encoded for the program, as a CBOR map; answered is a source of CBOR sequences.
func (f *Filter) Source(inner converters.Source, spec func(part int) *encode.Spec, answered converters.Divisible) converters.Source {
	s := &source{Source: inner, f: f, spec: spec, answered: answered}
	if _, ok := inner.(converters.Divisible); ok {
		return divisible{s}
	}
	return s
}

// A divisible is a source whose inner source is divisible.
type divisible struct{ *source }

// WithParts returns a source of other parts of the dataset, with the same program.
func (s divisible) WithParts(first int, parts []converters.Part) converters.Source {
	some := *s.source
	some.Source = s.Source.(converters.Divisible).WithParts(first, parts)
	some.spec = func(part int) *encode.Spec { return s.spec(first + part) }
	some.first += first
	return divisible{&some}
}

// Describe returns the classes, added fields and memory of the inner source: the program may change its columns and types.
func (s *source) Describe() converters.Description {
	desc := converters.Describe(s.Source)
	return converters.Description{Classes: desc.Classes, Added: desc.Added, Held: desc.Held}
}

func (s *source) Doubts() []converters.Doubt {
	if d, ok := s.Source.(converters.Doubter); ok {
		return d.Doubts()
	}
	return nil
}

// Check runs the check of the inner source and ends all processes. Call it after indexing all parts.
func (s *source) Check(ctx context.Context) error {
	if err := s.f.Finish(ctx); err != nil {
		return err
	}
	if c, ok := s.Source.(interface{ Check(context.Context) error }); ok {
		return c.Check(ctx)
	}
	return nil
}

// Filtered returns counts of the answers to a part; nil if the part was not indexed.
func (s *source) Filtered(p int) *converters.Filtered {
	s.f.mu.Lock()
	a := s.f.copies[s.first+p]
	s.f.mu.Unlock()
	if a == nil {
		return nil
	}
	<-a.ready
	return a.report
}

// Index gives the samples of a part to the program, unless their answers exist, and yields the samples of the answers.
func (s *source) Index(ctx context.Context, p int) iter.Seq2[*converters.Span, error] {
	return func(yield func(*converters.Span, error) bool) {
		a, err := s.f.answers(ctx, s, p)
		if err != nil {
			yield(nil, err)
			return
		}
		if !a.skips(yield) {
			return
		}
		entries := a.entries.all()
		var own converters.Span
		for span, err := range a.samples.Index(ctx, 0) {
			if err == nil {
				own = *span
				own.Entries = entries()
				span = &own
			}
			if !yield(span, err) || err != nil {
				return
			}
		}
	}
}

func (s *source) Read(ctx context.Context, run converters.Run) iter.Seq2[*converters.Sample, error] {
	return func(yield func(*converters.Sample, error) bool) {
		a, err := s.f.answers(ctx, s, run.Part)
		if err != nil {
			yield(nil, err)
			return
		}
		run.Part = 0
		for sample, err := range a.samples.Read(ctx, run) {
			if !yield(sample, err) {
				return
			}
		}
	}
}
