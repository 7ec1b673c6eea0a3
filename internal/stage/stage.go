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

// stage finds or makes the copies of all jobs. After an error nothing is leased. If a copy grows beyond the
// quota, the jobs are repeated one at a time, while no other Set has leases.
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
		case errors.Is(err, cache.ErrDamaged): // the cache has removed the copy: repeat
		case errors.Is(err, ErrQuota) && !alone && least <= s.opts.Quota && !slices.ContainsFunc(jobs, unread):
			alone = true
		case errors.Is(err, ErrQuota) && alone:
			return withNeed(jobs, err)
		default:
			return err
		}
	}
}

// withNeed adds the bytes that the jobs need together to the quota error of jobs that were staged alone.
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

// attempt makes one attempt of stage, which needs at least least bytes. With alone it waits until no other Set has
// leases, and holds s.turn to the end.
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
	// Verify existing copies first: a damaged one repeats the attempt, and some sources can be read only once.
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

// makeAll makes the missing copies, most at a time. If one finds no room the others continue:
// a repeated attempt finds their copies.
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

// reserve leases the copy of each job, or room for it: all or none. While other Sets have leases it waits for
// room, and for the copies that they are writing. s.turn keeps the order of the calls.
func (s *Stager) reserve(ctx context.Context, jobs []*job, least int64, alone bool) error {
	c := s.cache
	requests := make([]cache.Request, len(jobs))
	for i, j := range jobs {
		j.at, j.part = 0, converters.Part{}
		// No later run can use a copy of a source that may have other bytes then.
		once := j.source.Once() || j.source.Object != nil && !versioned(j.source.Object)
		requests[i] = cache.Request{Keys: j.keys, Size: j.size(), Once: once, Label: j.source.Name}
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

// giveUp releases the leases of jobs after err, and returns err joined with errors of releasing. It records err for
// a source that can be read once and was begun: a later Take returns it.
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
	s.removeSet()
	return err
}

// release ends a lease after err, and returns err joined with the error of releasing.
func (j *job) release(l *cache.Lease, err error) error {
	if rerr := l.Release(); rerr != nil {
		return fmt.Errorf("%w; and %w", err, place.IOError(j.cache.Dir, rerr))
	}
	return err
}

// changes wakes calls of Take that wait in reserve.
func (s *Stager) changes() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.changed)
	s.changed = make(chan struct{})
}

// removeSet is called when a Set has ended its leases.
func (s *Stager) removeSet() {
	s.mu.Lock()
	s.sets--
	s.mu.Unlock()
	s.changes()
}

// noRoom adds a source to the error of a reservation: the first directory, since it needs most room, or the first job.
func noRoom(jobs []*job, c *cache.Cache, err error) error {
	i := max(0, slices.IndexFunc(jobs, func(j *job) bool { return j.source.Tree != nil }))
	err = cacheError(jobs[i].source.Name, c.Dir, err)
	if e, ok := errors.AsType[*place.Error](err); ok && jobs[i].source.Tree != nil && errors.Is(err, ErrQuota) {
		e.Hint = "raise option cache-size, or convert fewer directories at once"
	}
	return err
}
