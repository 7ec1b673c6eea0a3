package csv

import (
	"context"
	"fmt"
	"iter"
	"math"

	"github.com/ffconvert/ffconvert/converters"
)

// Index yields the samples of part p, and as skipped entries its header line and empty lines. It checks
// every value of the selected columns, so that Read does not refuse what Index accepted.
func (s *Source) Index(ctx context.Context, p int) iter.Seq2[converters.Span, error] {
	return func(yield func(converters.Span, error) bool) {
		err := s.started(ctx, converters.Run{Part: p, Count: math.MaxInt64}, true, func(r *reader) error {
			return s.index(ctx, p, r, yield)
		})
		if err != nil {
			yield(converters.Span{}, err)
		}
	}
}

// started calls f with a reader that is at the start of a run. With check the samples are shapes.
func (s *Source) started(ctx context.Context, run converters.Run, check bool, f func(*reader) error) error {
	p := s.parts[run.Part]
	if err := ctx.Err(); err != nil {
		return &converters.Error{Where: p.Name, Off: -1, Err: err}
	}
	how := converters.ForRun(run)
	if check {
		how = converters.ForIndex
	}
	file, err := s.open(p, how)
	if err != nil {
		return err
	}
	defer file.Close()
	r := s.reader()
	err = r.start(s, file, p, run, check)
	if err == nil {
		err = f(r)
	}
	r.splitter.File = nil
	s.readers.Put(r)
	return err
}

func (s *Source) index(ctx context.Context, p int, r *reader, yield func(converters.Span, error) bool) error {
	mayBeAlike := r.decoder.alike()
	before := int64(-1) // rows of the previous sample
	found := converters.Span{Shape: &r.sample}
	for {
		ev, err := r.next(ctx)
		if err != nil {
			return err
		}
		more := true
		switch ev {
		case eventEnd:
			s.rounded.set(s.parts[p].Name, r.rounded)
			return nil
		case eventEmpty:
			more = yield(converters.Span{Off: r.splitter.at, Entries: 1, Skip: "empty line"}, nil)
		case eventHeader:
			more = yield(converters.Span{Off: r.splitter.at, Entries: 1, Skip: "header line"}, nil)
		case eventSample:
			rows := r.take()
			found.Off, found.Entries, found.Alike = r.sample.Off, int(rows), mayBeAlike && rows == before
			before = rows
			more = yield(found, nil) && (r.single == nil || r.alike(yield))
		}
		if !more {
			return nil
		}
	}
}

// alike yields the rows that were read ahead, each a sample like the one before it, and reports whether
// to go on.
//
// It sets the offsets of four spans before it yields them. The copy of a span for yield uses wider loads
// than the store of its offset, and such a load waits for the store to reach the cache.
func (r *reader) alike(yield func(converters.Span, error) bool) bool {
	r.unasked = 0
	offs := r.single.skipAhead()
	w := converters.Span{Entries: 1, Shape: &r.sample, Alike: true}
	x, y, z := w, w, w
	for ; len(offs) >= 4; offs = offs[4:] {
		w.Off, x.Off, y.Off, z.Off = offs[0], offs[1], offs[2], offs[3]
		r.sample.Off = w.Off
		if !yield(w, nil) {
			return false
		}
		r.sample.Off = x.Off
		if !yield(x, nil) {
			return false
		}
		r.sample.Off = y.Off
		if !yield(y, nil) {
			return false
		}
		r.sample.Off = z.Off
		if !yield(z, nil) {
			return false
		}
	}
	for _, off := range offs {
		r.sample.Off, w.Off = off, off
		if !yield(w, nil) {
			return false
		}
	}
	return true
}

// Read yields the samples of a run. It reads the part from run.Off in large reads, the last of which may
// go past the end of the run.
func (s *Source) Read(ctx context.Context, run converters.Run) iter.Seq2[*converters.Sample, error] {
	return func(yield func(*converters.Sample, error) bool) {
		if run.Count <= 0 {
			return
		}
		err := s.started(ctx, run, false, func(r *reader) error {
			for done := int64(1); ; done++ {
				if err := r.toSample(ctx, run, done-1); err != nil {
					return err
				}
				if !yield(&r.sample, nil) || done == run.Count {
					return nil
				}
			}
		})
		if err != nil {
			yield(nil, err)
		}
	}
}

// ReadRows is Read for samples of one packed row.
func (s *Source) ReadRows(ctx context.Context, run converters.Run) (iter.Seq2[converters.Rows, error], bool) {
	return func(yield func(converters.Rows, error) bool) {
		if run.Count <= 0 {
			return
		}
		err := s.started(ctx, run, false, func(r *reader) error {
			for done := int64(0); ; {
				if err := r.toSample(ctx, run, done); err != nil {
					return err
				}
				r.unasked = 0
				data, n := r.single.takeAhead()
				done += int64(n)
				if !yield(converters.Rows{Off: r.sample.Off, Count: n, Data: data}, nil) || done == run.Count {
					return nil
				}
			}
		})
		if err != nil {
			yield(converters.Rows{}, err)
		}
	}, s.schema.numeric && s.schema.form == Packed && s.opts.RowsPerSample == 1
}

// toSample makes the next sample of a run the current one, after done samples.
func (r *reader) toSample(ctx context.Context, run converters.Run, done int64) error {
	for {
		ev, err := r.next(ctx)
		switch {
		case err != nil:
			return err
		case ev == eventSample:
			r.take()
			return nil
		case ev == eventEnd:
			return r.splitter.fail(r.splitter.Offset(), fmt.Errorf("%w: the part ends after %d of the %d samples from offset %d", converters.ErrTruncated, done, run.Count, run.Off), "")
		}
	}
}
