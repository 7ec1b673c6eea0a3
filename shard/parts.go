package shard

import (
	"context"
	"errors"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A PartProvider makes the parts of a dataset local as they are needed. Its methods may be called
// concurrently.
type PartProvider interface {
	// Parts lists all parts in dataset order: names, sizes as they are stored, marks. They
	// need have no path. The slice must not be changed.
	Parts() []converters.Part

	// Take makes parts first … first+n-1 local and opens a source that has these parts
	// alone, in this order. It may wait for room; ctx is of the taking alone. The parts stay
	// until release is called.
	Take(ctx context.Context, first, n int) (src converters.Source, release func() error, err error)
}

// A Led provider is of a slice, and opened by that part of the dataset (Slice.Lead) which shows what all
// share and is not one of the slice's. That part must be unchanged, too.
type Led interface {
	PartProvider
	// Lead returns that part; false where it is one of the provider's own, or none is needed.
	Lead() (converters.Part, bool)
}

// local has all parts here all the time.
type local struct{ converters.Source }

// Local provides the parts of a source that are all here. For a part-aligned plan the source must be
// [converters.Divisible].
func Local(src converters.Source) PartProvider { return local{src} }

func (l local) Take(_ context.Context, first, n int) (converters.Source, func() error, error) {
	d, ok := l.Source.(converters.Divisible)
	if !ok {
		return nil, nil, plan.ErrIndivisible
	}
	return d.WithParts(first, l.Source.Parts()[first:first+n]), func() error { return nil }, nil
}

// A task is a shard that can be written now: its parts are local.
type task struct {
	*plan.Shard
	plan    *plan.Plan // with the parts of src
	src     converters.Source
	first   int   // of the dataset's parts, the first one of src
	passing bool  // its parts go away when it is written: check them before
	stored  int64 // bytes of these where they are stored; of a plan of whole parts alone
	release func() error
}

// take makes shard i ready to be written.
func (w *writer) take(ctx context.Context, i int) (*task, error) {
	s := &w.plan.Shards[i]
	if l, here := w.parts.(local); here && !w.plan.Whole {
		return &task{Shard: s, plan: w.plan, src: l.Source, first: w.slice.First, release: func() error { return nil }}, nil
	}
	first, end := s.PartRange()
	src, release, err := w.parts.Take(ctx, first, end-first)
	if err != nil {
		return nil, err
	}
	t := &task{Shard: s, plan: w.plan, src: src, first: w.slice.First + first, passing: true, release: release}
	if w.plan.Whole {
		t.stored = w.plan.Stored(i)
		return t, nil
	}
	t.plan = w.plan.Only(i, first, end-first)
	t.Shard = &t.plan.Shards[0]
	if err := t.plan.CheckParts(ctx, src.Parts(), &w.contents); err != nil {
		return nil, errors.Join(err, release())
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
	parts, err := plan.Index(ctx, t.src, plan.IndexOptions{Encodings: encodings, Workers: len(k.encoders)})
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

// sameLead refuses a provider that is opened by another first part than the plan was made with.
func sameLead(ctx context.Context, parts PartProvider, s *plan.Slice, j *dataset.Journal) error {
	l, ok := parts.(Led)
	if !ok {
		return nil
	}
	part, ok := l.Lead()
	if !ok {
		return nil
	}
	p, lead := &plan.Plan{Whole: s.Plan.Whole, Parts: []plan.Part{s.Lead}}, []converters.Part{part}
	if err := p.CheckParts(ctx, lead, &plan.Contents{}); err != nil {
		return err
	}
	j.Compare(dataset.Pins(p, lead), s.LeadAt, lead)
	return nil
}
