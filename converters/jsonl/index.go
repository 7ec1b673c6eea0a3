package jsonl

import (
	"context"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
)

// A reader reads the objects of a part. Readers are reused.
type reader struct {
	splitter
	opts   *Options
	decode func(line []byte) (*converters.Sample, error)
	marks  *scan.Marks // nil for a run: an index has already checked the marks of the part
	spans  [1]converters.Span
}

func newReader(opts *Options) *reader { return &reader{opts: opts, decode: opts.decoder()} }

// Begin prepares for the lines of a pass.
func (r *reader) Begin(_ context.Context, p *scan.Pass) error {
	if r.marks = nil; p.Index {
		r.marks = new(scan.Marks)
	}
	r.reset(p, r.opts.MaxLine)
	return nil
}

// Next returns the next sample. Empty lines are skipped entries. A text without escapes is in the read buffer, not
// copied.
func (r *reader) Next(ctx context.Context, _ int64) ([]converters.Span, error) {
	sample, more, err := r.next(ctx)
	if err != nil || !more {
		return nil, err
	}
	r.spans[0] = converters.Span{Off: r.at, Entries: 1, Shape: sample}
	if sample == nil {
		r.spans[0].Skip = "empty line"
	}
	return r.spans[:], nil
}

// next decodes the next line: a sample, nil for an empty line, or false at the end of the part. The sample is valid
// until the next call.
func (r *reader) next(ctx context.Context) (s *converters.Sample, more bool, err error) {
	for {
		if more, err = r.splitter.next(); err == nil && !more {
			err = r.marks.Close(r.part, r.Size, r.opts.RequireEnd)
		}
		if err != nil || !more || r.empty() {
			return nil, more, err
		}
		if s, err = r.decode(r.line); err != nil {
			return nil, false, r.refuse(err)
		}
		s.Off = r.at
		if len(s.Fields) != 1 || !scan.IsMark(s.Fields[0].Name) || s.Key != "" {
			if err = r.marks.Sample(); err != nil {
				err = r.fail(r.at, err, "")
			}
			return s, true, err
		}
		if more, err = r.marks.Mark(ctx, s.Fields[0], r.File, r.at); err != nil {
			err = r.fail(r.at, err, "")
		}
		if err != nil || !more {
			return nil, false, err
		}
	}
}
