package convert

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"sync"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/stage"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A stagedParts makes parts local when their shards are written. It is a write.PartProvider.
type stagedParts struct {
	*work
	stager *stage.Stager
	all    []input.Name      // one for each part
	parts  []converters.Part // with stored sizes
	skip   int               // number of leading parts that belong to another slice; the dataset is opened with the first of them

	// opened is called with each part that the dataset is opened with, and its number, after the part
	// becomes local. It may be nil.
	opened func(ctx context.Context, number int, part converters.Part) error

	mu   sync.Mutex
	data *opened              // opened with the first parts; nil: not yet
	like converters.Divisible // the source of data
	lead []int                // parts that the dataset is opened with, by number: see open
	held *stage.Set           // the parts in lead; released by the first Take, then nil
}

// byParts calls use with a stagedParts. For skip see stagedParts.
func (w *work) byParts(skip int, use func(*stagedParts) error) (err error) {
	w.passing = w.Input.CacheDir == ""
	opts := w.stage
	opts.Progress = w.fetching()
	s := &stagedParts{work: w, skip: skip, parts: w.parts()}
	s.all = passes(w.inputs, w.names)
	if s.stager, err = stage.NewStager(s.all, opts); err != nil {
		return err
	}
	err = use(s)
	return errors.Join(err, w.endFilter(), s.letGo(), s.stager.Close())
}

// fetching returns a function that counts the bytes fetched while shards are written.
func (o *Options) fetching() func(string, int64) {
	switch p := o.Progress.(type) {
	case nil:
		return nil
	case interface{ Fetched(bytes int64) }:
		return func(_ string, n int64) { p.Fetched(n) }
	}
	return func(_ string, n int64) { o.Progress.Add(0, n) }
}

func (s *stagedParts) Parts() []converters.Part { return s.parts[s.skip:] }

// checkQuota returns an error if the cache is too small for a shard of the plan.
func (s *stagedParts) checkQuota(p *plan.Plan) error {
	return checkQuota(p, s.all[s.skip:], s.Input.Quota)
}

// plan returns the part-aligned plan in the output, if its parts and options are the same.
// Otherwise it makes one, and fetches the first part to find the columns.
func (s *stagedParts) plan(ctx context.Context, out *dataset.Writing) (*plan.Plan, error) {
	how, err := s.planOptions()
	if err != nil {
		return nil, err
	}
	if !s.Overwrite {
		p, err := out.Resumable(s.parts, how)
		if err == nil && p != nil {
			err = s.checkQuota(p)
		}
		if err != nil || p != nil {
			return p, err
		}
	}
	// The first part decides no size, so a plan that fails is refused before it is fetched. Of empty parts the format
	// says whether that is an error.
	p, err := plan.NewAligned(s.parts, nil, how)
	if err == nil {
		err = s.checkQuota(p)
	}
	if err != nil && !errors.Is(err, plan.ErrEmpty) {
		return nil, err
	}
	if s.Progress != nil {
		size := int64(0)
		for _, first := range s.firsts(false) {
			size += s.parts[first].Size
		}
		s.Progress.Start("fetch the first part", size)
	}
	o, err := s.open(ctx, false)
	if err != nil {
		return nil, err
	}
	s.describe(o)
	seen, err := s.index(ctx, o.each)
	if err != nil {
		return nil, err
	}
	if how, err = s.optionsOf(o); err != nil {
		return nil, err
	}
	if p, err = plan.NewAligned(s.parts, seen, how); err == nil && s.Spec == nil {
		p.Lead = s.lead[len(s.lead)-1]
	}
	return p, empty(s.parts[0].Name, seen, err)
}

// open opens the dataset with its first part, or the first part of each collection, to find columns and types, and with
// the parts after it up to the first that has any. If the plan exists, only formats that inspect parts need them.
func (s *stagedParts) open(ctx context.Context, planned bool) (*opened, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.like != nil {
		return s.data, nil
	}
	if s.lead == nil {
		s.lead = s.firsts(planned)
	}
	o, err := s.openLead(ctx)
	for at := s.wanted(err); at >= 0; at = s.wanted(err) {
		if err := s.held.Release(); err != nil {
			return nil, err
		}
		s.held, s.lead = nil, append(s.lead, at)
		o, err = s.openLead(ctx)
	}
	if err != nil {
		return nil, err
	}
	like, ok := o.Source.(converters.Divisible)
	if !ok {
		return nil, advise(ErrNotAligned, notAligned)
	}
	s.data, s.like = o, like
	return o, nil
}

// firsts returns the number of the first part of each collection. If the plan exists, only of those whose format
// inspects parts.
func (s *stagedParts) firsts(planned bool) []int {
	firsts, at := []int{}, 0
	for i, c := range s.collections {
		if !planned || c.Inspects {
			firsts = append(firsts, at)
		}
		at += s.counts[i] * c.passes()
	}
	return firsts
}

// openLead opens the dataset with the parts in lead, which it makes local.
func (s *stagedParts) openLead(ctx context.Context) (_ *opened, err error) {
	if s.held == nil {
		if s.held, err = s.stager.Take(ctx, s.lead); err != nil {
			return nil, err
		}
	}
	parts := make([]converters.Part, len(s.names)) // only those in lead are local
	for i, n := range s.names {
		parts[i] = n.Part()
	}
	places := s.places()
	for i, at := range s.lead {
		parts[places[at]] = s.held.Parts[i]
		if s.opened != nil {
			if err := s.opened(ctx, at-s.skip, s.held.Parts[i]); err != nil {
				return nil, err
			}
		}
	}
	return s.work.open(ctx, parts)
}

// wanted returns the number of the part that a format misses, by its error; -1: none.
func (s *stagedParts) wanted(err error) int {
	e, ok := errors.AsType[*converters.Error](err)
	if !ok || !errors.Is(err, fs.ErrNotExist) {
		return -1
	}
	for i := range s.parts {
		if s.parts[i].Name == e.Where && !slices.Contains(s.lead, i) {
			return i
		}
	}
	return -1
}

func (s *stagedParts) index(ctx context.Context, each plan.Encodings) ([]plan.PartIndex, error) {
	var all []plan.PartIndex
	for i, at := range s.lead {
		of := plan.Encodings{Specs: each.Specs}
		if each.Of != nil {
			of.Of = each.Of[at : at+1]
		}
		src := s.like.WithParts(at, s.held.Parts[i:i+1])
		index, err := plan.Index(ctx, src, plan.IndexOptions{Encodings: of, Workers: 1, Progress: s.Progress})
		if err != nil {
			return nil, err
		}
		all = append(all, index...)
	}
	return all, nil
}

// Take makes parts local and opens them: see write.PartProvider.
func (s *stagedParts) Take(ctx context.Context, first, n int) (converters.Source, func() error, error) {
	if _, err := s.open(ctx, true); err != nil {
		return nil, nil, err
	}
	if err := s.letGo(); err != nil { // Take might wait for their room
		return nil, nil, err
	}
	set, err := s.stager.Take(ctx, indices(len(s.all))[s.skip+first:][:n])
	if err != nil {
		return nil, nil, err
	}
	release := set.Release
	if s.passing { // no other run uses the cache
		release = set.Remove
	}
	free := func() error { return nil }
	if s.filter != nil {
		free = s.filter.Hold(first, n)
	}
	return s.like.WithParts(first, set.Parts), func() error { return errors.Join(free(), release()) }, nil
}

func (s *stagedParts) letGo() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := s.held
	s.held = nil
	return held.Release()
}
