package tar

import (
	"context"
	"fmt"
	"iter"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
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
	spans := func(yield func(converters.Span, error) bool) {
		if err := s.index(ctx, s.parts[p], yield); err != nil {
			yield(converters.Span{}, err)
		}
	}
	if p > 0 {
		return spans
	}
	return s.doubting(spans)
}

func (s *Source) index(ctx context.Context, p converters.Part, yield func(converters.Span, error) bool) error {
	f, err := s.open(p, converters.ForIndex)
	if err != nil {
		return err
	}
	defer f.Close()
	var sc scanner
	var w scan.Window
	w.Reset(f, p.Size, 0, scan.Sizes{First: headerRead, Usual: headerReads})
	sc.reset(&w, p, &s.opts)
	sc.load, sc.sizes = s.opts.Load, true
	_, err = s.indexMembers(ctx, &sc, newKeys(f, p, s.opts.MaxHeader), yield)
	return err
}

// indexMembers yields the spans of one tar, which sc has been reset to. more is false if yield ended the index.
func (s *Source) indexMembers(ctx context.Context, sc *scanner, seen *keys, yield func(converters.Span, error) bool) (more bool, err error) {
	for {
		if err := ctx.Err(); err != nil {
			return false, sc.fail(sc.c.Offset(), nil, err, "")
		}
		ev, err := sc.next()
		if err != nil {
			return false, err
		}
		sample := &sc.group.sample
		switch ev {
		case eventSkip:
			more = yield(converters.Span{Off: sc.ahead.off, Entries: 1, Skip: sc.reason, Name: sc.within(sc.ahead.name)}, nil)
		case eventSample:
			if err := sc.unlabelled(); err != nil {
				return false, err
			}
			more, err = s.indexSample(sc, seen, yield)
		case eventBad:
			more = yield(converters.Span{Off: sample.Off, Entries: sc.group.files, Skip: skipBad, Name: sample.Key}, nil)
		case eventEnd:
			end, err := sc.trailer(&s.opts)
			if err != nil {
				return false, err
			}
			at := sc.c.Offset()
			more = !end.missing || yield(converters.Span{Off: at, Skip: acceptedTrailer, Accepted: true}, nil)
			if !end.more || !more {
				return more, nil
			}
			more = yield(converters.Span{Off: at, Skip: acceptedAppended, Accepted: true}, nil)
		}
		if err != nil || !more {
			return false, err
		}
	}
}

// indexSample yields the sample that is complete, and oddities that are accepted in it.
func (s *Source) indexSample(sc *scanner, seen *keys, yield func(converters.Span, error) bool) (more bool, err error) {
	sample := &sc.group.sample
	first, again, err := seen.add(sample.Key, sample.Off)
	switch {
	case err != nil:
		return false, err
	case again && !s.opts.KeepDuplicates:
		return false, sc.fail(sample.Off, []byte(sample.Key), fmt.Errorf("%w key: it was at offset %d, with others between", converters.ErrDuplicate, first), "Options.KeepDuplicates")
	case again && !yield(converters.Span{Off: sample.Off, Skip: acceptedDuplicate, Name: sample.Key, Accepted: true}, nil):
		return false, nil
	case sc.group.pathed && !yield(converters.Span{Off: sample.Off, Skip: acceptedPath, Name: sample.Key, Accepted: true}, nil):
		return false, nil
	}
	return yield(converters.Span{Off: sample.Off, Entries: sc.group.files, Shape: sample}, nil), nil
}
