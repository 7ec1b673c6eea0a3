package tar

import (
	"context"
	"fmt"
	"iter"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/window"
)

// Sizes of reads in bytes. The first read has the headers and the small members that lie together. Reads
// double where headers are near each other, with the payload between them, because with small members one
// read per header takes three quarters of the time of a conversion (BenchmarkIndex).
const (
	headerRead  = 4 << 10
	headerReads = 64 << 10
)

// Index yields the samples of tar p, skipped members, and accepted defects. It does not read payload,
// except for Options.Load and between headers that are near each other. The Off of a sample is the first
// block of its first member, including a PAX header or long name before that.
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
	var w window.Window
	w.Reset(f, p.Size, 0, window.Sizes{First: headerRead, Usual: headerReads})
	sc.reset(&w, p, &s.opts)
	sc.load, sc.sizes = s.opts.Load, true
	seen := newKeys(f, p, s.opts.MaxHeader)

	for {
		if err := ctx.Err(); err != nil {
			return sc.fail(sc.c.Offset(), nil, err, "")
		}
		ev, err := sc.next()
		if err != nil {
			return err
		}
		switch ev {
		case eventSkip:
			if !yield(converters.Span{Off: sc.ahead.off, Entries: 1, Skip: sc.reason, Name: string(sc.ahead.name)}, nil) {
				return nil
			}
		case eventSample:
			sample := &sc.group.sample
			first, again, err := seen.add(sample.Key, sample.Off)
			if err != nil {
				return err
			}
			if again && !s.opts.KeepDuplicates {
				return sc.fail(sample.Off, []byte(sample.Key), fmt.Errorf("%w key: it was at offset %d, with others between", converters.ErrDuplicate, first), "Options.KeepDuplicates")
			}
			if again && !yield(converters.Span{Off: sample.Off, Skip: acceptedDuplicate, Name: sample.Key, Accepted: true}, nil) {
				return nil
			}
			if sc.group.pathed && !yield(converters.Span{Off: sample.Off, Skip: acceptedPath, Name: sample.Key, Accepted: true}, nil) {
				return nil
			}
			if !yield(converters.Span{Off: sample.Off, Entries: len(sample.Fields), Shape: sample}, nil) {
				return nil
			}
		case eventBad:
			sample := &sc.group.sample
			if !yield(converters.Span{Off: sample.Off, Entries: len(sample.Fields), Skip: skipBad, Name: sample.Key}, nil) {
				return nil
			}
		case eventEnd:
			end, err := sc.trailer(&s.opts)
			if err != nil {
				return err
			}
			at := sc.c.Offset()
			if end.missing && !yield(converters.Span{Off: at, Skip: acceptedTrailer, Accepted: true}, nil) {
				return nil
			}
			if !end.more {
				return nil
			}
			if !yield(converters.Span{Off: at, Skip: acceptedAppended, Accepted: true}, nil) {
				return nil
			}
		}
	}
}
