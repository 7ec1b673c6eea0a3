package scan

import (
	"context"
	"iter"

	"github.com/ffconvert/ffconvert/converters"
)

// A Batch holds samples for a Reader that returns many at a time. Samples of one field fit into the first-level cache.
type Batch struct {
	Spans   [16]converters.Span
	samples [16]converters.Sample
}

// Init makes all spans samples of one entry, without keys, with empty fields of these names.
func (b *Batch) Init(names ...string) {
	fields := make([]converters.Field, len(b.Spans)*len(names))
	for i := range b.Spans {
		b.samples[i].Fields, fields = fields[:len(names):len(names)], fields[len(names):]
		for j, name := range names {
			b.samples[i].Fields[j].Name = name
		}
		b.Spans[i] = converters.Span{Entries: 1, Shape: &b.samples[i]}
	}
}

// ReadRows yields the rows of a run, as many as the Reader decoded at once: see [converters.RowSource].
func (s *Source) ReadRows(ctx context.Context, run converters.Run) (rows iter.Seq2[converters.Rows, error], ok bool) {
	if s.format.Rows == nil {
		return nil, false
	}
	take := s.format.Rows()
	return each(ctx, s, run, false, func(r Reader, spans []converters.Span, yield func(converters.Rows, error) bool) (int64, bool) {
		if spans[0].Shape == nil {
			return 0, true
		}
		data, n := take(r, len(spans))
		return int64(n), yield(converters.Rows{Off: spans[0].Shape.Off, Count: n, Data: data}, nil)
	}), take != nil
}
