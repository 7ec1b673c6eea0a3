package shard

import (
	"context"
	"errors"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
)

// tableRow is what a sample costs in a shard beside its record: its CRC and offset in
// the header.
const tableRow = 12

// A PartIndex is what planning needs to know of one part: its account, and 8 bytes a
// sample.
type PartIndex struct {
	Part
	places        // by what a sample costs in shard bytes; one that is left out costs nothing
	largest int64 // cost of the largest sample
}

// add takes one sample that starts at off; size is that of its record, -1 where it is
// left out.
func (p *PartIndex) add(off, size int64) {
	cost := size + tableRow
	if size < 0 {
		cost = 0
	}
	p.places.add(off, cost)
	p.largest = max(p.largest, cost)
}

// Index indexes all parts of a source, so many at once, and sizes every record that
// will be made of them. The errors of all refused parts are joined.
func Index(ctx context.Context, src converters.Source, spec *encode.Spec, workers int, progress Progress) ([]PartIndex, error) {
	parts := src.Parts()
	total := int64(0)
	for _, p := range parts {
		total += p.Size
	}
	progress = startPhase(progress, "index", total)
	indexes := make([]PartIndex, len(parts))
	errs := make([]error, len(parts))
	var g errgroup.Group
	g.SetLimit(max(1, workers))
	for i := range parts {
		g.Go(func() error {
			if errs[i] = ctx.Err(); errs[i] == nil {
				indexes[i], errs[i] = indexPart(ctx, src, i, spec.NewEncoder(), progress)
			}
			return nil
		})
	}
	g.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return indexes, errors.Join(errs...)
}

func indexPart(ctx context.Context, src converters.Source, i int, enc *encode.Encoder, to Progress) (PartIndex, error) {
	part := src.Parts()[i]
	idx := PartIndex{Part: Part{Name: part.Name, Size: part.Size}}
	progress := &tally{to: to}
	defer progress.flush()
	var files *fileTrace
	if part.Path == "" {
		files = newFileTrace()
	}
	var sizer sizer
	at := int64(0)
	for span, err := range src.Index(ctx, i) {
		if err != nil {
			return idx, err
		}
		if span.Shape == nil {
			idx.Account.skip(&span)
			continue
		}
		size, err := sizer.size(enc, &span, &idx.Account)
		if err != nil {
			return idx, &converters.Error{Part: part.Name, Off: span.Off, Entry: span.Shape.Key, Err: err}
		}
		if files != nil {
			files.add(&span)
		}
		idx.add(span.Off, size)
		progress.add(1, span.Off-at)
		at = span.Off
	}
	sizer.close(&idx.Account)
	if files != nil {
		files.sum(&idx.Part)
	}
	progress.add(0, idx.Size-at)
	idx.trim()
	return idx, nil
}

// A sizer sizes records and enters their samples in an account. Alike samples are sized
// once and counted, and entered when one comes that differs: rows of numbers cost less
// to count than to encode.
type sizer struct {
	last   converters.Sample // the shape that was sized last
	record int64             // its size; -1: left out
	put    int               // fields of it that go into the record
	alike  int64             // samples like it that are not in the account yet
	counts []fieldCount      // of the fields of samples with the names of the last, likewise
}

// size returns the size of the record made of the span's sample, -1 where it is left out.
func (z *sizer) size(enc *encode.Encoder, span *converters.Span, a *Account) (int64, error) {
	a.Entries += int64(span.Entries)
	if span.Alike && z.last.Fields != nil {
		z.alike++
		return z.record, nil
	}
	z.flush(a)
	rec, err := enc.Encode(span.Shape)
	z.record, z.put = rec.Size, rec.Fields
	if errors.Is(err, encode.ErrSkip) {
		z.record, z.put, err = -1, 0, nil
	}
	if err != nil {
		return 0, err
	}
	z.last.Key = span.Shape.Key
	z.last.Fields = append(z.last.Fields[:0], span.Shape.Fields...)
	z.alike = 1
	return z.record, nil
}

// flush enters what was counted.
func (z *sizer) flush(a *Account) {
	n := z.alike
	z.alike = 0
	if n == 0 {
		return
	}
	a.Samples += n
	if z.last.Key != "" {
		a.Keys += n
	}
	a.Fields += n * int64(len(z.last.Fields))
	a.FieldsLeftOut += n * int64(len(z.last.Fields)-z.put)
	if z.record < 0 {
		a.SamplesLeftOut += n
		return
	}
	if !slices.EqualFunc(z.counts, z.last.Fields, func(c fieldCount, f converters.Field) bool { return c.name == f.Name }) {
		z.close(a)
		for i := range z.last.Fields {
			z.counts = append(z.counts, fieldCount{name: z.last.Fields[i].Name})
		}
	}
	for i := range z.counts {
		z.counts[i].Samples += n
		z.counts[i].Bytes += n * z.last.Fields[i].Value.Len()
	}
}

// close enters the fields too.
func (z *sizer) close(a *Account) {
	z.flush(a)
	for _, c := range z.counts {
		a.saw(c.name, c.FieldCount)
	}
	z.counts = z.counts[:0]
}

// A fieldCount is the count of a named field.
type fieldCount struct {
	name string
	FieldCount
}
