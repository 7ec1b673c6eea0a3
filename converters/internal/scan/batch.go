package scan

import (
	"context"
	"iter"

	"github.com/ffconvert/ffconvert/converters"
)

// A Batch holds samples of one field each, for a Reader that returns many at a time. It fits into the first-level
// cache.
type Batch struct {
	Spans   [16]converters.Span
	samples [16]converters.Sample
	fields  [16]converters.Field
}

// Init makes all spans samples of one entry, without keys, with one empty field.
func (b *Batch) Init(field string) {
	for i := range b.Spans {
		b.fields[i].Name = field
		b.samples[i].Fields = b.fields[i : i+1 : i+1]
		b.Spans[i] = converters.Span{Entries: 1, Shape: &b.samples[i]}
	}
}

// ReadRows yields the rows of a run, as many as the Reader decoded at once: see [converters.RowSource].
func (s *Source) ReadRows(ctx context.Context, run converters.Run) (rows iter.Seq2[converters.Rows, error], ok bool) {
	if s.format.Rows == nil {
		return nil, false
	}
	take := s.format.Rows()
	return func(yield func(converters.Rows, error) bool) {
		err := Each(ctx, s, run, false, func(r Reader, spans []converters.Span) (int64, bool) {
			if spans[0].Shape == nil {
				return 0, true
			}
			data, n := take(r, len(spans))
			return int64(n), yield(converters.Rows{Off: spans[0].Shape.Off, Count: n, Data: data}, nil)
		})
		if err != nil {
			yield(converters.Rows{}, err)
		}
	}, take != nil
}
