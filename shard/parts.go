package shard

import (
	"context"
	"errors"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A Stock is a dataset of which only some parts are here at a time. Its methods may be
// called concurrently.
type Stock interface {
	// Parts lists all parts in dataset order: names, sizes as they are stored, marks. They
	// need have no path. The slice must not be changed.
	Parts() []converters.Part

	// Take makes parts first … first+n-1 local and opens a source that has these parts
	// alone, in this order. It may wait for room; ctx is of the taking alone. The parts stay
	// until release is called.
	Take(ctx context.Context, first, n int) (src converters.Source, release func() error, err error)
}

// A Led stock is of a slice, and opened by that part of the dataset (Slice.Lead) which shows what all
// have and is not one of the slice's. That part must be what it was, too.
type Led interface {
	Stock
	// Lead returns that part; false where it is one of the stock's own, or none is needed.
	Lead() (converters.Part, bool)
}

// A local stock has all parts here all the time.
type local struct {
	converters.Source
	whole bool // for a plan of whole parts
}

// Local is the stock of a source all of whose parts are here, for plans that are cut at samples.
func Local(src converters.Source) Stock { return local{src, false} }

func (l local) Take(_ context.Context, first, n int) (converters.Source, func() error, error) {
	src := l.Source
	if l.whole {
		d, ok := src.(converters.Divisible)
		if !ok {
			return nil, nil, plan.ErrIndivisible
		}
		src = d.WithParts(first, src.Parts()[first:first+n])
	}
	return src, func() error { return nil }, nil
}

// A task is a shard that can be written now: what it is read from is here.
type task struct {
	*plan.Shard
	plan    *plan.Plan // whose parts are those of src
	src     converters.Source
	first   int   // of the dataset's parts, the first one of src
	passing bool  // its parts are looked at no more when it is written
	stored  int64 // bytes of these where they are stored; of a plan of whole parts alone
	release func() error
}

// take makes shard i ready to be written.
func (w *writer) take(ctx context.Context, i int) (*task, error) {
	s := &w.plan.Shards[i]
	first, n := s.First, s.Parts
	_, all := w.stock.(local)
	if !w.plan.Whole && !all {
		from, to := s.PartRange()
		first, n = from, to-from
	}
	src, release, err := w.stock.Take(ctx, first, n)
	if err != nil {
		return nil, err
	}
	t := &task{Shard: s, plan: w.plan, src: src, first: w.slice.First + first, passing: w.plan.Whole || !all, release: release}
	switch {
	case w.plan.Whole:
		t.stored = w.plan.Stored(i)
	case !all:
		t.plan = w.plan.Only(i, first, n)
		t.Shard = &t.plan.Shards[0]
		if err := t.plan.CheckParts(ctx, src.Parts(), &w.contents); err != nil {
			return nil, errors.Join(err, release())
		}
	}
	return t, nil
}

// counted is what tells p of one pass over the shard: writing it, or reading it again. Where its
// parts alone were known beforehand, they count.
func (w *writer) counted(t *task, p plan.Progress) plan.Progress {
	if !w.plan.Whole {
		return p
	}
	return &scaled{Progress: p, from: t.Bytes, to: t.stored}
}

// settle finds the samples of a shard of whole parts.
func (k *worker) settle(ctx context.Context, t *task) error {
	encodings := plan.Encodings{Specs: k.specs}
	for _, p := range k.plan.Parts[t.First:][:t.Parts] {
		encodings.Of = append(encodings.Of, p.Encode)
	}
	parts, err := plan.IndexEach(ctx, t.src, encodings, len(k.encoders), nil)
	if err != nil {
		return err
	}
	if t.plan, err = k.plan.ShardPlan(t.Shard, parts); err != nil {
		return err
	}
	t.Shard = &t.plan.Shards[0]
	return nil
}

// unchanged looks once more at every part, after the last of it was read: one that was
// written to in the meantime may have given bytes of two states.
func unchanged(parts []converters.Part) error {
	for _, p := range parts {
		if p.Path == "" {
			continue // its files were looked at when they had been read
		}
		f, err := p.Open()
		if err != nil {
			return err
		}
		f.Close()
	}
	return nil
}

// sameLead refuses a stock that is opened by another first part than the plan was made with.
func sameLead(ctx context.Context, stock Stock, s *plan.Slice, j *dataset.Journal) error {
	l, ok := stock.(Led)
	if !ok {
		return nil
	}
	part, ok := l.Lead()
	if !ok {
		return nil
	}
	p, parts := &plan.Plan{Whole: s.Plan.Whole, Parts: []plan.Part{s.Lead}}, []converters.Part{part}
	if err := p.CheckParts(ctx, parts, &plan.Contents{}); err != nil {
		return err
	}
	j.Compare(dataset.Pins(p, parts), s.LeadAt, parts)
	return nil
}
