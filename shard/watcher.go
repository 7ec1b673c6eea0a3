package shard

import (
	"sync"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A watcher is a Progress that also follows shards, and all the work of writing them: data is fetched before it
// is written, and read again after. Its methods may be called concurrently.
type watcher interface {
	plan.Progress
	// Planned is called once the phase has begun: how many shards it writes, how many of the same
	// slice are kept from an earlier run, and how many bytes it moves in addition to its data.
	Planned(shards, kept int, beside int64)
	// Moved counts bytes moved in addition to the data: read again, or uploaded. The PartProvider counts fetched bytes.
	Moved(bytes int64)
	// Begun is called when the writing of a shard begins.
	Begun(name string)
	// Finished is called when a shard has its name and its line in the journal. first is
	// false where another process had given it that name in the meantime.
	Finished(s dataset.ManifestShard, seconds float64, first bool)
}

// watcherOf returns p if it is a watcher, else one that ignores every event.
func watcherOf(p plan.Progress) watcher {
	if w, ok := p.(watcher); ok {
		return w
	}
	return discard{}
}

// A scaled progress reports work on from bytes as work on to bytes: a phase whose total is the size of the parts as stored,
// compressed maybe, ends with that total.
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
type second struct{ to watcher }

func (s second) Start(string, int64) {}
func (s second) Add(_, bytes int64)  { s.to.Moved(bytes) }

// discard is a watcher that ignores every event.
type discard struct{}

func (discard) Start(string, int64)                           {}
func (discard) Add(int64, int64)                              {}
func (discard) Planned(int, int, int64)                       {}
func (discard) Moved(int64)                                   {}
func (discard) Begun(string)                                  {}
func (discard) Finished(dataset.ManifestShard, float64, bool) {}
