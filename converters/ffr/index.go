package ffr

import (
	"context"
	"iter"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
	"github.com/ffconvert/ffconvert/internal/sidecar"
	"github.com/ffconvert/ffconvert/record"
)

// Index yields the samples of a shard. It checks the header, the last record and the index, and reads no other
// payload unless records are decoded or Options.Load is set.
func (s *Source) Index(ctx context.Context, part int) iter.Seq2[*converters.Span, error] {
	return func(yield func(*converters.Span, error) bool) {
		if err := s.CheckShard(part); err != nil {
			yield(nil, err)
			return
		}
		s.Source.Index(ctx, part)(yield)
	}
}

// CheckShard makes the checks of Index.
func (s *Source) CheckShard(part int) error {
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

// IndexRun yields the samples of a run as Index does. The caller must have called CheckShard; then several runs of one
// shard can be indexed concurrently.
func (s *Source) IndexRun(ctx context.Context, run converters.Run) iter.Seq2[*converters.Span, error] {
	return scan.Spans(ctx, s.Source, run)
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
