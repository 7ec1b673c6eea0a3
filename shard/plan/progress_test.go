package plan

import (
	"context"
	"iter"
	"sync"
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
