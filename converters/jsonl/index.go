package jsonl

import (
	"context"
	"fmt"
	"iter"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/endmark"
	"github.com/ffconvert/ffconvert/decode"
)

// A reader reads the objects of a part. Readers are reused.
type reader struct {
	splitter
	decoder    *decode.Decoder
	marks      *endmark.Marks // of the part; nil: Read, for which Index has compared them
	requireEnd bool
}

// next decodes the next line: a sample, nil for an empty line, or false at the end of the part. The sample is valid
// until the next call.
func (r *reader) next(ctx context.Context) (*converters.Sample, bool, error) {
	if err := ctx.Err(); err != nil {
		return nil, false, &converters.Error{Where: r.part, Off: r.Offset(), Err: err}
	}
	for {
		more, err := r.splitter.next()
		if err == nil && !more {
			err = r.end()
		}
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
		if len(s.Fields) != 1 || !endmark.Is(s.Fields[0].Name) || s.Key != "" {
			return s, true, r.counted()
		}
		if more, err := r.mark(ctx, s.Fields[0]); err != nil || !more {
			return nil, false, err
		}
	}
}

// counted counts a sample.
func (r *reader) counted() error {
	if r.marks == nil {
		return nil
	}
	if err := r.marks.Sample(); err != nil {
		return r.fail(r.at, err, "")
	}
	return nil
}

// mark takes the mark that the current line is. more is false where no sample can follow it in a run.
func (r *reader) mark(ctx context.Context, f converters.Field) (more bool, err error) {
	if r.marks == nil {
		return f.Name == endmark.Begin, nil
	}
	if err := r.marks.Mark(ctx, f.Name, f.Value, r.File, r.at); err != nil {
		return false, r.fail(r.at, err, "")
	}
	return true, nil
}

// end is called at the end of the part.
func (r *reader) end() error {
	if r.marks == nil {
		return nil
	}
	if hint, err := r.marks.Close(r.requireEnd); err != nil {
		return &converters.Error{Where: r.part, Off: r.Size, Err: err, Hint: hint}
	}
	return nil
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
	if r.marks, r.requireEnd = nil, s.opts.RequireEnd; how == converters.ForIndex {
		r.marks = new(endmark.Marks)
	}
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
