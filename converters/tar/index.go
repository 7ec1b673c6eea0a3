package tar

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/ffconvert/ffconvert/converters"
)

// Index yields the samples of tar p, the members that are passed over, and what the
// options waived. It reads headers and what precedes and follows members, and no payload
// but that of Options.Load and what lies between headers that are near each other. Off is
// the first block of the first member of a sample, its PAX header or long name included.
func (s *Source) Index(ctx context.Context, p int) iter.Seq2[converters.Span, error] {
	return func(yield func(converters.Span, error) bool) {
		if err := s.index(ctx, s.parts[p], yield); err != nil {
			yield(converters.Span{}, err)
		}
	}
}

func (s *Source) index(ctx context.Context, p converters.Part, yield func(converters.Span, error) bool) error {
	f, err := s.open(p, converters.RandomAccess)
	if err != nil {
		return err
	}
	defer f.Close()
	var sc scanner
	sc.reset(&hopper{f: f}, p, &s.opts)
	sc.load = s.opts.Load
	seen := newKeys(f, p, s.opts.MaxHeader)

	for {
		if err := ctx.Err(); err != nil {
			return sc.fail(sc.c.offset(), nil, err, "")
		}
		step, err := sc.next()
		if err != nil {
			return err
		}
		switch step {
		case stepSkip:
			if !yield(converters.Span{Off: sc.ahead.off, Entries: 1, Skip: sc.reason, Name: string(sc.ahead.name)}, nil) {
				return nil
			}
		case stepSample:
			sample := &sc.group.sample
			first, again, err := seen.add(sample.Key, sample.Off)
			if err != nil {
				return err
			}
			if again && !s.opts.KeepDuplicates {
				return sc.fail(sample.Off, []byte(sample.Key), fmt.Errorf("%w key: it was at offset %d, with others between", converters.ErrDuplicate, first), "--on-duplicate-key keep")
			}
			if again && !yield(converters.Span{Off: sample.Off, Skip: waivedDuplicate, Name: sample.Key, Waived: true}, nil) {
				return nil
			}
			if sc.group.pathed && !yield(converters.Span{Off: sample.Off, Skip: waivedPath, Name: sample.Key, Waived: true}, nil) {
				return nil
			}
			if !yield(converters.Span{Off: sample.Off, Entries: len(sample.Fields), Shape: sample}, nil) {
				return nil
			}
		case stepBad:
			sample := &sc.group.sample
			if !yield(converters.Span{Off: sample.Off, Entries: len(sample.Fields), Skip: skipBad, Name: sample.Key}, nil) {
				return nil
			}
		case stepEnd:
			end, err := sc.trailer(&s.opts)
			if err != nil {
				return err
			}
			at := sc.c.offset()
			if end.missing && !yield(converters.Span{Off: at, Skip: waivedTrailer, Waived: true}, nil) {
				return nil
			}
			if !end.more {
				return nil
			}
			if !yield(converters.Span{Off: at, Skip: waivedAppended, Waived: true}, nil) {
				return nil
			}
		}
	}
}

// readError tells of a read that gave less than the part's size promised.
func readError(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: it became shorter", converters.ErrChanged)
	}
	return err
}
