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
		err := scan.Each(ctx, s.Source, run, false, func(each scan.Reader) error {
			r := each.(*reader)
			for done := int64(0); done < run.Count; {
				spans, err := scan.Samples(ctx, s.Source, r, run, done)
				if err != nil {
					return err
				}
				if spans[0].Shape == nil {
					continue
				}
				data, n := r.single.takeAhead(len(spans))
				if done += int64(n); !yield(converters.Rows{Off: spans[0].Shape.Off, Count: n, Data: data}, nil) {
					return nil
				}
			}
			return nil
		})
		if err != nil {
			yield(converters.Rows{}, err)
		}
	}, s.schema.numeric && s.schema.form == Packed && s.opts.RowsPerSample == 1
}
