package csv

import (
	"context"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
)

// A decoder makes samples from the rows of a splitter.
type decoder interface {
	// reset prepares for a part of which at most left rows will be requested. With check the samples are shapes: opaque
	// payload has only a size.
	reset(left int64, check bool)
	// next adds the next row to the sample, or returns another event. It refuses a sample over Options.MaxSample.
	next() (event, error)
	// sample sets the values of the sample's fields, and begins the next sample.
	sample(s *converters.Sample)
	// alike reports whether samples with the same number of rows have equal shapes.
	alike() bool
}

// A reader groups the rows of a part into samples. Readers are reused.
type reader struct {
	splitter splitter
	decoder  decoder
	single   *numeric // the decoder, if a sample is one packed row; else nil
	src      *source
	opts     *Options
	index    bool
	header   int64 // offset of the header until it has been returned; -1: none

	sample converters.Sample
	rows   int64 // in the current sample
	before int64 // in the previous sample
	spans  [1]converters.Span

	offs   []int64    // of the rows that an index has read ahead, each a sample of the same shape
	packed scan.Batch // of rows that were read ahead, if a sample is one packed row

	rounded roundedPart // integers rounded in the part, during an index
}

// askEvery is how many rows of one sample are read between two checks of the context.
const askEvery = 256

func (s *source) reader() *reader {
	r := &reader{src: s, opts: &s.opts}
	if s.schema.numeric {
		n := newNumeric(&r.splitter, &s.schema, s.opts.MaxSample)
		if s.schema.form == Packed && s.opts.RowsPerSample == 1 {
			r.single = n
		}
		r.decoder = n
	} else {
		r.decoder = newTyped(&r.splitter, &s.schema, s.opts.MaxSample)
	}
	switch {
	case s.schema.form != Packed:
		for _, c := range s.schema.kept {
			r.sample.Fields = append(r.sample.Fields, converters.Field{Name: c.name})
		}
	case s.opts.RowsPerSample > 1:
		r.sample.Fields = []converters.Field{{Name: "rows"}}
	default:
		r.sample.Fields = []converters.Field{{Name: "row"}}
	}
	r.packed.Init("row")
	for i := range r.packed.Spans {
		r.packed.Spans[i].Alike = true
	}
	return r
}

// Begin prepares for the rows of a pass. At offset 0 it reads a byte order mark and the header.
func (r *reader) Begin(_ context.Context, p *scan.Pass) error {
	most := int64(maxBuffer) // of rows; more than a part can have
	if p.Run.Count < most/r.opts.RowsPerSample {
		most = p.Run.Count * r.opts.RowsPerSample
	}
	r.splitter.reset(p, r.opts)
	r.decoder.reset(most, p.Index)
	r.rounded, r.splitter.rounded = roundedPart{}, nil
	if r.index = p.Index; p.Index {
		r.splitter.rounded = &r.rounded
	}
	r.rows, r.before, r.header = 0, -1, -1
	r.offs = r.offs[:0]
	if r.single != nil && p.Index {
		for i := range r.packed.Spans {
			r.packed.Spans[i].Shape.Fields[0].Value = converters.Opaque(int64(r.single.size))
		}
	}
	if p.Run.Off == 0 {
		if err := r.splitter.skipMark(); err != nil {
			return err
		}
		if r.opts.Header {
			if err := r.splitter.sameHeader(r.src.schema.header); err != nil {
				return err
			}
			r.header = r.splitter.at
		}
	}
	r.splitter.columns = r.src.schema.columns
	return nil
}

func (r *reader) Offset() int64 { return r.splitter.Offset() }

func (r *reader) End() { r.splitter.End() }

// Next returns the next samples. The header and empty lines are skipped entries.
func (r *reader) Next(ctx context.Context, _ int64) ([]converters.Span, error) {
	if r.single != nil {
		if spans := r.nextPacked(); len(spans) > 0 {
			return spans, nil
		}
	}
	if r.header >= 0 {
		r.splitter.at, r.header = r.header, -1
		return r.skip("header line"), nil
	}
	ev, err := r.next(ctx)
	switch {
	case err != nil:
		return nil, err
	case ev == eventEmpty:
		return r.skip("empty line"), nil
	case ev == eventEnd:
		if r.index {
			r.src.rounded.set(r.splitter.part.Name, r.rounded)
		}
		return nil, nil
	}
	r.spans[0] = converters.Span{Off: r.sample.Off, Entries: int(r.rows), Shape: &r.sample, Alike: r.index && r.rows == r.before && r.decoder.alike()}
	r.before, r.rows = r.rows, 0
	if r.index && r.single != nil {
		r.offs = r.single.skipAhead()
	}
	return r.spans[:], nil
}

// nextPacked returns the rows that were read ahead, each as a sample, nil if there are none.
func (r *reader) nextPacked() []converters.Span {
	spans, n := r.packed.Spans[:], 0
	if !r.index {
		for n < len(spans) && r.single.one(spans[n].Shape) {
			n++
		}
		return spans[:n]
	}
	n = min(len(spans), len(r.offs))
	for i, off := range r.offs[:n] {
		spans[i].Off, spans[i].Shape.Off = off, off
	}
	r.offs = r.offs[n:]
	return spans[:n]
}

func (r *reader) skip(reason string) []converters.Span {
	r.spans[0] = converters.Span{Off: r.splitter.at, Entries: 1, Skip: reason}
	return r.spans[:]
}

// next reads the rows of the next sample, or returns another event.
func (r *reader) next(ctx context.Context) (event, error) {
	for {
		ev, err := r.decoder.next()
		if err == nil && r.rows%askEvery == askEvery-1 {
			if err = ctx.Err(); err != nil {
				err = r.splitter.fail(r.Offset(), err, "")
			}
		}
		if err != nil {
			return 0, err
		}
		switch {
		case ev == eventRow:
			if r.rows == 0 {
				r.sample.Off = r.splitter.at
			}
			r.rows++
			if r.rows < r.opts.RowsPerSample {
				continue
			}
		case ev != eventEnd || r.rows == 0:
			return ev, nil
		}
		r.decoder.sample(&r.sample)
		return eventSample, nil
	}
}

// rows is scan.Format.Rows: samples of one packed row are rows.
func (s *source) rows() func(scan.Reader, int) ([]byte, int) {
	if !s.schema.numeric || s.schema.form != Packed || s.opts.RowsPerSample > 1 {
		return nil
	}
	return func(r scan.Reader, taken int) ([]byte, int) { return r.(*reader).single.takeAhead(taken) }
}
