package stage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/dustin/go-humanize"
	"golang.org/x/sync/errgroup"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/cache"
	"github.com/ffconvert/ffconvert/internal/place"
)

// stage makes the copies of all jobs, or finds them. After an error nothing is leased. Jobs that find no
// room as they grow are repeated, one after the other, while no other Set has room.
func (s *Stager) stage(ctx context.Context, jobs []*job) error {
	least := int64(0)
	for _, j := range jobs {
		least += j.size()
	}
	for alone := false; ; {
		err := s.attempt(ctx, jobs, least, alone)
		jobs = slices.DeleteFunc(slices.Clone(jobs), func(j *job) bool { return j.source.Once() && j.part.Path != "" })
		unread := func(j *job) bool { return j.begun && !j.source.Repeats() }
		switch {
		case errors.Is(err, cache.ErrDamaged): // it is gone, and is staged again
		case errors.Is(err, ErrQuota) && !alone && least <= s.opts.Quota && !slices.ContainsFunc(jobs, unread):
			alone = true
		case errors.Is(err, ErrQuota) && alone:
			return withNeed(jobs, err)
		default:
			return err
		}
	}
}

// withNeed adds how much room the jobs need at once to the error of those that did not fit alone.
func withNeed(jobs []*job, err error) error {
	need := int64(0)
	for _, j := range jobs {
		if need += j.size(); j.part.Path != "" {
			need += j.part.Size
		} else {
			need += j.growth()
		}
	}
	if e, ok := errors.AsType[*place.Error](err); ok && need > jobs[0].opts.Quota {
		e.Err = fmt.Errorf("%w; at least %s are needed at once", e.Err, humanize.Comma(need))
	}
	return err
}

// attempt is one attempt of stage, which needs least bytes. With alone no other Set has room meanwhile.
func (s *Stager) attempt(ctx context.Context, jobs []*job, least int64, alone bool) (err error) {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	next := sync.OnceFunc(func() { <-s.turn })
	defer next()
	if err := s.reserve(ctx, jobs, least, alone); err != nil {
		return err
	}
	if !alone {
		next()
	}
	defer func() {
		if err != nil {
			err = s.giveUp(jobs, cmp.Or(context.Cause(ctx), err))
		}
	}()
	// Kept copies are verified before a source that cannot be repeated is begun.
	found, fctx := errgroup.WithContext(ctx)
	found.SetLimit(s.opts.Workers)
	for _, j := range jobs {
		found.Go(func() error { return j.find(fctx) })
	}
	if err := found.Wait(); err != nil {
		return err
	}
	most := max(s.opts.Workers, s.opts.Fetches)
	if alone {
		most = 1
	}
	return makeAll(ctx, jobs, most)
}

// makeAll makes the copies that were not found, most at once. If one finds no room the others go on:
// when the jobs are repeated they need not be.
func makeAll(ctx context.Context, jobs []*job, most int) error {
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(most)
	full := make([]error, len(jobs))
	for i, j := range jobs {
		if j.part.Path != "" {
			continue
		}
		g.Go(func() error {
			if gctx.Err() != nil {
				return nil
			}
			err := j.make(gctx)
			j.changes()
			if errors.Is(err, ErrQuota) {
				full[i], err = err, nil
			}
			return err
		})
	}
	return cmp.Or(g.Wait(), context.Cause(ctx), cmp.Or(full...))
}

// reserve leases the copy of each job, or room for it: all or none. In the order of calls it waits for
// room as long as other Sets have some, and for copies that they are making.
func (s *Stager) reserve(ctx context.Context, jobs []*job, least int64, alone bool) error {
	c := s.cache
	requests := make([]cache.Request, len(jobs))
	for i, j := range jobs {
		j.at, j.part = 0, converters.Part{}
		requests[i] = cache.Request{Keys: j.keys, Size: j.size(), Once: servesOneRun(j.source), Label: j.source.Name}
		if !alone {
			requests[i].Size += min(j.growth(), s.opts.Quota)
		}
	}
	for {
		s.mu.Lock()
		changed, others := s.changed, s.sets
		for _, j := range jobs {
			if err := s.failed[j.place]; err != nil {
				s.mu.Unlock()
				return err
			}
		}
		s.mu.Unlock()
		if others == 0 || !alone {
			leases, err := c.Reserve(ctx, requests)
			if err == nil {
				for i, j := range jobs {
					j.lease = leases[i]
				}
				s.mu.Lock()
				defer s.mu.Unlock()
				s.sets++
				return nil
			}
			mayHelp := errors.Is(err, cache.ErrWriting) || errors.Is(err, ErrQuota) && least <= s.opts.Quota
			if others == 0 || !mayHelp {
				return cmp.Or(context.Cause(ctx), noRoom(jobs, c, err))
			}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-changed:
		}
	}
}

// giveUp releases the leases of jobs because of err, which it returns together with an error of its own.
// A source that can be read once and was begun cannot be begun again.
func (s *Stager) giveUp(jobs []*job, err error) error {
	failed := err
	for _, j := range jobs {
		if j.lease == nil {
			continue
		}
		if j.begun && !j.source.Repeats() {
			s.mu.Lock()
			s.failed[j.place] = failed
			s.mu.Unlock()
		}
		err = j.release(j.lease, err)
		j.lease = nil
	}
	s.left()
	return err
}

// release ends a lease because of err, which it returns together with an error of its own.
func (j *job) release(l *cache.Lease, err error) error {
	if rerr := l.Release(); rerr != nil {
		return fmt.Errorf("%w; and %w", err, place.IOError(j.cache.Dir(), rerr))
	}
	return err
}

// changes lets Takes that wait for room or a copy look again.
func (s *Stager) changes() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.changed)
	s.changed = make(chan struct{})
}

// left is called when a Set has no room any more.
func (s *Stager) left() {
	s.mu.Lock()
	s.sets--
	s.mu.Unlock()
	s.changes()
}

// noRoom places an error of a reservation, at the first directory if there is one: it takes most.
func noRoom(jobs []*job, c *cache.Cache, err error) error {
	i := max(0, slices.IndexFunc(jobs, func(j *job) bool { return j.source.Tree != nil }))
	err = cacheError(jobs[i].source.Name, c.Dir(), err)
	if e, ok := errors.AsType[*place.Error](err); ok && jobs[i].source.Tree != nil && errors.Is(err, ErrQuota) {
		e.Hint = "raise option cache-size, or convert fewer directories at once"
	}
	return err
}
