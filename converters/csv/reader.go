package csv

import (
	"context"

	"github.com/ffconvert/ffconvert/converters"
)

// A decoder makes samples of the rows that a splitter finds.
type decoder interface {
	// reset prepares for a part of which at most left rows will be asked for. With check the
	// samples are shapes: opaque payload has its size only.
	reset(left int64, check bool)
	// next adds the next row to the sample, or finds another event. It refuses a sample over
	// Options.MaxSample.
	next() (event, error)
	// sample sets the values of the sample's fields, and begins the next one.
	sample(s *converters.Sample)
	// alike reports whether samples with the same number of rows have equal shapes.
	alike() bool
}

// A reader groups the rows of a part into samples. Readers are reused.
type reader struct {
	splitter splitter
	decoder  decoder
	single   *numeric // the decoder, if a sample is one packed row; else nil
	opts     *Options
	header   int64 // offset of the header until it has been returned; -1: none

	sample converters.Sample
	rows   int64 // of the sample

	rounded roundedPart // of the part, while Index reads it

	pause, unasked int // rows between two checks of the context, and until the next check
}

// mostPause is the largest number of rows between two checks of the context: after 2, 4, 8 rows and so
// on, up to this.
const mostPause = 256

// reader returns a reader for start.
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

// start prepares a reader for a run of a part. At offset 0 it reads a byte order mark and the header.
func (r *reader) start(s *Source, f converters.File, p converters.Part, run converters.Run, check bool) error {
	most := int64(maxBuffer) // rows; more than a part can have
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

// next finds the next event.
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

// take returns the number of rows of the current sample, and begins the next sample.
func (r *reader) take() int64 {
	n := r.rows
	r.rows = 0
	return n
}
