package write

import (
	"context"
	"errors"
	"sync"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/shard"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A PartProvider makes parts of a dataset local for the shards that need them. Its methods may be called concurrently.
type PartProvider interface {
	// Parts lists all parts in dataset order: names, stored sizes, marks; paths are optional. The
	// slice must not be changed.
	Parts() []converters.Part

	// Take makes parts first … first+n-1 local and opens a source of exactly these parts, in this order. It may wait
	// for room; ctx ends the wait but does not close the source. The parts stay local until release is called.
	Take(ctx context.Context, first, n int) (src converters.Source, release func() error, err error)
}

// local is a PartProvider whose parts are always local.
type local struct{ converters.Source }

// Local returns a PartProvider for a source whose parts are all local. For a part-aligned plan the source must be
// [converters.Divisible].
func Local(src converters.Source) PartProvider { return local{src} }

func (l local) Take(_ context.Context, first, n int) (converters.Source, func() error, error) {
	d, ok := l.Source.(converters.Divisible)
	if !ok {
		return nil, nil, plan.ErrIndivisible
	}
	return d.WithParts(first, l.Source.Parts()[first:first+n]), func() error { return nil }, nil
}

// A job is a shard to write, with local parts.
type job struct {
	shard.Job
	verifyPartsAfter bool  // its parts are released after writing: check them before
	stored           int64 // stored bytes of its parts; only in a part-aligned plan
	release          func() error
}

// take makes the parts of shard i local.
func (w *writer) take(ctx context.Context, i int) (*job, error) {
	s := &w.plan.Shards[i]
	if l, here := w.parts.(local); here && !w.plan.Whole {
		return &job{Job: w.jobOf(s, l.Source, 0), release: func() error { return nil }}, nil
	}
	first, end := s.PartRange()
	src, release, err := w.parts.Take(ctx, first, end-first)
	if err != nil {
		return nil, err
	}
	t := &job{Job: w.jobOf(s, src, first), verifyPartsAfter: true, release: release}
	if w.plan.Whole {
		t.stored = w.plan.Stored(i)
		return t, nil
	}
	t.Plan = w.plan.Only(i, first, end-first)
	t.Shard = &t.Plan.Shards[0]
	if err := t.Plan.CheckParts(ctx, src.Parts(), &w.contents); err != nil {
		return nil, errors.Join(err, release())
	}
	return t, nil
}

// jobOf returns the job to write a shard from a source, of which part 0 is part first of the slice.
func (w *writer) jobOf(s *plan.Shard, src converters.Source, first int) shard.Job {
	return shard.Job{Shard: s, Plan: w.plan, Source: src, Row: w.slice.First + first, Shape: w.plan.Columns}
}

// counted returns a function that adds the bytes of one pass over a shard, writing or re-reading it, by add. The total of
// a part-aligned plan is the stored size of the parts, which may be compressed: the bytes are scaled to end at it.
func (w *writer) counted(t *job, add func(samples, bytes int64)) func(samples, bytes int64) {
	if !w.plan.Whole {
		return add
	}
	var mu sync.Mutex
	done, told := int64(0), int64(0)
	return func(samples, bytes int64) {
		mu.Lock()
		defer mu.Unlock()
		done = min(done+bytes, t.Bytes)
		now := int64(float64(done) / float64(t.Bytes) * float64(t.stored))
		add(samples, now-told)
		told = now
	}
}

// indexParts indexes the parts of a part-aligned shard.
func (w *writer) indexParts(ctx context.Context, t *job) error {
	encodings := plan.Encodings{Specs: w.specs}
	for _, p := range w.plan.Parts[t.First:][:t.Parts] {
		encodings.Of = append(encodings.Of, p.Encode)
	}
	parts, err := plan.Index(ctx, t.Source, plan.IndexOptions{Encodings: encodings, Workers: w.readers})
	if err != nil {
		return err
	}
	if t.Plan, err = w.plan.ShardPlan(t.Shard, parts); err != nil {
		return err
	}
	t.Shard = &t.Plan.Shards[0]
	return nil
}

// unchanged returns an error if a part was modified while it was read: the samples may then come from
// two versions of it.
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

// sameLead returns an error if the slice was opened with another first part of the dataset than the planned one.
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
