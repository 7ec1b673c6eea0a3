package cbor

import (
	"context"
	"fmt"
	"iter"

	"github.com/ffconvert/ffconvert/converters"
)

// Index yields the items of part p. It reads heads, text and nested values. It skips a byte string
// that is the value of a field, and with Options.Items any byte string, if it is longer than the few
// KiB that are read with its head.
func (s *Source) Index(ctx context.Context, p int) iter.Seq2[converters.Span, error] {
	return func(yield func(converters.Span, error) bool) {
		if err := s.index(ctx, s.parts[p], yield); err != nil {
			yield(converters.Span{}, err)
		}
	}
}

func (s *Source) index(ctx context.Context, p converters.Part, yield func(converters.Span, error) bool) error {
	f, err := s.open(p, converters.ForIndex)
	if err != nil {
		return err
	}
	defer f.Close()
	var sc scanner
	sc.indexing(s, f, p)

	before := int64(-1) // size of the previous item, −1 if it had a key
	for {
		if err := ctx.Err(); err != nil {
			return &converters.Error{Where: p.Name, Off: sc.Offset(), Err: err}
		}
		ok, err := sc.next(ctx)
		if err != nil || !ok {
			return err
		}
		span := converters.Span{Off: sc.start, Entries: 1, Shape: &sc.sample}
		if s.opts.Items && !sc.loadItem {
			size := sc.Offset() - sc.start
			if sc.keyed {
				size = -1
			}
			span.Alike = size == before && !sc.keyed
			before = size
		}
		if !yield(span, nil) {
			return nil
		}
	}
}

// Read yields the items of a run. It reads the part sequentially from run.Off, in large reads. The
// bytes of a sample are in the read buffer, not copied.
func (s *Source) Read(ctx context.Context, run converters.Run) iter.Seq2[*converters.Sample, error] {
	return func(yield func(*converters.Sample, error) bool) {
		if run.Count <= 0 {
			return
		}
		sc, _ := s.readers.Get().(*scanner)
		if sc == nil {
			sc = new(scanner)
		}
		err := s.read(ctx, run, sc, yield)
		sc.File = nil
		s.readers.Put(sc)
		if err != nil {
			yield(nil, err)
		}
	}
}

func (s *Source) read(ctx context.Context, run converters.Run, sc *scanner, yield func(*converters.Sample, error) bool) error {
	p := s.parts[run.Part]
	f, err := s.open(p, converters.ForRun(run))
	if err != nil {
		return err
	}
	defer f.Close()
	sc.reading(s, f, p, run)

	for done := int64(0); done < run.Count; done++ {
		if err := ctx.Err(); err != nil {
			return &converters.Error{Where: p.Name, Off: sc.Offset(), Err: err}
		}
		sc.Last = done == run.Count-1
		ok, err := sc.next(ctx)
		if err != nil {
			return err
		}
		if !ok {
			return sc.fail(fmt.Errorf("%w: the part ends after %d of the %d items from offset %d", converters.ErrTruncated, done, run.Count, run.Off), "")
		}
		if !yield(&sc.sample, nil) {
			return nil
		}
	}
	return nil
}
