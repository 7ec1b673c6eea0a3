package shard

import (
	"context"
	"errors"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A PartProvider makes parts of a dataset local when a shard needs them. Its methods may be called
// concurrently.
type PartProvider interface {
	// Parts lists all parts in dataset order: names, stored sizes, marks; paths are optional. The
	// slice must not be changed.
	Parts() []converters.Part

	// Take makes parts first … first+n-1 local and opens a source that has these parts
	// alone, in this order. It may wait for room; ctx ends the waiting, not the source. The parts stay
	// until release is called.
	Take(ctx context.Context, first, n int) (src converters.Source, release func() error, err error)
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

// A job is a shard to write: its parts are local.
type job struct {
	*plan.Shard
	plan             *plan.Plan // with the parts of src
	src              converters.Source
	first            int   // of the dataset's parts, the first one of src
	verifyPartsAfter bool  // its parts are released when it is written: check them before
	stored           int64 // bytes of these as stored; of a part-aligned plan only
	release          func() error
}

// take makes shard i ready to be written.
func (w *writer) take(ctx context.Context, i int) (*job, error) {
	s := &w.plan.Shards[i]
	if l, here := w.parts.(local); here && !w.plan.Whole {
		return &job{Shard: s, plan: w.plan, src: l.Source, first: w.slice.First, release: func() error { return nil }}, nil
	}
	first, end := s.PartRange()
	src, release, err := w.parts.Take(ctx, first, end-first)
	if err != nil {
		return nil, err
	}
	t := &job{Shard: s, plan: w.plan, src: src, first: w.slice.First + first, verifyPartsAfter: true, release: release}
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

// counted returns the progress of one pass over a shard: writing it, or reading it again. For a
// part-aligned plan it scales to the stored size of the parts, from which the total was computed.
func (w *writer) counted(t *job, p plan.Progress) plan.Progress {
	if !w.plan.Whole {
		return p
	}
	return &scaled{Progress: p, from: t.Bytes, to: t.stored}
}

// indexParts finds the samples of a part-aligned shard.
func (k *worker) indexParts(ctx context.Context, t *job) error {
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

// unchanged checks every part after it was read: a part that was modified meanwhile may have given
// bytes of two states.
func unchanged(parts []converters.Part) error {
	for _, p := range parts {
		if p.Path == "" {
			continue // the source checks its files after reading them
		}
		f, err := p.Open()
		if err != nil {
			return err
		}
		f.Close()
	}
	return nil
}

// sameLead refuses a slice that was opened by another first part of the dataset than the plan was made with.
func sameLead(ctx context.Context, s *plan.Slice, j *dataset.Journal) error {
	if s.OpenedBy == nil {
		return nil
	}
	p, lead := &plan.Plan{Whole: s.Plan.Whole, Parts: []plan.Part{s.Lead}}, []converters.Part{*s.OpenedBy}
	if err := p.CheckParts(ctx, lead, &plan.Contents{}); err != nil {
		return err
	}
	j.Compare(p, s.LeadAt, lead)
	return nil
}
