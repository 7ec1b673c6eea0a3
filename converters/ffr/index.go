package ffr

import (
	"cmp"
	"context"
	"iter"
	"math"
	"sync"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/sidecar"
	"github.com/ffconvert/ffconvert/record"
)

// Index yields the samples of a shard. It checks the header, the last record and the index, and reads no other
// payload unless records are decoded or Options.Load is set.
func (s *Source) Index(ctx context.Context, part int) iter.Seq2[*converters.Span, error] {
	return s.indexRun(ctx, converters.Run{Part: part, Count: math.MaxInt64}, func() error { return s.checkShard(part) })
}

// indexSamples is the number of samples in an iterator of IndexRuns. Only shards of small samples have several.
const (
	indexSamples = 32 << 10
	indexSmall   = 4 << 10 // bytes
)

// IndexRuns is Index in several iterators, which may be used concurrently.
func (s *Source) IndexRuns(ctx context.Context, part int) (all []iter.Seq2[*converters.Span, error]) {
	size := s.Parts()[part].Size
	if size <= indexSamples*record.FileSize(1, 0) {
		return append(all, s.Index(ctx, part))
	}
	head, err := s.Head(part)
	if err != nil {
		err = cmp.Or(s.checkShard(part), err) // the former says more of a damaged shard
		return append(all, func(yield func(*converters.Span, error) bool) { yield(nil, err) })
	}
	if size > head.Samples*indexSmall {
		return append(all, s.Index(ctx, part))
	}
	check := sync.OnceValue(func() error { return s.checkShard(part) })
	for first := int64(0); first < head.Samples; first += indexSamples {
		all = append(all, s.indexRun(ctx, converters.Run{Part: part, First: first, Count: min(indexSamples, head.Samples-first)}, check))
	}
	return all
}

func (s *Source) indexRun(ctx context.Context, run converters.Run, check func() error) iter.Seq2[*converters.Span, error] {
	return func(yield func(*converters.Span, error) bool) {
		if err := check(); err != nil {
			yield(nil, err)
			return
		}
		s.IndexRun(ctx, run)(yield)
	}
}

func (s *Source) checkShard(part int) error {
	return s.sound(part, func() error { return s.checkShardOnce(part) })
}

func (s *Source) checkShardOnce(part int) error {
	f, err := s.open(s.Parts()[part], converters.Cached)
	if err != nil {
		return err
	}
	defer f.Close()
	x, err := s.openShard(part, f)
	if err != nil {
		return err
	}
	defer x.close()
	if x.info, err = record.CheckHeader(f, x.part.Name, x.part.Size, s.opts.Record); err != nil {
		return x.fail(-1, -1, "", err)
	}
	if err := x.checkKnown(); err != nil {
		return err
	}
	return x.checkIndex()
}

// A whole makes samples that hold the whole record.
type whole struct {
	size   int64
	fields [2]converters.Field
	shape  converters.Sample
}

// sample returns the sample for a row of the index and the record at e. It is valid until the next call.
func (w *whole) sample(row *sidecar.Row, e record.Extent, v converters.Value) *converters.Sample {
	w.size = e.Size
	w.fields[0] = converters.Field{Name: RecordField, Value: v}
	fields := w.fields[:1]
	if row.Labeled {
		w.fields[1] = converters.Field{Name: labelField, Value: converters.Int(row.Label)}
		fields = w.fields[:2]
	}
	w.shape = converters.Sample{Key: row.Key, Off: e.Off, Fields: fields}
	return &w.shape
}
