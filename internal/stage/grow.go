package stage

import (
	"cmp"
	"context"
	"errors"
	"math"
	"path"

	"golang.org/x/sync/semaphore"

	"github.com/ffconvert/ffconvert/internal/cache"
)

// The decompressed size of a source is not known in advance. It is estimated by the largest ratio of
// earlier sources with the same suffix. A job that runs out of room is repeated while no other job
// of its group runs; a group that runs out of room is repeated while this process has no other lease.

// A group is the jobs of one Take while they are staged.
type group struct {
	c    *cache.Cache
	opts Options
	stop context.CancelCauseFunc // ends all jobs, with the error that is reported

	running  *semaphore.Weighted // one for each job, all for a job that is alone
	fetching *semaphore.Weighted // one for each object that is fetched
	decoding *semaphore.Weighted // one for each decoder, which needs a processor and a window
}

func newGroup(c *cache.Cache, opts Options, stop context.CancelCauseFunc) *group {
	weighted := func(n int) *semaphore.Weighted { return semaphore.NewWeighted(int64(n)) }
	return &group{c, opts, stop, weighted(opts.running()), weighted(cmp.Or(opts.Fetches, opts.workers())), weighted(opts.workers())}
}

// decode waits until the job may have a decoder, which it has until decoded, beAlone or leave is called.
func (j *job) decode(ctx context.Context) error {
	if j.decoding.Acquire(ctx, 1) != nil {
		return context.Cause(ctx)
	}
	j.decodes = true
	return nil
}

func (j *job) decoded() {
	if j.decodes {
		j.decoding.Release(1)
		j.decodes = false
	}
}

func (j *job) hasFetched() {
	if j.fetches {
		j.fetching.Release(1)
		j.fetches = false
	}
}

// leave lets other jobs of the group run. After an error group.stop must have been called: one that begins otherwise would
// be of no use, and its error could be the one that is reported.
func (j *job) leave() {
	j.hasFetched()
	j.decoded()
	j.running.Release(j.runs)
	j.runs = 0
}

// beAlone waits until no other job of the group runs, which may wait for a decoder.
func (j *job) beAlone(ctx context.Context) error {
	j.leave()
	all := int64(j.opts.running())
	if j.running.Acquire(ctx, all) != nil {
		return context.Cause(ctx)
	}
	j.runs = all
	return nil
}

// write appends p to w. Without room for it a job that cannot be repeated waits until it is
// alone, and a job that is alone waits for other groups.
func (j *job) write(ctx context.Context, w *cache.Writer, p []byte) error {
	for {
		_, err := w.Write(p)
		switch {
		case !errors.Is(err, ErrQuota):
			return err
		case j.alone():
			err = w.Await(ctx, w.Size()+int64(len(p)))
		case j.source.Repeats():
			return err
		default:
			err = j.beAlone(ctx)
		}
		if err != nil {
			return err
		}
	}
}

// alone reports whether no other job of the group runs.
func (j *job) alone() bool { return j.runs == int64(j.opts.running()) }

// expected estimates how many bytes the copy will have beyond the size of its source.
func (s *Stager) expected(j *job) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j.source.Tree != nil {
		return 0
	}
	return int64(min(s.grows[path.Ext(j.source.Name)]*float64(max(j.source.Size, 0)), math.MaxInt64/4))
}

// learn records the ratio of each decompressed source.
func (s *Stager) learn(jobs []*job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range jobs {
		if f := &j.file; f.Compression != "" && f.SourceSize > 0 {
			suffix := path.Ext(j.source.Name)
			s.grows[suffix] = max(s.grows[suffix], float64(f.Size)/float64(f.SourceSize))
		}
	}
}
