package stage

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/cache"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/place"
)

// A Stager makes found names local a group at a time, before each is used, so that the cache may be smaller
// than all of them. Its methods may be called concurrently.
type Stager struct {
	found []input.Name
	opts  Options
	run   identity // random

	decoding *semaphore.Weighted // limits decoders: each needs a processor and a window
	turn     chan struct{}       // holds a value while a Take reserves room, or stages alone

	mu      sync.Mutex
	cache   *cache.Cache            // nil: not opened yet
	sets    int                     // number of sets that have leases
	changed chan struct{}           // closed and replaced when room or a copy may have become available
	once    map[int]converters.Part // by place, copies of sources that can be read once
	kept    []*cache.Lease          // on these copies
	failed  map[int]error           // by place, errors of sources that can be read once
	ratios  map[string]float64      // by suffix, the largest ratio of decompressed to compressed bytes
}

// NewStager returns a Stager for found names. It reads nothing.
func NewStager(found []input.Name, opts Options) (*Stager, error) {
	for _, n := range found {
		if n.URL() != "" && opts.Remote == nil {
			return nil, place.Refuse(n.Name, input.ErrScheme, "", "nothing here reads objects")
		}
	}
	opts = opts.withDefaults()
	return &Stager{
		found: found, opts: opts, run: anonymous(),
		decoding: semaphore.NewWeighted(int64(opts.Workers)), turn: make(chan struct{}, 1), changed: make(chan struct{}),
		once: map[int]converters.Part{}, failed: map[int]error{}, ratios: map[string]float64{},
	}, nil
}

// Take makes the names at places, which are indexes of found, local, seekable, uncompressed files, and keeps them until
// the Set is released; its Parts are in the order of places. A local uncompressed file is used in place. For others
// Take uses a complete copy in the cache, or makes one, opts.Workers at a time. Every local file
// must still have the size and modification time that [input.Find] has recorded. A local directory
// is passed on unopened; an [input.ObjectTree] is fetched to a new directory by each Take.
//
// Take waits, in the order of calls, until the cache has room for the expected size of all copies, or no
// other Set of this Stager has leases. If copies grow beyond that, Take repeats the attempt without other
// Sets. If that does not suffice, or if the known sizes exceed the quota, it returns [ErrQuota]. A source
// that can be read once is not repeated. A caller that holds a Set must not call Take: it could wait for itself.
//
// The same names may be taken again: an evicted copy is made again, and its file may have another
// modification time. A source that can be read once (standard input, the output of a command) is staged once, and its
// copy is kept until the Stager is closed. A command must close its output and
// exit with status 0, otherwise the error is [input.ErrCommand]. To stop a command its process group gets SIGTERM,
// and SIGKILL a second later.
func (s *Stager) Take(ctx context.Context, places []int) (*Set, error) {
	set := &Set{Parts: make([]converters.Part, len(places)), stager: s}
	found := make([]input.Name, len(places))
	for i, place := range places {
		found[i] = s.found[place]
	}
	compressions, err := set.inspect(ctx, found, s.opts)
	if err != nil {
		return nil, err
	}
	jobs, err := s.jobs(set, places, compressions)
	if err != nil || len(jobs) == 0 {
		return set, err
	}
	if err := s.stage(ctx, jobs); err != nil {
		return nil, err
	}
	set.staged = true
	for _, j := range jobs {
		for _, i := range j.parts {
			j.part.Name = set.Parts[i].Name // a source may have several names
			set.Parts[i] = j.part
		}
		if j.lease != nil {
			set.leases = append(set.leases, j.lease)
		}
	}
	return set, nil
}

// jobs returns a job for each source to stage, in the order of places.
func (s *Stager) jobs(set *Set, places []int, compressions []string) (jobs []*job, err error) {
	byID := map[identity]*job{}
	for i, at := range places {
		n := s.found[at]
		if n.Path != "" && compressions[i] == "" {
			continue
		}
		s.mu.Lock()
		once := s.once[at]
		s.mu.Unlock()
		if once.Path != "" {
			set.Parts[i] = once
			continue
		}
		id, err := identify(n, s.run, at)
		if err != nil {
			return nil, place.IOError(n.Name, err)
		}
		j := byID[id]
		if j == nil {
			if err := s.open(); err != nil {
				return nil, err
			}
			j = s.newJob(n, compressions[i], id, at)
			byID[id] = j
			jobs = append(jobs, j)
		}
		j.parts = append(j.parts, i)
	}
	return jobs, nil
}

// open opens the cache when the first copy needs it.
func (s *Stager) open() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cache != nil || s.opts.NoCache != nil {
		return s.opts.NoCache
	}
	dir := s.opts.CacheDir
	if dir == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return fmt.Errorf("no cache directory: %w", err)
		}
		dir = filepath.Join(base, "ffconvert")
	}
	c, err := cache.Open(dir, s.opts.Quota, cache.Options{Fault: s.opts.fault, Evicted: func(path string) { s.opts.verbose("# deleting %s", path) }})
	if err != nil {
		e := place.IOError(dir, err)
		e.Hint = otherCache
		return e
	}
	s.cache = c
	return nil
}

// Close removes copies that no later run can use, and the cache directory if it is empty. All
// Sets must be released before. It may be called again.
func (s *Stager) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cache == nil {
		return nil
	}
	var err error
	for _, l := range s.kept {
		err = cmp.Or(err, l.Release())
	}
	if err = cmp.Or(err, s.cache.Close()); err != nil {
		err = place.IOError(s.cache.Dir, err)
	}
	s.cache, s.kept = nil, nil
	return err
}
