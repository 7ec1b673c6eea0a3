package features

import (
	"context"
	"fmt"
	"iter"

	"github.com/ffconvert/ffconvert/converters"
)

// acceptedUnknown is counted for a record with fields that its message does not have. They are skipped, as every
// reader of protocol buffers skips them.
const acceptedUnknown = "record with unknown fields"

// Index yields the records of part p. It reads records of up to smallRecord bytes and compares their checksums.
// Of larger ones it skips long values of bytes.
func (s *Source) Index(ctx context.Context, p int) iter.Seq2[converters.Span, error] {
	return func(yield func(converters.Span, error) bool) {
		if err := s.index(ctx, p, yield); err != nil {
			yield(converters.Span{}, err)
		}
	}
}

func (s *Source) index(ctx context.Context, part int, yield func(converters.Span, error) bool) error {
	p := s.parts[part]
	start, err := s.start(part)
	if err != nil {
		return err
	}
	f, size, err := s.openPart(part, converters.ForIndex)
	if err != nil {
		return err
	}
	defer f.Close()
	var sc scanner
	sc.indexing(s, f, p, size, start)

	before := int64(-1) // size of the previous record, if records are whole
	for {
		if err := ctx.Err(); err != nil {
			return &converters.Error{Where: p.Name, Off: sc.Offset(), Err: err}
		}
		ok, err := sc.next()
		if err != nil || !ok {
			return err
		}
		span := converters.Span{Off: sc.start, Entries: 1, Shape: &sc.sample}
		if s.opts.Whole {
			size := sc.Offset() - sc.start
			span.Alike = size == before
			before = size
		}
		if sc.unknown && !yield(converters.Span{Off: sc.start, Skip: acceptedUnknown, Name: sc.entry(), Accepted: true}, nil) {
			return nil
		}
		if !yield(span, nil) {
			return nil
		}
	}
}

// Read yields the records of a run. It reads the part sequentially from run.Off, in large reads, and compares every
// checksum. The bytes of a sample are in the read buffer, not copied.
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
	f, size, err := s.openPart(run.Part, converters.ForRun(run))
	if err != nil {
		return err
	}
	defer f.Close()
	sc.reading(s, f, p, size, run)

	for done := int64(0); done < run.Count; done++ {
		if err := ctx.Err(); err != nil {
			return &converters.Error{Where: p.Name, Off: sc.Offset(), Err: err}
		}
		sc.Last = done == run.Count-1
		ok, err := sc.next()
		if err != nil {
			return err
		}
		if !ok {
			return sc.fail(fmt.Errorf("%w: the part ends after %d of the %d records from offset %d", converters.ErrTruncated, done, run.Count, run.Off), "")
		}
		if !yield(&sc.sample, nil) {
			return nil
		}
	}
	return nil
}
