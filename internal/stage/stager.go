package stage

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/ffconvert/ffconvert/internal/cache"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/place"
)

// A Stager makes found names local a group at a time, just ahead of use, so that a cache smaller
// than all of them does. Its methods may be called concurrently.
type Stager struct {
	found []input.Name
	opts  Options
	run   identity // of this run

	mu    sync.Mutex
	cache *cache.Cache        // nil: nothing has needed it yet
	once  map[int]*stagedOnce // those that can be staged once, by place
	grows map[string]float64  // by the ends of names: how many times its size a source becomes
	ours  map[string]bool     // keys of copies that no other run can use
}

// A stagedOnce is the result for standard input, a command or an object of unknown size.
type stagedOnce struct {
	done chan struct{} // closed when the rest is set
	file File
	err  error
}

// NewStager prepares to stage found names; nothing is read yet. Of opts, CacheDir and what
// follows it matter, and Remote.
func NewStager(found []input.Name, opts Options) (*Stager, error) {
	for _, n := range found {
		if n.URL() != "" && opts.Remote == nil {
			return nil, place.Refuse(n.Name, input.ErrScheme, "", "nothing here reads objects")
		}
	}
	return &Stager{found: found, opts: opts, run: anonymous(), once: map[int]*stagedOnce{}, ours: map[string]bool{}, grows: map[string]float64{}}, nil
}

// Take makes names first … first+n-1 local, seekable, uncompressed files, and holds them until the
// Set is released. One that is all of that already is used in place; others are staged,
// opts.Workers at once, or taken from the cache where a complete copy stands. Every local file
// must still have the size and modification time that [Find] saw. A local directory
// is handed on unopened; an [input.ObjectTree] becomes one, whole, for each Take anew.
//
// Take waits until other Sets of this process are released and the cache has room for all objects of
// the group, and their expected decompressed size. It returns [ErrQuota] if that would not suffice. A
// caller that has a Set must not take another one before it calls [Set.Keep]: it could wait for
// itself.
//
// The same names may be taken again: an evicted copy is made anew, and its Path may have another
// modification time then. A source of unknown size (standard input, the output of a command, some
// objects) is staged once and kept until the Stager is closed. A command must close its output and
// exit with status 0, else it is [ErrCommand]. A command that must stop gets SIGTERM, with its process
// group, and SIGKILL a second later.
func (s *Stager) Take(ctx context.Context, first, n int) (*Set, error) {
	places := make([]int, n)
	for i := range places {
		places[i] = first + i
	}
	return s.TakeEach(ctx, places)
}

// TakeEach is [Stager.Take] of names that may lie apart, by their places; the files of the Set
// are in the order of these.
func (s *Stager) TakeEach(ctx context.Context, places []int) (*Set, error) {
	n := len(places)
	found := make([]input.Name, n)
	for i, place := range places {
		found[i] = s.found[place]
	}
	set := &Set{Files: make([]File, n)}
	if err := set.inspect(ctx, found, s.opts); err != nil {
		return nil, err
	}
	jobs, err := s.plan(ctx, set, places)
	if err != nil {
		return nil, err
	}
	if len(jobs) == 0 {
		return set, nil
	}
	c, err := s.open()
	if err == nil {
		set.dir = c.Dir()
		set.lease, err = s.stage(ctx, c, jobs)
	}
	if err := s.settle(set, jobs, err); err != nil {
		return nil, err
	}
	return set, nil
}

// plan lists the sources to stage, each once, in order of first mention. It waits for sources that
// another Take stages and that can be staged once only, and claims the others.
func (s *Stager) plan(ctx context.Context, set *Set, places []int) ([]*job, error) {
	for {
		jobs, other, err := s.claim(set, places)
		if other == nil || err != nil {
			return jobs, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-other.done:
		}
	}
}

// claim is plan without waiting: if other is set, it must be awaited, and nothing is claimed.
func (s *Stager) claim(set *Set, places []int) (jobs []*job, other *stagedOnce, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	byID := map[identity]*job{}
	for i := range set.Files {
		at := places[i]
		n := s.found[at]
		if n.Path != "" && set.Files[i].Compression == "" {
			continue
		}
		if once := s.once[at]; once != nil {
			select {
			case <-once.done:
			default:
				return nil, once, nil
			}
			if once.err != nil {
				return nil, nil, once.err
			}
			set.Files[i] = once.file
			continue
		}
		id, err := identify(n, s.run, at)
		if err != nil {
			return nil, nil, place.IOError(n.Name, err)
		}
		j := byID[id]
		if j == nil {
			j = newJob(n, id, set.Files[i].Compression, at)
			byID[id] = j
			jobs = append(jobs, j)
		}
		j.files = append(j.files, i)
	}
	for _, j := range jobs {
		if j.source.Once() {
			s.once[j.place] = &stagedOnce{done: make(chan struct{})}
		}
		if servesOneRun(j.source) {
			for _, key := range j.keys {
				s.ours[key] = true
			}
		}
	}
	return jobs, nil, nil
}

// settle records the results of the jobs. A source that can be read once and was begun cannot be
// begun again.
func (s *Stager) settle(set *Set, jobs []*job, err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var kept []*cache.Copy
	for _, j := range jobs {
		if err == nil {
			for _, i := range j.files {
				j.file.Name = set.Files[i].Name // one source may have two
				set.Files[i] = j.file
			}
		}
		once := s.once[j.place]
		switch {
		case !j.source.Once():
			continue
		case err == nil:
			once.file = j.file
			kept = append(kept, j.copied)
		case j.begun:
			once.err = err
		default:
			delete(s.once, j.place)
		}
		close(once.done)
	}
	if err == nil {
		set.lease.Retain(kept...)
	}
	return err
}

// open opens the cache when the first copy needs it.
func (s *Stager) open() (*cache.Cache, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cache != nil || s.opts.NoCache != nil {
		return s.cache, s.opts.NoCache
	}
	dir := s.opts.CacheDir
	if dir == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("no cache directory: %w", err)
		}
		dir = filepath.Join(base, "ffconvert")
	}
	c, err := cache.Open(dir, s.opts.Quota, cache.Options{Transient: s.opts.Transient, Fault: s.opts.fault, Evicted: func(path string) { s.opts.say("# deleting %s", path) }})
	if err != nil {
		e := place.IOError(dir, err)
		e.Hint = otherCache
		return nil, e
	}
	s.cache = c
	return c, nil
}

// Close removes copies that no later run can use, and the cache directory if it is empty. All
// Sets must have been released. It may be called again.
func (s *Stager) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cache == nil {
		return nil
	}
	var err error
	if len(s.ours) > 0 {
		err = s.cache.Forget(s.ours)
	}
	if cerr := s.cache.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		err = place.IOError(s.cache.Dir(), err)
	}
	s.cache = nil
	return err
}
