package jsonl

import (
	"context"
	"fmt"
	"iter"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
)

// A reader reads the objects of a part. Readers are reused.
type reader struct {
	splitter
	decoder *encode.Decoder
}

// next decodes the next line: a sample, nil for an empty line, or false at the end of the part. The sample is valid
// until the next call.
func (r *reader) next(ctx context.Context) (*converters.Sample, bool, error) {
	if err := ctx.Err(); err != nil {
		return nil, false, &converters.Error{Where: r.part, Off: r.Offset(), Err: err}
	}
	more, err := r.splitter.next()
	if err != nil || !more {
		return nil, false, err
	}
	if r.empty() {
		return nil, true, nil
	}
	s, err := r.decoder.Decode(r.line)
	if err != nil {
		return nil, false, r.refuse(err)
	}
	s.Off = r.at
	return s, true, nil
}

// started calls f with a reader that is at an offset of a part.
func (s *Source) started(ctx context.Context, part int, off int64, how converters.Access, f func(*reader) error) error {
	p := s.parts[part]
	if err := ctx.Err(); err != nil {
		return &converters.Error{Where: p.Name, Off: -1, Err: err}
	}
	file, err := s.open(p, how)
	if err != nil {
		return err
	}
	defer file.Close()
	r, _ := s.readers.Get().(*reader)
	if r == nil {
		r = &reader{decoder: s.opts.decoder()}
	}
	r.reset(file, p, off, s.opts.MaxLine)
	err = f(r)
	r.File = nil
	s.readers.Put(r)
	return err
}

// Index yields the objects of part p, and empty lines as skipped entries.
func (s *Source) Index(ctx context.Context, p int) iter.Seq2[converters.Span, error] {
	return func(yield func(converters.Span, error) bool) {
		err := s.started(ctx, p, 0, converters.ForIndex, func(r *reader) error {
			for {
				sample, more, err := r.next(ctx)
				if err != nil || !more {
					return err
				}
				span := converters.Span{Off: r.at, Entries: 1, Shape: sample}
				if sample == nil {
					span.Skip = "empty line"
				}
				if !yield(span, nil) {
					return nil
				}
			}
		})
		if err != nil {
			yield(converters.Span{}, err)
		}
	}
}

// Read yields the objects of a run. It reads the part from run.Off in large reads. A text without escapes is in the
// read buffer, not copied.
func (s *Source) Read(ctx context.Context, run converters.Run) iter.Seq2[*converters.Sample, error] {
	return func(yield func(*converters.Sample, error) bool) {
		if run.Count <= 0 {
			return
		}
		err := s.started(ctx, run.Part, run.Off, converters.ForRun(run), func(r *reader) error {
			for done := int64(0); done < run.Count; {
				sample, more, err := r.next(ctx)
				switch {
				case err != nil:
					return err
				case !more:
					return r.fail(r.Offset(), fmt.Errorf("%w: the part ends after %d of the %d samples from offset %d", converters.ErrTruncated, done, run.Count, run.Off), "")
				case sample == nil:
					continue
				}
				if done++; !yield(sample, nil) {
					return nil
				}
			}
			return nil
		})
		if err != nil {
			yield(nil, err)
		}
	}
}
