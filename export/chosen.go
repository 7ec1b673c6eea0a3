package export

import (
	"context"
	"iter"
	"math"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/ffr"
	"github.com/ffconvert/ffconvert/internal/samples/choose"
)

// ByIndex reports whether options choose some samples by their keys and their order alone: records of other samples need not be
// read.
func ByIndex(o *choose.Options) bool { return !o.IsZero() && o.Where == "" && o.Sort == "" }

// A chosen is a source of which the samples in runs are chosen. Its index reads no records of others, which are whole there.
type chosen struct {
	converters.Source
	whole, samples *ffr.Source // the same shards
	runs           []converters.Run
}

func (c *chosen) Index(ctx context.Context, part int) iter.Seq2[*converters.Span, error] {
	return func(yield func(*converters.Span, error) bool) {
		at, more := converters.Run{Part: part}, true
		each := func(src *ffr.Source, end int64) {
			if at.Count = end - at.First; at.Count <= 0 {
				return
			}
			for span, err := range src.IndexRun(ctx, at) {
				if more = more && yield(span, err) && err == nil; !more {
					return
				}
			}
			at.First = end
		}
		for i := 0; i < len(c.runs) && more; i++ {
			if run := c.runs[i]; run.Part == part {
				if each(c.whole, run.First); more {
					each(c.samples, run.First+run.Count)
				}
			}
		}
		if more {
			each(c.whole, math.MaxInt64)
		}
	}
}
