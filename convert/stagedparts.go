package convert

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/input"
	"github.com/ffconvert/ffconvert/input/stage"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// stagedParts makes the parts of a dataset local as their shards are written.
type stagedParts struct {
	c      *Conversion
	stager *stage.Stager
	found  []input.Name      // as found
	all    []input.Name      // one a part
	quota  int64             // bytes of the cache; 0: no limit
	firsts []int             // the first part of each collection; of one dataset, 0
	parts  []converters.Part // as they are stored
	skip   int               // leading entries of parts that belong to another slice: the one that the dataset is opened by

	// opened is called with each part that the dataset is opened with, and its number, once the
	// part is local. nil: nothing to compare it with.
	opened func(ctx context.Context, number int, part converters.Part) error

	mu   sync.Mutex
	data *opened              // from the first parts; nil: not yet
	like converters.Divisible // its source
	held []*stage.Set         // those, until the first shard has its parts; nil: not here
}

// newStagedParts prepares to make parts local. It makes none so yet.
func (c *Conversion) newStagedParts(skip int) (*stagedParts, error) {
	in := c.inputOptions()
	in.Transient, in.Progress = c.Input.CacheDir == "", c.fetching()
	s := &stagedParts{c: c, found: c.found, all: c.found, quota: in.Quota, firsts: []int{0}, skip: skip}
	if c.Mixture != nil {
		s.all, s.firsts = passes(c.Mixture, c.found)
	}
	for i := range s.all {
		s.parts = append(s.parts, s.all[i].Part())
	}
	var err error
	s.stager, err = stage.NewStager(s.all, in)
	return s, err
}

// Parts lists all parts.
func (s *stagedParts) Parts() []converters.Part { return s.parts[s.skip:] }

// checkQuota refuses a plan that the cache is too small for.
func (s *stagedParts) checkQuota(p *plan.Plan) error { return checkQuota(p, s.all[s.skip:], s.quota) }

// Lead returns the first part of the dataset, where the parts are others.
func (s *stagedParts) Lead() (converters.Part, bool) { return s.parts[0], s.skip > 0 }

// open opens the dataset by its first part, which shows what columns and types it has; a
// mixture by that of each collection. Where the plan is there already, only formats that
// inspect it need it.
func (s *stagedParts) open(ctx context.Context, planned bool) (*opened, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.like != nil {
		return s.data, nil
	}
	parts := make([]converters.Part, len(s.found)) // that are not here, but for the first ones
	for i, n := range s.found {
		parts[i] = n.Part()
	}
	if err := s.hold(ctx, planned); err != nil {
		return nil, err
	}
	at := 0
	for i, set := range s.held {
		if set != nil {
			parts[at] = set.Parts()[0]
			if s.opened != nil {
				if err := s.opened(ctx, s.firsts[i]-s.skip, parts[at]); err != nil {
					return nil, err
				}
			}
		}
		if s.c.Mixture != nil {
			at += s.c.Mixture.found[i]
		}
	}
	o, err := s.c.open(ctx, parts)
	if err != nil {
		return nil, err
	}
	like, ok := o.Source.(converters.Divisible)
	if !ok {
		return nil, advise(NotAligned, ErrNotAligned)
	}
	s.data, s.like = o, like
	return o, nil
}

// hold makes the first parts local: all at once, since who holds some and waits for the room of
// others could wait for himself; then each is held by itself, which needs no more room.
func (s *stagedParts) hold(ctx context.Context, planned bool) error {
	var firsts []int
	for i, first := range s.firsts {
		r := s.c.Reader
		if s.c.Mixture != nil {
			r = s.c.Mixture.readers[i]
		}
		if !planned || r.Inspects {
			firsts = append(firsts, first)
		}
	}
	all, err := s.stager.TakeEach(ctx, firsts)
	if err != nil {
		return err
	}
	s.held = make([]*stage.Set, len(s.firsts))
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
func (s *stagedParts) index(ctx context.Context, each plan.Encodings, progress plan.Progress) ([]plan.PartIndex, error) {
	var all []plan.PartIndex
	for i, first := range s.firsts {
		of := plan.Encodings{Specs: each.Specs}
		if each.Of != nil {
			of.Of = each.Of[first : first+1]
		}
		src := s.like.WithParts(first, s.held[i].Parts())
		index, err := plan.Index(ctx, src, plan.IndexOptions{Encodings: of, Workers: 1, Progress: progress})
		if err != nil {
			return nil, err
		}
		all = append(all, index...)
	}
	return all, nil
}

// Take makes parts local and opens them.
func (s *stagedParts) Take(ctx context.Context, first, n int) (converters.Source, func() error, error) {
	if _, err := s.open(ctx, true); err != nil {
		return nil, nil, err
	}
	// Held parts are in the way of others where there is little room, so they are let go. A
	// cache that is kept has their copies still; from one that serves this run alone they would
	// be gone, and nobody else waits there: the first part stays until its shard has it.
	keep := n
	if s.c.Input.CacheDir != "" {
		keep = 0
	}
	if err := s.letGo(s.skip+first, keep); err != nil {
		return nil, nil, err
	}
	set, err := s.stager.Take(ctx, s.skip+first, n)
	if err := errors.Join(err, s.letGo(0, 0)); err != nil {
		if set != nil {
			err = errors.Join(err, set.Release())
		}
		return nil, nil, err
	}
	return s.like.WithParts(first, set.Parts()), set.Release, nil
}

// letGo ends the own use of parts, but for those of the n from first on.
func (s *stagedParts) letGo(first, n int) error {
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

func (s *stagedParts) close() error { return errors.Join(s.letGo(0, 0), s.stager.Close()) }
