package wrap

import (
	"context"
	"iter"

	"github.com/ffconvert/ffconvert/converters"
)

// Index yields the spans of part p of its collection. It yields a sample that is not drawn as a
// skipped entry.
func (s *mixture) Index(ctx context.Context, p int) iter.Seq2[*converters.Span, error] {
	at := s.places[p]
	all := s.members[at.member].Index(ctx, at.part)
	if at.draw == nil {
		return all
	}
	return func(yield func(*converters.Span, error) bool) {
		ordinal := int64(0)
		known := false // one of the current equal samples was drawn, so the next is Alike
		var own converters.Span
		for span, err := range all {
			if err == nil && span.Shape != nil {
				taken := at.draw.takes(ordinal)
				ordinal++
				known = known && span.Alike
				if own = *span; taken {
					own.Alike, known = known, true
				} else {
					own = converters.Span{Off: span.Off, Entries: span.Entries, Skip: NotDrawn, Name: span.Shape.Key}
				}
				span = &own
			}
			if !yield(span, err) {
				return
			}
		}
	}
}

// Read yields the drawn samples of a run. It reads the samples between them too.
func (s *mixture) Read(ctx context.Context, run converters.Run) iter.Seq2[*converters.Sample, error] {
	return func(yield func(*converters.Sample, error) bool) {
		if run.Count <= 0 {
			return
		}
		at := s.places[run.Part]
		run.Part = at.part
		src := s.members[at.member]
		if at.draw == nil {
			src.Read(ctx, run)(yield)
			return
		}
		if err := at.draw.read(ctx, src, run, yield); err != nil {
			yield(nil, err)
		}
	}
}

// read reads a run. Run.First and Run.Count count drawn samples only.
func (d *draw) read(ctx context.Context, src converters.Source, run converters.Run, yield func(*converters.Sample, error) bool) error {
	first, err := d.ordinal(ctx, run.First)
	if err != nil {
		return err
	}
	last := first
	if run.Count > 1 {
		if last, err = d.ordinal(ctx, run.First+run.Count-1); err != nil {
			return err
		}
	}
	run.First, run.Count = first, last-first+1
	ordinal := first
	for sample, err := range src.Read(ctx, run) {
		if err != nil {
			return err
		}
		if d.takes(ordinal) && !yield(sample, nil) {
			return nil
		}
		ordinal++
	}
	return nil
}
