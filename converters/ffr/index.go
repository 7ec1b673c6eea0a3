package ffr

import (
	"context"
	"iter"
	"math"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/sidecar"
	"github.com/ffconvert/ffconvert/record"
)

// extentsAtOnce is how many rows of a header are read at once: 96 KiB.
const extentsAtOnce = 8192

// Index yields the samples of a shard. It checks the header, the last record and the index, and reads no other
// payload unless records are decoded or Options.Load is set.
func (s *Source) Index(ctx context.Context, part int) iter.Seq2[converters.Span, error] {
	return func(yield func(converters.Span, error) bool) {
		err := s.CheckShard(part)
		if err == nil {
			err = s.index(ctx, converters.Run{Part: part, Count: math.MaxInt64}, yield)
		}
		if err != nil {
			yield(converters.Span{}, err)
		}
	}
}

// CheckShard checks what Index checks.
func (s *Source) CheckShard(part int) error {
	x, err := s.openShard(part, converters.ForIndex)
	if err != nil {
		return err
	}
	defer x.close()
	if x.info, err = record.CheckHeader(x.tables, x.part.Name, x.part.Size, s.opts.Record); err != nil {
		return x.fail(-1, -1, "", err)
	}
	if err := x.checkKnown(); err != nil {
		return err
	}
	return x.checkIndex()
}

// IndexRun yields the samples of a run as Index does. The caller has checked the shard with CheckShard: so several
// runs of one shard can be indexed at once.
func (s *Source) IndexRun(ctx context.Context, run converters.Run) iter.Seq2[converters.Span, error] {
	return func(yield func(converters.Span, error) bool) {
		if err := s.index(ctx, run, yield); err != nil {
			yield(converters.Span{}, err)
		}
	}
}

func (s *Source) index(ctx context.Context, run converters.Run, yield func(converters.Span, error) bool) error {
	x, err := s.openRun(&run, converters.ForIndex)
	if err != nil {
		return err
	}
	defer x.close()
	x.file = x.tables
	if x.decode != nil || s.opts.Load {
		_, err := s.readRun(ctx, x, run, new(reader), func(sample *converters.Sample) bool {
			return yield(converters.Span{Off: sample.Off, Entries: 1, Shape: sample}, nil)
		})
		return err
	}
	var w whole
	var at []record.Extent
	for first, end := run.First, run.First+run.Count; first < end; first += int64(len(at)) {
		if err := ctx.Err(); err != nil {
			return x.fail(-1, -1, "", err)
		}
		if at, err = record.ReadExtents(x.tables, x.info, first, min(extentsAtOnce, end-first), at[:0]); err != nil {
			return x.fail(-1, -1, "", err)
		}
		for i, e := range at {
			row, err := x.row(first+int64(i), e)
			if err != nil {
				return err
			}
			before := w.size
			shape := w.sample(row, e, converters.Opaque(e.Size))
			alike := first+int64(i) > run.First && before == w.size && x.rows == nil
			if !yield(converters.Span{Off: e.Off, Entries: 1, Shape: shape, Alike: alike}, nil) {
				return nil
			}
		}
	}
	return nil
}

// A whole makes samples that are whole records.
type whole struct {
	size   int64
	fields [2]converters.Field
	shape  converters.Sample
}

// sample returns the sample of a row of the index, at e. It is valid until the next one.
func (w *whole) sample(row *sidecar.Row, e record.Extent, v converters.Value) *converters.Sample {
	w.size = e.Size
	w.fields[0] = converters.Field{Name: RecordField, Value: v}
	fields := w.fields[:1]
	if row.Labeled {
		w.fields[1] = converters.Field{Name: LabelField, Value: converters.Int(row.Label)}
		fields = w.fields[:2]
	}
	w.shape = converters.Sample{Key: row.Key, Off: e.Off, Fields: fields}
	return &w.shape
}
