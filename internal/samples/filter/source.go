package filter

import (
	"context"
	"iter"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
)

// dropped is the reason for skipping the entries of samples that the program drops.
const dropped = "dropped by the filter"

// A source has the samples that a program answers. It is [converters.Divisible] if the inner source is.
type source struct {
	converters.Source // whose samples the program is given

	f        *Filter
	spec     func(part int) *encode.Spec
	answered converters.Divisible // makes the source of the answers to a part
	first    int                  // number of part 0 in the dataset
}

var (
	_ converters.Describer = (*source)(nil)
	_ converters.Doubter   = (*source)(nil)
	_ converters.Filtering = (*source)(nil)
)

// Source returns the source of the answers to the samples of inner. spec returns how samples of a part of inner are written
// to the program, a CBOR map; answered is a source of CBOR sequences.
func (f *Filter) Source(inner converters.Source, spec func(part int) *encode.Spec, answered converters.Divisible) converters.Source {
	s := &source{Source: inner, f: f, spec: spec, answered: answered}
	if _, ok := inner.(converters.Divisible); ok {
		return divisible{s}
	}
	return s
}

// divisible is a source of a divisible source.
type divisible struct{ *source }

// WithParts returns a source of other parts of the dataset, which go through the same program.
func (s divisible) WithParts(first int, parts []converters.Part) converters.Source {
	some := *s.source
	some.Source = s.Source.(converters.Divisible).WithParts(first, parts)
	some.spec = func(part int) *encode.Spec { return s.spec(first + part) }
	some.first += first
	return divisible{&some}
}

// Describe returns what the source says, without columns and types: the program may change them.
func (s *source) Describe() converters.Description {
	says := converters.Describe(s.Source)
	return converters.Description{Classes: says.Classes, Added: says.Added}
}

// Doubts returns the doubts of the source.
func (s *source) Doubts() []converters.Doubt {
	if d, ok := s.Source.(converters.Doubter); ok {
		return d.Doubts()
	}
	return nil
}

// Check makes the check of the source, and ends all processes. It is called when all parts were indexed.
func (s *source) Check(ctx context.Context) error {
	if err := s.f.Finish(ctx); err != nil {
		return err
	}
	if c, ok := s.Source.(interface{ Check(context.Context) error }); ok {
		return c.Check(ctx)
	}
	return nil
}

// Filtered returns what the program has answered to a part that was indexed; nil if it was not.
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

// Index gives the samples of a part to the program, unless it has their answers, and yields the samples in these.
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

// Read yields a run of the samples in the answers to a part.
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
