package convert

import (
	"context"
	"errors"
	"sync"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/stage"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// stagedParts makes parts local when their shards are written. It is a shard.PartProvider.
type stagedParts struct {
	c      *Conversion
	stager *stage.Stager
	all    []input.Name      // one for each part
	firsts []int             // the first part of each collection; without a mixture, 0
	parts  []converters.Part // with stored sizes
	skip   int               // leading parts that belong to another slice; the dataset is opened with the first

	// opened is called with each part that the dataset is opened with, and its number, when the part
	// is local. It may be nil.
	opened func(ctx context.Context, number int, part converters.Part) error

	mu   sync.Mutex
	data *opened              // from the first parts; nil: not yet
	like converters.Divisible // its source
	held *stage.Set           // the first part of each collection in lead, until the first Take; nil: released
	lead []int                // these collections
}

// newStagedParts returns stagedParts of which no part is local yet.
func (c *Conversion) newStagedParts(skip int) (*stagedParts, error) {
	in := c.inputOptions()
	in.Progress = c.fetching()
	s := &stagedParts{c: c, skip: skip}
	s.all, s.firsts = passes(c.Mixture, c.found)
	for i := range s.all {
		s.parts = append(s.parts, s.all[i].Part())
	}
	var err error
	s.stager, err = stage.NewStager(s.all, in)
	return s, err
}

// Parts lists all parts.
func (s *stagedParts) Parts() []converters.Part { return s.parts[s.skip:] }

// checkQuota returns an error if the cache is too small for a shard of the plan.
func (s *stagedParts) checkQuota(p *plan.Plan) error {
	return checkQuota(p, s.all[s.skip:], s.c.Input.Quota)
}

// Lead returns the part that the dataset is opened with, if it is of another slice.
func (s *stagedParts) Lead() (converters.Part, bool) { return s.parts[0], s.skip > 0 }

// open opens the dataset with its first part, which shows columns and types; a mixture with the first
// part of each collection. If the plan exists, only formats that inspect the part need it.
func (s *stagedParts) open(ctx context.Context, planned bool) (*opened, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.like != nil {
		return s.data, nil
	}
	parts := make([]converters.Part, len(s.c.found)) // only the first ones are local
	for i, n := range s.c.found {
		parts[i] = n.Part()
	}
	if s.held == nil {
		if err := s.hold(ctx, planned); err != nil {
			return nil, err
		}
	}
	all := s.c.collections()
	for i, at := range s.lead {
		part := s.held.Parts[i]
		parts[all[at].first] = part
		if s.opened != nil {
			if err := s.opened(ctx, s.firsts[at]-s.skip, part); err != nil {
				return nil, err
			}
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

// hold makes the first parts local.
func (s *stagedParts) hold(ctx context.Context, planned bool) (err error) {
	var firsts []int
	s.lead = nil
	for i, of := range s.c.collections() {
		if !planned || of.Inspects {
			s.lead, firsts = append(s.lead, i), append(firsts, s.firsts[i])
		}
	}
	s.held, err = s.stager.Take(ctx, firsts)
	return err
}

// index indexes the first parts.
func (s *stagedParts) index(ctx context.Context, each plan.Encodings, progress plan.Progress) ([]plan.PartIndex, error) {
	var all []plan.PartIndex
	for i, first := range s.firsts {
		of := plan.Encodings{Specs: each.Specs}
		if each.Of != nil {
			of.Of = each.Of[first : first+1]
		}
		src := s.like.WithParts(first, s.held.Parts[i:i+1])
		index, err := plan.Index(ctx, src, plan.IndexOptions{Encodings: of, Workers: 1, Progress: progress})
		if err != nil {
			return nil, err
		}
		all = append(all, index...)
	}
	return all, nil
}

// Take makes parts local and opens them: see shard.PartProvider.
func (s *stagedParts) Take(ctx context.Context, first, n int) (converters.Source, func() error, error) {
	if _, err := s.open(ctx, true); err != nil {
		return nil, nil, err
	}
	if err := s.letGo(); err != nil { // Take could wait for their room
		return nil, nil, err
	}
	set, err := s.stager.Take(ctx, indices(len(s.all))[s.skip+first:][:n])
	if err != nil {
		return nil, nil, err
	}
	release := set.Release
	if s.c.Input.CacheDir == "" { // no other run has the cache
		release = set.Remove
	}
	return s.like.WithParts(first, set.Parts), s.c.held(first, n, release), nil
}

// letGo releases the held parts.
func (s *stagedParts) letGo() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := s.held
	s.held = nil
	return held.Release()
}

func (s *stagedParts) close() error { return errors.Join(s.letGo(), s.stager.Close()) }
