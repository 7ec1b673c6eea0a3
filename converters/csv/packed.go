package csv

import (
	"context"
	"iter"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
)

// packedRows are consecutive samples of one packed row each, which are returned at once. They fit into the first-level
// cache.
type packedRows struct {
	spans   [16]converters.Span
	samples [16]converters.Sample
	fields  [16]converters.Field
}

func (p *packedRows) init() {
	for i := range p.spans {
		p.fields[i].Name = "row"
		p.samples[i].Fields = p.fields[i : i+1]
		p.spans[i] = converters.Span{Entries: 1, Shape: &p.samples[i], Alike: true}
	}
}

// shape makes all samples shapes of rows of this size.
func (p *packedRows) shape(size int64) {
	for i := range p.fields {
		p.fields[i].Value = converters.Opaque(size)
	}
}

// index returns the shapes of the first rows at these offsets.
func (p *packedRows) index(offs []int64) []converters.Span {
	n := min(len(p.spans), len(offs))
	for i, off := range offs[:n] {
		p.spans[i].Off, p.samples[i].Off = off, off
	}
	return p.spans[:n]
}

// read returns the first of the rows that were read ahead.
func (p *packedRows) read(from *numeric) []converters.Span {
	n := 0
	for n < len(p.samples) && from.one(&p.samples[n]) {
		n++
	}
	return p.spans[:n]
}

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
