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

// A Stager makes found names local a group at a time, just ahead of use, so that a cache smaller
// than all of them does. Its methods may be called concurrently.
type Stager struct {
	found []input.Name
	opts  Options
	run   identity // of this run

	decoding *semaphore.Weighted // one for each decoder, which needs a processor and a window
	turn     chan struct{}       // has one while a Take reserves room, or has all of it

	mu      sync.Mutex
	cache   *cache.Cache            // nil: nothing has needed it yet
	sets    int                     // that have room, or leases
	changed chan struct{}           // closed and replaced when there may be more room, or a copy more
	once    map[int]converters.Part // by place, what was staged once
	kept    []*cache.Lease          // on these
	failed  map[int]error           // by place, of sources that could be read once
	ratios  map[string]float64      // by the ends of names: how many times its size a source becomes
}

// NewStager prepares to stage found names; nothing is read yet. Of opts, CacheDir and what
// follows it matter, and Remote.
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

// Take makes the names at places local, seekable, uncompressed files, and holds them until the Set is
// released; its Parts are in the order of places. One that is all of that already is used in place; others are staged,
// opts.Workers at once, or taken from the cache where a complete copy stands. Every local file
// must still have the size and modification time that [Find] saw. A local directory
// is handed on unopened; an [input.ObjectTree] becomes one, whole, for each Take anew.
//
// Take waits, in the order of calls, until the cache has room for all copies, as large as they are
// expected to become, or no other Set of this Stager has room. If copies grow beyond that, Take begins
// again when it is alone. It returns [ErrQuota] if that does not suffice; at once if the sizes that are
// known are more than the quota. A source that can be read once must find room as it is read. A caller
// that has a Set must not take another one: it could wait for itself.
//
// The same names may be taken again: an evicted copy is made anew, and its Path may have another
// modification time then. A source of unknown size (standard input, the output of a command, some
// objects) is staged once and kept until the Stager is closed. A command must close its output and
// exit with status 0, else it is [ErrCommand]. A command that must stop gets SIGTERM, with its process
// group, and SIGKILL a second later.
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
			j.part.Name = set.Parts[i].Name // one source may have two
			set.Parts[i] = j.part
		}
		if j.lease != nil {
			set.leases = append(set.leases, j.lease)
		}
	}
	return set, nil
}

// jobs lists the sources to stage, each once, in order of first mention.
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
	c, err := cache.Open(dir, s.opts.Quota, cache.Options{Fault: s.opts.fault, Evicted: func(path string) { s.opts.say("# deleting %s", path) }})
	if err != nil {
		e := place.IOError(dir, err)
		e.Hint = otherCache
		return e
	}
	s.cache = c
	return nil
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
	for _, l := range s.kept {
		err = cmp.Or(err, l.Release())
	}
	if err = cmp.Or(err, s.cache.Close()); err != nil {
		err = place.IOError(s.cache.Dir(), err)
	}
	s.cache, s.kept = nil, nil
	return err
}
