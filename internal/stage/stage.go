package stage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/cache"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/place"
)

// A job stages one source, for one or more files of the set: a source may be named more than once.
type job struct {
	*group      // set when it is staged
	source      input.Name
	id          identity
	compression string   // "" where reading tells
	keys        []string // of the copies that will do
	place       int      // of the source among all that were found
	files       []int    // of the set

	begun   bool  // to be read
	fetched bool  // the object is in its writer
	runs    int64 // of group.running
	fetches bool  // it has one of group.fetching
	decodes bool  // it has one of group.decoding

	copied *cache.Copy
	file   File

	mu       sync.Mutex
	at, told int64 // bytes of the source read by this attempt, and told of by all
}

// progress reports n bytes read, each byte of the source once, though an attempt may be repeated.
func (j *job) progress(n int64) {
	j.mu.Lock()
	j.at += n
	n = j.at - j.told
	j.told = max(j.told, j.at)
	j.mu.Unlock()
	if n > 0 {
		j.opts.progress(j.source.Name, n)
	}
}

func newJob(n input.Name, id identity, compression string, place int) *job {
	j := &job{source: n, id: id, compression: compression, keys: []string{id.key(compression)}, place: place}
	if n.Object != nil {
		for _, c := range compressedAs[1:] {
			j.keys = append(j.keys, id.key(c))
		}
	}
	return j
}

// request asks for the stored size of the source, if that is known.
func (j *job) request(spare int64) cache.Request {
	r := cache.Request{Keys: j.keys, Size: -1, Spare: spare, Once: j.source.Once(), Label: j.source.Name}
	switch {
	case j.source.Tree != nil:
		r.Size = j.source.Tree.Room
	case j.source.Object != nil:
		r.Size = j.source.Object.Size
	}
	return r
}

// stage makes the copies of all jobs, opts.Workers at once, or finds them. It returns the lease on
// them. After an error nothing is leased.
func (s *Stager) stage(ctx context.Context, c *cache.Cache, jobs []*job) (*cache.Lease, error) {
	for alone := false; ; {
		lease, err := s.stageOnce(ctx, c, jobs, alone)
		if err == nil {
			s.learn(jobs)
			return lease, nil
		}
		if lease != nil {
			if rerr := lease.Release(); rerr != nil {
				err = fmt.Errorf("%w; and %w", err, place.IOError(c.Dir(), rerr))
			}
		}
		short, full := errors.AsType[*cache.Shortage](err)
		switch {
		case errors.Is(err, cache.ErrDamaged): // it is gone, and will be staged anew
		case full && short.Others && !slices.ContainsFunc(jobs, func(j *job) bool { return j.begun && !j.source.Repeats() }):
			alone = true
		default:
			return nil, err
		}
	}
}

// stageOnce is one attempt of stage. With alone it waits until this process has no other lease.
func (s *Stager) stageOnce(ctx context.Context, c *cache.Cache, jobs []*job, alone bool) (*cache.Lease, error) {
	gctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	all := newGroup(c, s.opts, stop)
	requests := make([]cache.Request, len(jobs))
	for i, j := range jobs {
		requests[i] = j.request(s.expected(j))
		j.group, j.at, j.fetched = all, 0, false
	}
	if alone {
		requests[0].Spare = s.opts.Quota
	}
	g, gctx := errgroup.WithContext(gctx)
	defer g.Wait()
	lease, err := c.Reserve(gctx, requests)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		return nil, noRoom(jobs, c, err)
	}
	// Kept copies are verified before a source that cannot be repeated is begun.
	found, fctx := errgroup.WithContext(gctx)
	found.SetLimit(s.opts.workers())
	for i, j := range jobs {
		found.Go(func() error { return j.find(fctx, lease, i) })
	}
	if err := found.Wait(); err != nil {
		return lease, err
	}
	all.begin(gctx, g, lease, jobs)
	if err = g.Wait(); err != nil {
		err = context.Cause(gctx) // of the job that was the first to fail
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause // whatever it was that it ended
	}
	return lease, err
}

// begin starts the jobs that lease has writers for, in order, as many at once as opts allow.
func (g *group) begin(ctx context.Context, running *errgroup.Group, lease *cache.Lease, jobs []*job) {
	var made []int
	for i := range jobs {
		if lease.Writer(i) != nil {
			made = append(made, i)
		}
	}
	for _, i := range made {
		j := jobs[i]
		if j.runs, j.fetches, j.decodes = 1, false, false; len(made) == 1 {
			j.runs = int64(g.opts.running())
		}
		if g.running.Acquire(ctx, j.runs) != nil {
			return
		}
		running.Go(func() error {
			err := j.make(ctx, lease.Writer(i))
			if err != nil {
				g.stop(err) // before another job begins in the place of this one
			}
			j.leave()
			return err
		})
	}
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

// find takes the copy that the lease has found, if there is one.
func (j *job) find(ctx context.Context, lease *cache.Lease, i int) error {
	copied, err := lease.Copy(ctx, i)
	switch {
	case errors.Is(err, cache.ErrDamaged) || err != nil && context.Cause(ctx) != nil:
		return err
	case err != nil:
		return j.cacheError(err)
	case copied == nil:
		return nil
	}
	for _, compression := range compressedAs {
		if j.id.key(compression) == copied.Key {
			j.compression = compression
		}
	}
	j.opts.say("# opening %s", copied.Path)
	j.progress(j.source.Size)
	j.became(copied, j.source.Size)
	return nil
}

// make makes the copy. After an error its writer stays open until the lease is released.
func (j *job) make(ctx context.Context, w *cache.Writer) error {
	j.begun = true
	whole, size, err := j.read(ctx, w)
	if errors.Is(err, ErrQuota) && !j.alone() {
		if err = j.beAlone(ctx); err == nil && !j.fetched {
			err = w.Discard(nil)
			w = w.Beside(j.keys[0])
			j.at = 0
		}
		if err == nil {
			whole, size, err = j.read(ctx, w)
		}
	}
	if err != nil || whole == nil { // nil: the writer is the room of a directory
		return err
	}
	copied, err := whole.Commit()
	if err != nil {
		return j.cacheError(err)
	}
	j.became(copied, size)
	return w.Discard(nil)
}

// read reads the source into w. It returns the writer to commit, which may be another one than w, or
// nil for a directory, and the size of the source, bytes. If there is no room while other jobs of
// the group run, the error is [ErrQuota], and read may be called again.
func (j *job) read(ctx context.Context, w *cache.Writer) (whole *cache.Writer, size int64, err error) {
	switch {
	case j.source.Tree != nil:
		return nil, 0, j.download(ctx, w)
	case j.source.Object != nil:
		return j.fetch(ctx, w)
	}
	if err := j.decode(ctx); err != nil {
		return nil, 0, err
	}
	src, closeSource, err := j.open(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer closeSource()
	if err := j.copy(src, w); err != nil {
		return nil, 0, err
	}
	j.decoded()
	return w, src.n, nil
}

// became enters the copy; the source had size bytes.
func (j *job) became(copied *cache.Copy, size int64) {
	j.copied = copied
	j.file = File{converters.Part{
		Name: j.source.Name, Path: copied.Path, Size: copied.Size, ModTime: copied.ModTime,
		Copy: &converters.Copy{Mark: j.source.Mark(), Content: copied.Sums.Digest(), Sums: newCopySums(copied)},
	}, j.compression, size}
}

// cacheError places a failure to stage the source.
func (j *job) cacheError(err error) error { return cacheError(j.source.Name, j.c.Dir(), err) }
