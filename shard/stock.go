package shard

import (
	"context"
	"errors"

	"github.com/ffconvert/ffconvert/converters"
)

// A Stock is a dataset of which only some parts are here at a time. Its methods may be
// called concurrently.
type Stock interface {
	// Parts lists all parts in dataset order: names, sizes as they are stored, marks. They
	// need have no path. The slice must not be changed.
	Parts() []converters.Part

	// Take makes parts first … first+n-1 local and opens a source that has these parts
	// alone, in this order. It may wait for room. They stay until release is called.
	Take(ctx context.Context, first, n int) (src converters.Source, release func() error, err error)
}

// A local stock has all parts here all the time.
type local struct {
	converters.Source
	whole bool // for a plan of whole parts
}

func (l local) Take(_ context.Context, first, n int) (converters.Source, func() error, error) {
	src := l.Source
	if l.whole {
		d, ok := src.(converters.Divisible)
		if !ok {
			return nil, nil, errIndivisible
		}
		src = d.WithParts(first, src.Parts()[first:first+n])
	}
	return src, func() error { return nil }, nil
}

var errIndivisible = errors.New("shards of whole parts cannot be made of such a source")

// A task is a shard that can be written now: what it is read from is here.
type task struct {
	*Shard
	plan    *Plan // whose parts are those of src
	src     converters.Source
	first   int   // of the dataset's parts, the first one of src
	stored  int64 // bytes of these where they are stored; of a plan of whole parts alone
	release func() error
}

// take makes shard i ready to be written.
func (w *writer) take(ctx context.Context, i int) (*task, error) {
	s := &w.plan.Shards[i]
	src, release, err := w.stock.Take(ctx, s.First, s.Parts)
	if err != nil {
		return nil, err
	}
	t := &task{Shard: s, plan: w.plan, src: src, first: s.First, release: release}
	if w.plan.Whole != nil {
		t.stored = w.plan.Stored(i)
	}
	return t, nil
}

// counted is what is told of one pass over the shard: writing it, or reading it again. Where its
// parts alone were known beforehand, they count.
func (w *writer) counted(t *task) Progress {
	if w.plan.Whole == nil {
		return w.progress
	}
	return &scaled{Progress: w.progress, from: t.Bytes, to: t.stored}
}

// settle finds the samples of a shard of whole parts.
func (k *worker) settle(ctx context.Context, t *task) error {
	encodings := Encodings{Specs: k.specs}
	for _, p := range k.plan.Parts[t.first:][:t.Parts] {
		encodings.Of = append(encodings.Of, p.Encode)
	}
	parts, err := indexAll(ctx, t.src, encodings, len(k.encoders), silent{})
	if err != nil {
		return err
	}
	if t.plan, err = k.plan.settle(t.Shard, parts); err != nil {
		return err
	}
	t.Shard = &t.plan.Shards[0]
	return nil
}
