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

// A PartIndex is what planning needs to know of one part: its account, and 16 bytes a
// sample.
type PartIndex struct {
	Part
	offs    []int64 // where each sample starts in the part
	ends    []int64 // cost in shard bytes of all samples up to this one; one that is left out costs nothing
	largest int64   // cost of the largest sample
}

// add takes one sample that starts at off; size is that of its record, -1 where it is
// left out.
func (p *PartIndex) add(off, size int64) {
	cost := size + tableRow
	if size < 0 {
		cost = 0
	}
	p.offs = append(p.offs, off)
	p.ends = append(p.ends, p.cost()+cost)
	p.largest = max(p.largest, cost)
}

// cost returns the cost of all samples of the part.
func (p *PartIndex) cost() int64 {
	if len(p.ends) == 0 {
		return 0
	}
	return p.ends[len(p.ends)-1]
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

func indexPart(ctx context.Context, src converters.Source, i int, enc *encode.Encoder, progress Progress) (PartIndex, error) {
	part := src.Parts()[i]
	idx := PartIndex{Part: Part{Name: part.Name, Size: part.Size}}
	at := int64(0)
	for span, err := range src.Index(ctx, i) {
		if err != nil {
			return idx, err
		}
		if span.Shape == nil {
			idx.Account.skip(&span)
			continue
		}
		size, err := recordSize(enc, span.Shape, &idx.Account)
		if err != nil {
			return idx, &converters.Error{Part: part.Name, Off: span.Off, Entry: span.Shape.Key, Err: err}
		}
		idx.Account.Entries += int64(span.Entries)
		idx.add(span.Off, size)
		progress.Add(1, span.Off-at)
		at = span.Off
	}
	progress.Add(0, part.Size-at)
	idx.offs, idx.ends = slices.Clone(idx.offs), slices.Clone(idx.ends) // drops the slack that appending left
	return idx, nil
}

// recordSize returns the size of the record made of shape, -1 where the sample is left
// out, and enters the sample in the account.
func recordSize(enc *encode.Encoder, shape *converters.Sample, a *Account) (int64, error) {
	a.Samples++
	a.Fields += int64(len(shape.Fields))
	rec, err := enc.Encode(shape)
	if errors.Is(err, encode.ErrSkip) {
		a.SamplesLeftOut++
		a.FieldsLeftOut += int64(len(shape.Fields))
		return -1, nil
	}
	if err != nil {
		return 0, err
	}
	a.FieldsLeftOut += int64(rec.LeftOut)
	a.names(shape)
	return rec.Size, nil
}
