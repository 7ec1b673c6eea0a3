package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/input"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A stock makes the parts of a dataset local as their shards are written.
type stock struct {
	c      *conversion
	stager *input.Stager
	found  []input.Name      // as found
	all    []input.Name      // one a part
	quota  int64             // bytes of the cache; 0: no limit
	firsts []int             // the first part of each collection; of one dataset, 0
	parts  []converters.Part // as they are stored
	beside int               // so many in front are no parts to take: the first of a dataset of which the others are a slice

	// opened is called with each part that the dataset is opened with, and its number, once the
	// part is local. nil: nothing to compare it with.
	opened func(ctx context.Context, number int, part converters.Part) error

	mu   sync.Mutex
	like converters.Divisible // opened from the first parts; nil: not yet
	held []*input.Set         // those, until the first shard has its parts; nil: not here
}

// newStock prepares to make parts local. It makes none so yet.
func (c *conversion) newStock(found []input.Name, beside int, in input.Options) (*stock, error) {
	s := &stock{c: c, found: found, all: found, quota: in.Quota, firsts: []int{0}, beside: beside}
	if c.mix != nil {
		s.all, s.firsts = c.mix.passes(found)
	}
	for _, n := range s.all {
		s.parts = append(s.parts, converters.Part{Name: n.Name, Size: n.Size, Copy: &converters.Copy{Mark: n.Mark()}})
	}
	var err error
	s.stager, err = input.NewStager(s.all, in)
	return s, err
}

// Parts lists all parts.
func (s *stock) Parts() []converters.Part { return s.parts[s.beside:] }

// fits refuses a plan that the cache is too small for.
func (s *stock) fits(plan *plan.Plan) error { return fits(plan, s.all[s.beside:], s.quota) }

// fits refuses a plan of which one shard alone has more to fetch than the cache takes. found is one
// input a part. What compressed parts become is not known beforehand.
func fits(plan *plan.Plan, found []input.Name, quota int64) error {
	if quota <= 0 {
		return nil
	}
	for i := range plan.Shards {
		if need := heldOf(plan, found, i); need > quota {
			return &input.Error{Where: plan.Shards[i].Name, Off: -1,
				Err:  fmt.Errorf("%w: its parts are %s to fetch, and the cache has %s", input.ErrQuota, exactBytes(need), exactBytes(quota)),
				Hint: "raise --cache-size, or make more shards, by --shards or --shard-size, where it has several parts"}
		}
	}
	return nil
}

// Lead returns the first part of the dataset, where the stock is of others.
func (s *stock) Lead() (converters.Part, bool) { return s.parts[0], s.beside > 0 }

// open opens the dataset by its first part, which shows what columns and types it has; a
// mixture by that of each collection. Where the plan is there already, only formats that
// inspect it need it.
func (s *stock) open(ctx context.Context, planned bool) (converters.Source, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.like != nil {
		return s.like.(converters.Source), nil
	}
	parts := make([]converters.Part, len(s.found)) // that are not here, but for the first ones
	for i, n := range s.found {
		parts[i] = converters.Part{Name: n.Name, Size: n.Size}
	}
	if err := s.hold(ctx, planned); err != nil {
		return nil, err
	}
	at := 0
	for i, set := range s.held {
		if set != nil {
			parts[at] = partsOf(set)[0]
			if s.opened != nil {
				if err := s.opened(ctx, s.firsts[i]-s.beside, parts[at]); err != nil {
					return nil, err
				}
			}
		}
		if s.c.mix != nil {
			at += s.c.mix.found[i]
		}
	}
	src, err := s.c.data.open(ctx, parts, s.c.opts.encode)
	if err != nil {
		return nil, err
	}
	like, ok := src.(converters.Divisible)
	if !ok {
		return nil, fmt.Errorf("ffconvert %s cannot make shards of whole parts; --exact cuts at samples", s.c.format.name)
	}
	s.like = like
	return src, nil
}

// hold makes the first parts local: all at once, since who holds some and waits for the room of
// others could wait for himself; then each is held by itself, which needs no more room.
func (s *stock) hold(ctx context.Context, planned bool) error {
	var firsts []int
	for i, first := range s.firsts {
		f := s.c.format
		if s.c.mix != nil {
			f = s.c.mix.spec.Collections[i].format
		}
		if !planned || f.inspects {
			firsts = append(firsts, first)
		}
	}
	all, err := s.stager.TakeEach(ctx, firsts)
	if err != nil {
		return err
	}
	s.held = make([]*input.Set, len(s.firsts))
	for i, first := range s.firsts {
		if slices.Contains(firsts, first) && err == nil {
			if s.held[i], err = s.stager.Take(ctx, first, 1); err == nil {
				s.held[i].Keep() // other parts are taken before it is released
			}
		}
	}
	return errors.Join(err, all.Release())
}

// index indexes the first parts.
func (s *stock) index(ctx context.Context, each plan.Encodings, progress *reporter) ([]plan.PartIndex, error) {
	var all []plan.PartIndex
	for i, first := range s.firsts {
		of := plan.Encodings{Specs: each.Specs}
		if each.Of != nil {
			of.Of = each.Of[first : first+1]
		}
		src := s.like.WithParts(first, partsOf(s.held[i]))
		index, err := plan.Index(ctx, src, plan.IndexOptions{Encodings: of, Workers: 1, Progress: progress})
		if err != nil {
			return nil, err
		}
		all = append(all, index...)
	}
	return all, nil
}

// Take makes parts local and opens them.
func (s *stock) Take(ctx context.Context, first, n int) (converters.Source, func() error, error) {
	if _, err := s.open(ctx, true); err != nil {
		return nil, nil, err
	}
	// Held parts are in the way of others where there is little room, so they are let go. A
	// cache that is kept has their copies still; from one that serves this run alone they would
	// be gone, and nobody else waits there: the first part stays until its shard has it.
	keep := n
	if s.c.opts.cacheDir != "" {
		keep = 0
	}
	if err := s.letGo(s.beside+first, keep); err != nil {
		return nil, nil, err
	}
	set, err := s.stager.Take(ctx, s.beside+first, n)
	if err := errors.Join(err, s.letGo(0, 0)); err != nil {
		if set != nil {
			err = errors.Join(err, set.Release())
		}
		return nil, nil, err
	}
	return s.like.WithParts(first, partsOf(set)), set.Release, nil
}

// letGo ends the stock's own use of parts, but for those of the n from first on.
func (s *stock) letGo(first, n int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var failed error
	for i, set := range s.held {
		if at := s.firsts[i]; set != nil && (at < first || at >= first+n) {
			failed = errors.Join(failed, set.Release())
			s.held[i] = nil
		}
	}
	return failed
}

func (s *stock) close() error { return errors.Join(s.letGo(0, 0), s.stager.Close()) }
