// Package scan is the loop of the sources over one part, and the [Window] through which they read its file.
//
//	type Source struct {
//		*scan.Source // Parts, Index, Read
//		opts Options
//	}
//
//	s := &Source{opts: opts}
//	s.Source = scan.New(parts, open, "row", func() scan.Reader { return &reader{opts: &s.opts} })
//
// A [Source] opens parts, keeps readers for the next pass, checks the context before each sample, and places the errors
// of a context that ended and of a part with fewer samples than a run. A format is a [Reader], which turns to an offset
// of a part and finds one sample after another from there.
//
// Index is one pass over a part from its start; its samples have sizes in place of payload. Read is a pass from any
// sample on, for a number of them. Both use the same Reader, so that both find the same samples. Each runs one pass for a
// caller that needs neither, such as a count of the first samples.
package scan

import (
	"context"
	"fmt"
	"iter"
	"math"
	"sync"

	"github.com/ffconvert/ffconvert/converters"
)

// An Opener opens a part, as converters.Files.Open does.
type Opener = func(converters.Part, converters.Access) (converters.File, error)

// A Reader reads the samples of one part after another. It is for one goroutine.
type Reader interface {
	// Begin prepares for a pass. It is called again for the next one, after an error too.
	Begin(ctx context.Context, p *Pass) error

	// Next returns the next spans: up to want samples, which are their Shapes, and skipped entries. It returns none at the
	// end of the part, else one or more; several save a call for each of many small samples. The spans are valid until
	// the next call. Read uses their Shapes alone. Next is not called after an error.
	Next(ctx context.Context, want int64) ([]converters.Span, error)

	// Offset returns the place in the part that was reached, in bytes.
	Offset() int64

	// End ends a pass, also one whose Begin failed. The file of the pass is closed before.
	End()
}

// A Pass is one way through a part.
type Pass struct {
	Run   converters.Run // the samples; of Index, the whole part
	Part  converters.Part
	File  converters.File // the part
	Index bool            // samples have sizes in place of payload
}

// Access says how the file of the pass is read.
func (p *Pass) Access() converters.Access {
	if p.Index {
		return converters.ForIndex
	}
	return converters.ForRun(p.Run)
}

// A Source is an opened list of parts. It holds no file open between calls.
type Source struct {
	parts   []converters.Part
	open    Opener
	unit    string // a sample, for messages: row, item
	reader  func() Reader
	readers sync.Pool // of Reader
}

// New returns a source of parts, which does not open them. unit is what the format calls a sample. reader returns a new
// reader. If open is nil, parts are not single files, and a pass has no file.
func New(parts []converters.Part, open Opener, unit string, reader func() Reader) *Source {
	return &Source{parts: parts, open: open, unit: unit, reader: reader}
}

// Parts lists the parts in dataset order.
func (s *Source) Parts() []converters.Part { return s.parts }

// Index yields the samples of part p, with sizes in place of payload, and the entries that it skips.
func (s *Source) Index(ctx context.Context, p int) iter.Seq2[*converters.Span, error] {
	return Spans(ctx, s, converters.Run{Part: p, Count: math.MaxInt64})
}

// Spans is Index for the samples of a run, which ends with its part if that has fewer samples.
func Spans(ctx context.Context, s *Source, run converters.Run) iter.Seq2[*converters.Span, error] {
	return func(yield func(*converters.Span, error) bool) {
		err := Each(ctx, s, run, true, func(r Reader) error {
			for done := int64(0); done < run.Count; {
				if err := ctx.Err(); err != nil {
					return s.fail(run, r, err)
				}
				spans, err := r.Next(ctx, run.Count-done)
				if err != nil || len(spans) == 0 {
					return err
				}
				for i := range spans {
					if !yield(&spans[i], nil) {
						return nil
					}
					if spans[i].Shape != nil {
						done++
					}
				}
			}
			return nil
		})
		if err != nil {
			yield(nil, err)
		}
	}
}

// Read yields the samples of a run. It reads the part from run.Off in large reads. The bytes of a sample may be in the
// read buffer.
func (s *Source) Read(ctx context.Context, run converters.Run) iter.Seq2[*converters.Sample, error] {
	return func(yield func(*converters.Sample, error) bool) {
		err := Each(ctx, s, run, false, func(r Reader) error {
			for done := int64(0); done < run.Count; {
				spans, err := Samples(ctx, s, r, run, done)
				if err != nil {
					return err
				}
				for i := range spans {
					if spans[i].Shape == nil {
						continue
					}
					if done++; !yield(spans[i].Shape, nil) {
						return nil
					}
				}
			}
			return nil
		})
		if err != nil {
			yield(nil, err)
		}
	}
}

// Samples returns the next samples of a run, of which there were done before. A part that ends before its last one is an
// error.
func Samples(ctx context.Context, s *Source, r Reader, run converters.Run, done int64) ([]converters.Span, error) {
	if err := ctx.Err(); err != nil {
		return nil, s.fail(run, r, err)
	}
	spans, err := r.Next(ctx, run.Count-done)
	if err == nil && len(spans) == 0 {
		err = s.fail(run, r, fmt.Errorf("%w: the part ends after %d of the %d %ss from offset %d", converters.ErrTruncated, done, run.Count, s.unit, run.Off))
	}
	return spans, err
}

// fail places an error where a reader is.
func (s *Source) fail(run converters.Run, r Reader, err error) error {
	return &converters.Error{Where: s.parts[run.Part].Name, Off: r.Offset(), Err: err}
}

// Each calls f with a reader that has begun a pass over a run. It does nothing for a run without samples.
func Each(ctx context.Context, s *Source, run converters.Run, index bool, f func(Reader) error) error {
	if run.Count <= 0 {
		return nil
	}
	p := Pass{Run: run, Part: s.parts[run.Part], Index: index}
	if err := ctx.Err(); err != nil {
		return &converters.Error{Where: p.Part.Name, Off: -1, Err: err}
	}
	if s.open != nil {
		f, err := s.open(p.Part, p.Access())
		if err != nil {
			return err
		}
		p.File = f
	}
	r, ok := s.readers.Get().(Reader)
	if !ok {
		r = s.reader()
	}
	defer func() {
		if p.File != nil {
			p.File.Close()
		}
		r.End()
		s.readers.Put(r)
	}()
	if err := r.Begin(ctx, &p); err != nil {
		return err
	}
	return f(r)
}
