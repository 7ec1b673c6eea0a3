// Package scan is the loop with which sources read a part, and the [Window] through which they read its file.
//
//	type source struct {
//		*scan.Source
//		opts Options
//	}
//
//	s := &source{opts: opts}
//	s.Source = scan.New(parts, scan.Format{Open: open, Unit: "row", Reader: func() scan.Reader { return &reader{opts: &s.opts} }, …})
//
// A [Source] opens parts, reuses readers, checks the context before each call of a reader, and places the errors of a
// context that ended and of a part with fewer samples than a run. A format is a [Reader], which starts at an offset of
// a part and finds one sample after another.
//
// Index is one pass over a part from its start; its samples have sizes in place of payload. Read is a pass over a
// number of samples from any sample on. Both use the same Reader, so both find the same samples. [Each] is a pass for a
// caller that takes many samples at a time.
//
// One source has another loop, jsonl.OpenFiles: Index and the first Read of a part list its files, the listing counts
// only if it is complete, and the files that no line names follow the last sample.
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

// A Reader reads the samples of one part after another. It must not be used concurrently. It is a pointer: idle ones are
// the keys of a map.
type Reader interface {
	// Begin prepares a pass. It is called again for the next pass, also after an error.
	Begin(ctx context.Context, p *Pass) error

	// Next returns the next spans: up to want samples, as Shapes, and skipped entries. It returns none at the end of the
	// part, else one or more; several save calls for small samples. The spans are valid until the next call. Read uses
	// only their Shapes. Next is not called after an error.
	Next(ctx context.Context, want int64) ([]converters.Span, error)

	// Offset returns the current offset in the part, in bytes.
	Offset() int64

	// End ends a pass, also one whose Begin failed. The file of the pass is already closed.
	End()
}

// A Pass is one sequential reading of a part.
type Pass struct {
	Run   converters.Run // the samples; for Index, the whole part
	Part  converters.Part
	File  converters.File // the part
	Index bool            // samples have sizes in place of payload
}

// Access describes how the pass reads its file.
func (p *Pass) Access() converters.Access {
	if p.Index {
		return converters.Cached
	}
	return converters.ForRun(p.Run)
}

// A Format is what a source has of its own.
type Format struct {
	Open   Opener        // nil: parts are not single files, and a pass has no file
	Unit   string        // name of a sample, for messages: row, item
	Reader func() Reader // returns a new Reader

	With     func(first int, parts []converters.Part) converters.Source // see converters.Divisible
	Describe func() converters.Description                              // see converters.Describer; nil: the zero Description
	Doubts   func() []converters.Doubt                                  // see converters.Doubter; nil: none

	// Rows returns a function for ReadRows, or nil if the samples are not rows; nil: they never are. The function
	// returns the last taken samples that Next returned, and those that the Reader has decoded after them and passes.
	Rows func() func(r Reader, taken int) (data []byte, rows int)
}

// A Source is an opened list of parts. It holds no file open between calls.
type Source struct {
	parts  []converters.Part
	format Format

	mu   sync.Mutex
	idle map[Reader]converters.Run // Readers without a pass, and the last run of each
}

var (
	_ converters.Source    = (*Source)(nil)
	_ converters.Describer = (*Source)(nil)
	_ converters.Divisible = (*Source)(nil)
	_ converters.Doubter   = (*Source)(nil)
	_ converters.RowSource = (*Source)(nil)
)

// New returns a source of parts; it does not open them.
func New(parts []converters.Part, format Format) *Source {
	return &Source{parts: parts, format: format, idle: make(map[Reader]converters.Run)}
}

func (s *Source) WithParts(first int, parts []converters.Part) converters.Source {
	return s.format.With(first, parts)
}

func (s *Source) Describe() (d converters.Description) {
	if s.format.Describe != nil {
		d = s.format.Describe()
	}
	return d
}

func (s *Source) Doubts() []converters.Doubt {
	if s.format.Doubts != nil {
		return s.format.Doubts()
	}
	return nil
}

// Parts lists the parts in dataset order.
func (s *Source) Parts() []converters.Part { return s.parts }

// Index yields the samples of part p, with sizes in place of payload, and the entries that it skips.
func (s *Source) Index(ctx context.Context, p int) iter.Seq2[*converters.Span, error] {
	return Spans(ctx, s, converters.Run{Part: p, Count: math.MaxInt64})
}

// Spans is Index for the samples of a run. If the part has fewer samples, it ends without an error.
func Spans(ctx context.Context, s *Source, run converters.Run) iter.Seq2[*converters.Span, error] {
	return each(ctx, s, run, true, func(_ Reader, spans []converters.Span, yield func(*converters.Span, error) bool) (samples int64, more bool) {
		for i := range spans {
			if !yield(&spans[i], nil) {
				return samples, false
			}
			if spans[i].Shape != nil {
				samples++
			}
		}
		return samples, true
	})
}

// Read yields the samples of a run. It reads the part from run.Off in large reads. The bytes of a sample may be in the
// read buffer.
func (s *Source) Read(ctx context.Context, run converters.Run) iter.Seq2[*converters.Sample, error] {
	return each(ctx, s, run, false, func(_ Reader, spans []converters.Span, yield func(*converters.Sample, error) bool) (samples int64, more bool) {
		for i := range spans {
			if shape := spans[i].Shape; shape != nil {
				if samples++; !yield(shape, nil) {
					return samples, false
				}
			}
		}
		return samples, true
	})
}

// each yields what f makes of the spans of a run, then the error of Each.
func each[T any](ctx context.Context, s *Source, run converters.Run, index bool, f func(r Reader, spans []converters.Span, yield func(T, error) bool) (int64, bool)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		err := Each(ctx, s, run, index, func(r Reader, spans []converters.Span) (int64, bool) { return f(r, spans, yield) })
		if err != nil {
			var none T
			yield(none, err)
		}
	}
}

// reader returns the idle Reader whose last run ended where this one begins, because it may continue; else any idle one,
// else a new one. A sync.Pool may make a new one while another thread's is idle.
func (s *Source) reader(run converters.Run) (r Reader) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for some, was := range s.idle {
		if r = some; was.Part == run.Part && was.First+was.Count == run.First {
			break
		}
	}
	if r == nil {
		return s.format.Reader()
	}
	delete(s.idle, r)
	return r
}

// idleOfIndex is how many Readers are kept after an index, which uses 32 at once or more; later passes use as many as there are
// workers. Each has some MiB.
const idleOfIndex = 4

// Each calls f with the spans of a run, several at a time. f returns how many samples of the run it used, and whether
// to continue. A part with fewer samples than the run is an error, unless index is set.
func Each(ctx context.Context, s *Source, run converters.Run, index bool, f func(Reader, []converters.Span) (int64, bool)) error {
	if run.Count <= 0 {
		return nil
	}
	p := Pass{Run: run, Part: s.parts[run.Part], Index: index}
	if err := ctx.Err(); err != nil {
		return &converters.Error{Where: p.Part.Name, Off: -1, Err: err}
	}
	if s.format.Open != nil {
		f, err := s.format.Open(p.Part, p.Access())
		if err != nil {
			return err
		}
		p.File = f
	}
	r := s.reader(run)
	defer func() {
		if p.File != nil {
			p.File.Close()
		}
		r.End()
		s.mu.Lock()
		defer s.mu.Unlock()
		if !index || len(s.idle) < idleOfIndex {
			s.idle[r] = run
		}
	}()
	if err := r.Begin(ctx, &p); err != nil {
		return err
	}
	for left := run.Count; left > 0; {
		if err := ctx.Err(); err != nil {
			return &converters.Error{Where: p.Part.Name, Off: r.Offset(), Err: err}
		}
		spans, err := r.Next(ctx, left)
		if err != nil {
			return err
		}
		if len(spans) == 0 {
			if index {
				return nil
			}
			err := fmt.Errorf("%w: the part ends after %d of the %d %ss from offset %d", converters.ErrTruncated, run.Count-left, run.Count, s.format.Unit, run.Off)
			return &converters.Error{Where: p.Part.Name, Off: r.Offset(), Err: err}
		}
		samples, more := f(r, spans)
		if !more {
			return nil
		}
		left -= samples
	}
	return nil
}
