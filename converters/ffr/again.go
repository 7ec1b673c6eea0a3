package ffr

import (
	"context"
	"errors"
	"iter"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
	"github.com/ffconvert/ffconvert/internal/sidecar"
	"github.com/ffconvert/ffconvert/record"
)

// rereads is how often what came damaged over a network is read again. What is judged at once may have come by several requests.
const rereads = 4

// damaged reports whether damaged bytes of a part that is read over a network could have led to an error.
func (s *Source) damaged(part int, err error) bool {
	return s.Parts()[part].IsObject() && (errors.Is(err, record.ErrCorrupt) || errors.Is(err, record.ErrTooLarge) || errors.Is(err, sidecar.ErrMalformed))
}

// sound calls read, which reads some bytes of a part and judges them, again while they come damaged.
func (s *Source) sound(part int, read func() error) error {
	err := read()
	for n := 0; n < rereads && s.damaged(part, err); n++ {
		err = read()
	}
	return err
}

// Read yields the samples of a run. From a sample on that comes damaged over a network, it reads again.
func (s *Source) Read(ctx context.Context, run converters.Run) iter.Seq2[*converters.Sample, error] {
	return again(s, run, func(left converters.Run) iter.Seq2[*converters.Sample, error] { return s.Source.Read(ctx, left) })
}

// IndexRun is Index for the samples of a run of a shard that Index has checked.
func (s *Source) IndexRun(ctx context.Context, run converters.Run) iter.Seq2[*converters.Span, error] {
	return again(s, run, func(left converters.Run) iter.Seq2[*converters.Span, error] { return scan.Spans(ctx, s.Source, left) })
}

func again[T any](s *Source, run converters.Run, read func(left converters.Run) iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for failed, damaged := 0, true; damaged; {
			damaged = false
			for x, err := range read(run) {
				if damaged = failed < rereads && s.damaged(run.Part, err); damaged {
					failed++
					break
				}
				if !yield(x, err) {
					return
				}
				failed, run.First, run.Count = 0, run.First+1, run.Count-1
			}
		}
	}
}
