package plan

import (
	"context"
	"errors"
	"iter"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
)

// uneven is a part of 1,000 bytes in runs, the first of which has next to all of them.
type uneven struct{ converters.Source }

func (uneven) Parts() []converters.Part {
	return []converters.Part{{Name: "a", Path: "a", Size: 1000}}
}

func (u uneven) Index(context.Context, int) iter.Seq2[*converters.Span, error] { panic("in runs") }

func (u uneven) IndexRuns(context.Context, int) []iter.Seq2[*converters.Span, error] {
	run := func(offs ...int64) iter.Seq2[*converters.Span, error] {
		return func(yield func(*converters.Span, error) bool) {
			for _, off := range offs {
				shape := &converters.Sample{Fields: []converters.Field{{Name: "x", Value: converters.Opaque(1)}}}
				if !yield(&converters.Span{Off: off, Entries: 1, Shape: shape}, nil) {
					return
				}
			}
		}
	}
	return []iter.Seq2[*converters.Span, error]{run(100, 500, 900), run(910, 920), run(930)}
}

// refusing is a part in many runs, of which the second fails.
type refusing struct {
	uneven
	begun *atomic.Int64
}

var errRefused = errors.New("refused")

func (r refusing) IndexRuns(context.Context, int) (all []iter.Seq2[*converters.Span, error]) {
	for k := range 100 {
		all = append(all, func(yield func(*converters.Span, error) bool) {
			if r.begun.Add(1); k == 1 {
				yield(nil, errRefused)
			}
		})
	}
	return all
}

// The runs of a part behind one that fails are not begun.
func TestIndexEndsRefusedPart(t *testing.T) {
	t.Parallel()
	for _, workers := range []int{1, 4} {
		r := refusing{begun: new(atomic.Int64)}
		_, err := Index(t.Context(), r, IndexOptions{Workers: workers})
		if n := r.begun.Load(); !errors.Is(err, errRefused) || workers == 1 && n != 2 {
			t.Errorf("%d workers: %v, %d runs were begun", workers, err, n)
		}
	}
}

type counted struct {
	silent
	mu             sync.Mutex
	samples, bytes int64
	back           bool
}

func (c *counted) Add(samples, bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.samples, c.bytes, c.back = c.samples+samples, c.bytes+bytes, c.back || bytes < 0
}

// TestProgressOfRuns: the bytes of a part are counted once, and never taken back.
func TestProgressOfRuns(t *testing.T) {
	t.Parallel()
	for _, workers := range []int{1, 3} {
		c := &counted{}
		index, err := Index(t.Context(), uneven{}, IndexOptions{Workers: workers, Progress: c})
		if err != nil || index[0].N != 6 || c.samples != 6 || c.bytes != 1000 || c.back {
			t.Errorf("%d workers: %v, %+v", workers, err, c)
		}
	}
}
