package input

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/ffconvert/ffconvert/input/cache"
)

// A job is one source to be staged, and the files of the set that wait for it: more than one where
// a source is named more than once.
type job struct {
	source      Name
	id          identity
	compression string   // "" where reading tells
	keys        []string // of the copies that will do
	place       int      // of the source among all that were found
	files       []int    // of the set

	extra  int64 // bytes that it had better have at hand to grow
	begun  bool  // to be read
	copied *cache.Copy
	file   File

	wanted int64 // bytes that it would have had when there was no more room; 0: there was

	mu       sync.Mutex
	at, told int64 // bytes of the source read by this attempt, and told of by all

	running, fetching, decoding *turns // of its group
}

// progress tells of n bytes read, each byte once however often it is.
func (j *job) progress(opts Options, n int64) {
	j.mu.Lock()
	j.at += n
	n = j.at - j.told
	j.told = max(j.told, j.at)
	j.mu.Unlock()
	if n > 0 {
		opts.progress(j.source.Name, n)
	}
}

func newJob(n Name, id identity, compression string, place int) *job {
	j := &job{source: n, id: id, compression: compression, keys: []string{id.key(compression)}, place: place}
	if n.Object != nil {
		for _, c := range compressedAs[1:] {
			j.keys = append(j.keys, id.key(c))
		}
	}
	return j
}

// want is what the job asks of the cache: room for an object as it is, where its size is known.
func (j *job) want() cache.Want {
	w := cache.Want{Keys: j.keys, Size: -1, Extra: j.extra, Once: j.source.once(), Label: j.source.Name}
	switch {
	case j.source.Tree != nil:
		w.Size = j.source.Tree.Room
	case j.source.Object != nil:
		w.Size = j.source.Object.Size
	}
	return w
}

// stage makes the copies of all jobs, opts.Workers at once, or finds them. It returns what holds
// them. After an error nothing is held.
func (s *Stager) stage(ctx context.Context, c *cache.Cache, jobs []*job) (*cache.Hold, error) {
	for {
		for _, j := range jobs {
			j.extra = max(j.extra, s.expected(j))
		}
		hold, err := s.stageOnce(ctx, c, jobs)
		if err == nil {
			s.learn(jobs)
			return hold, nil
		}
		if hold != nil {
			if rerr := hold.Release(); rerr != nil {
				err = fmt.Errorf("%w; and %w", err, ioError(c.Dir(), rerr))
			}
		}
		switch {
		case errors.Is(err, cache.ErrDamaged): // it is gone, and will be staged anew
		case errors.Is(err, cache.ErrCrowded) && askMore(jobs, s.opts.Quota):
		default:
			return nil, err
		}
	}
}

func (s *Stager) stageOnce(ctx context.Context, c *cache.Cache, jobs []*job) (*cache.Hold, error) {
	wants := make([]cache.Want, len(jobs))
	for i, j := range jobs {
		wants[i], j.at = j.want(), 0
	}
	g, gctx := errgroup.WithContext(ctx)
	defer g.Wait()
	hold, err := c.Reserve(gctx, wants)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
		return nil, noRoom(jobs, c, err)
	}
	// What is kept is read through before anything is begun that cannot be begun again.
	found, fctx := errgroup.WithContext(gctx)
	found.SetLimit(s.opts.workers())
	for i, j := range jobs {
		found.Go(func() error { return j.find(fctx, c, hold, i, s.opts) })
	}
	if err := found.Wait(); err != nil {
		return hold, err
	}
	begin(gctx, g, c, hold, jobs, s.opts)
	err = g.Wait()
	if cause := context.Cause(ctx); cause != nil {
		err = cause // whatever it was that it ended
	}
	return hold, err
}

// begin begins to make what hold has drafts for, in order, as many at once as opts allow. All
// stand in the queue before one is begun: whoever waits for room does not hope for the last.
func begin(ctx context.Context, g *errgroup.Group, c *cache.Cache, hold *cache.Hold, jobs []*job, opts Options) {
	running := newTurns(opts.fetches())
	fetching := newTurns(cmp.Or(opts.Fetches, opts.workers()))
	decoding := newTurns(opts.workers())
	places := make([]*place, len(jobs))
	for i := range jobs {
		if d := hold.Draft(i); d != nil {
			places[i] = running.enqueue(d)
		}
	}
	for i, j := range jobs {
		if places[i] == nil {
			continue
		}
		if running.await(ctx, places[i]) != nil {
			return
		}
		j.running, j.fetching, j.decoding = running, fetching, decoding
		g.Go(func() error { return j.make(ctx, c, hold.Draft(i), opts) })
	}
}

// noRoom places an error of a reservation, by a directory if there is one: it is what takes most.
func noRoom(jobs []*job, c *cache.Cache, err error) error {
	i := max(0, slices.IndexFunc(jobs, func(j *job) bool { return j.source.Tree != nil }))
	err = cacheError(jobs[i].source.Name, c.Dir(), err)
	if e, ok := errors.AsType[*Error](err); ok && jobs[i].source.Tree != nil && errors.Is(err, ErrQuota) {
		e.Hint = "raise --cache-size, or convert fewer directories at once"
	}
	return err
}

// find takes the copy that stands in the cache, if there is one.
func (j *job) find(ctx context.Context, c *cache.Cache, hold *cache.Hold, i int, opts Options) error {
	copied, err := hold.Copy(ctx, i)
	switch {
	case errors.Is(err, cache.ErrDamaged) || err != nil && context.Cause(ctx) != nil:
		return err
	case err != nil:
		return cacheError(j.source.Name, c.Dir(), err)
	case copied == nil:
		return nil
	}
	for _, compression := range compressedAs {
		if j.id.key(compression) == copied.Key {
			j.compression = compression
		}
	}
	size := j.source.Size
	if j.source.Object != nil {
		size = j.source.Object.Size
	}
	j.progress(opts, size)
	j.became(copied, size)
	return nil
}

// make makes the copy. What it has when it fails it keeps until the hold is released: others of
// the group wait for it, and the first error stays the first.
func (j *job) make(ctx context.Context, c *cache.Cache, d *cache.Draft, opts Options) error {
	j.begun = true
	whole, size, err := j.read(ctx, c, d, opts)
	if err != nil {
		return err
	}
	j.running.give()
	if whole == nil {
		return nil // the draft is the room of a directory
	}
	copied, err := j.commit(c, whole)
	if err != nil {
		return err
	}
	j.became(copied, size)
	return d.Discard(nil)
}

// read reads the source into d. What is whole then is to be committed, d or a draft beside it;
// nil: a directory has become one. The source had size bytes.
func (j *job) read(ctx context.Context, c *cache.Cache, d *cache.Draft, opts Options) (whole *cache.Draft, size int64, err error) {
	switch {
	case j.source.Tree != nil:
		return nil, 0, j.plant(ctx, c, d, opts)
	case j.source.Object != nil:
		return j.fetch(ctx, c, d, opts)
	}
	if err := j.decoding.take(ctx, d); err != nil {
		return nil, 0, err
	}
	defer j.decoding.give()
	src, done, err := j.open(ctx, opts)
	if err != nil {
		return nil, 0, err
	}
	defer done()
	if err := j.copy(src, c, d); err != nil {
		j.grown(d, err)
		return nil, 0, err
	}
	return d, src.n, nil
}

// became enters the copy; the source had size bytes.
func (j *job) became(copied *cache.Copy, size int64) {
	j.copied = copied
	j.file = File{
		Name: j.source.Name, Path: copied.Path, Size: copied.Size, ModTime: copied.ModTime,
		Staged: true, Compression: j.compression, SourceSize: size, Mark: j.source.Mark(),
		Content: copied.Sums.Digest(), Sums: newCopySums(copied),
	}
}
