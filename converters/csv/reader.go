package csv

import (
	"context"

	"github.com/ffconvert/ffconvert/converters"
)

// A decoder makes samples of rows. It is built on a splitter, which tells where they are.
type decoder interface {
	// reset turns to a part of which at most left rows are wanted. With check they are
	// wanted as a shape, of which opaque payload has its size only.
	reset(left int64, check bool)
	// next takes one more row into the sample, or finds something else. It refuses a
	// sample that MaxSample forbids.
	next() (event, error)
	// sample sets the values of the sample's fields, and begins the next one.
	sample(s *converters.Sample)
	// alike reports whether samples of equal many rows are alike.
	alike() bool
}

// A reader groups the rows of a part into samples. Readers are used again.
type reader struct {
	splitter splitter
	decoder  decoder
	single   *numeric // the decoder, where a packed sample is one row; else nil
	opts     *Options
	header   int64 // where the header is, until it was told; -1: nothing to tell

	sample converters.Sample
	rows   int64 // of the sample

	rounded roundedPart // what Index has seen of the part

	pause, unasked int // rows between two looks at the context, and until the next one
}

// mostPause is how many rows are read between two looks at the context: it is looked at
// after 2, 4, 8 and so on, up to this.
const mostPause = 256

func (s *Source) reader() *reader {
	if r, ok := s.readers.Get().(*reader); ok {
		return r
	}
	r := &reader{opts: &s.opts}
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
	return r
}

// start turns to samples of a part, from number first at offset from on. At offset 0 there
// may be a byte order mark and a header before them.
func (r *reader) start(s *Source, f converters.File, p converters.Part, run converters.Run, check bool) error {
	most := int64(maxBuffer) // rows; more than any part has
	if run.Count < most/r.opts.RowsPerSample {
		most = run.Count * r.opts.RowsPerSample
	}
	r.splitter.reset(f, p, r.opts, run.Off, run.First*r.opts.RowsPerSample)
	r.decoder.reset(most, check)
	r.rounded, r.splitter.rounded = roundedPart{}, nil
	if check {
		r.splitter.rounded = &r.rounded
	}
	r.rows, r.header = 0, -1
	r.pause, r.unasked = 1, 0
	if run.Off == 0 {
		if err := r.splitter.skipMark(); err != nil {
			return err
		}
		if r.opts.Header {
			if err := r.splitter.sameHeader(s.schema.header); err != nil {
				return err
			}
			r.header = r.splitter.at
		}
	}
	r.splitter.columns = s.schema.columns
	return nil
}

// next finds the next sample, or something between rows.
func (r *reader) next(ctx context.Context) (event, error) {
	if r.header >= 0 {
		r.splitter.at, r.header = r.header, -1
		return eventHeader, nil
	}
	if r.unasked > 0 && r.single != nil && r.single.one(&r.sample) {
		r.unasked--
		r.rows = 1
		return eventSample, nil
	}
	for {
		if r.unasked == 0 {
			if err := ctx.Err(); err != nil {
				return 0, r.splitter.fail(r.splitter.Offset(), err, "")
			}
			r.pause = min(2*r.pause, mostPause)
			r.unasked = r.pause
		}
		r.unasked--
		ev, err := r.decoder.next()
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

// take returns how many rows the current sample has, and begins the next.
func (r *reader) take() int64 {
	n := r.rows
	r.rows = 0
	return n
}
