package csv

import (
	"context"
	"iter"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
)

// ReadRows is Read for samples of one packed row.
func (s *source) ReadRows(ctx context.Context, run converters.Run) (iter.Seq2[converters.Rows, error], bool) {
	return func(yield func(converters.Rows, error) bool) {
		err := scan.Each(ctx, s.Source, run, false, func(r scan.Reader, spans []converters.Span) (int64, bool) {
			if spans[0].Shape == nil {
				return 0, true
			}
			data, n := r.(*reader).single.takeAhead(len(spans))
			return int64(n), yield(converters.Rows{Off: spans[0].Shape.Off, Count: n, Data: data}, nil)
		})
		if err != nil {
			yield(converters.Rows{}, err)
		}
	}, s.schema.numeric && s.schema.form == Packed && s.opts.RowsPerSample == 1
}
