package shard

import (
	"sync"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A mover is a Progress that is told of all the work of writing shards: data is fetched before it
// is written, and read again after. Its methods may be called concurrently.
type mover interface {
	// Planned is called once the phase has begun: how many shards it writes, how many of the same
	// slice are kept from an earlier run, and how many bytes it moves in addition to its data.
	Planned(shards, kept int, beside int64)
	// Moved counts bytes moved in addition to the data: read again, or uploaded. The PartProvider counts fetched bytes.
	Moved(bytes int64)
}

// A watcher is a Progress that is told of each shard, too. Its methods may be called
// concurrently.
type watcher interface {
	plan.Progress
	// Begun is called when the writing of a shard begins.
	Begun(name string)
	// Finished is called when a shard has its name and its line in the journal. first is
	// false where another process had given it that name in the meantime.
	Finished(s dataset.ManifestShard, seconds float64, first bool)
}

// A scaled progress tells of work on some bytes as if it were on others. A phase that knows of
// the parts how large they are where they are stored, compressed maybe, ends with its total so.
type scaled struct {
	plan.Progress
	from, to int64 // bytes

	mu         sync.Mutex
	done, told int64
}

func (s *scaled) Add(samples, bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = min(s.done+bytes, s.from)
	told := int64(float64(s.done) / float64(s.from) * float64(s.to))
	s.Progress.Add(samples, told-s.told)
	s.told = told
}

// A second is the Progress of a second pass over data: bytes are moved, not written.
type second struct{ to mover }

func (s second) Start(string, int64) {}

func (s second) Add(_, bytes int64) { s.to.Moved(bytes) }

// moverOf returns p where it is a Mover, else one that does nothing.
func moverOf(p plan.Progress) mover {
	if m, ok := p.(mover); ok {
		return m
	}
	return unheard{}
}

// watcherOf returns p where it is a Watcher, else one that does nothing.
func watcherOf(p plan.Progress) watcher {
	if w, ok := p.(watcher); ok {
		return w
	}
	return unheard{}
}

// unheard is told of everything and does nothing.
type unheard struct{}

func (unheard) Start(string, int64)                           {}
func (unheard) Add(int64, int64)                              {}
func (unheard) Planned(int, int, int64)                       {}
func (unheard) Moved(int64)                                   {}
func (unheard) Begun(string)                                  {}
func (unheard) Finished(dataset.ManifestShard, float64, bool) {}
