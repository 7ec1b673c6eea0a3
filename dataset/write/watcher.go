package write

import (
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A watcher is a Progress that also receives events of shards, and counts all transferred bytes: fetched, written
// and re-read. Its methods may be called concurrently.
type watcher interface {
	plan.Progress
	// Planned is called after the phase has begun, with the number of shards to write, the number of shards of the
	// slice that are kept from an earlier run, and the bytes that will be moved in addition to its data.
	Planned(shards, kept int, beside int64)
	// Moved counts bytes moved in addition to the data: re-read or uploaded. The PartProvider counts fetched bytes.
	Moved(bytes int64)
	// Begun is called before a shard is written.
	Begun(name string)
	// Finished is called after a shard was renamed and added to the journal. first is false if another process
	// had renamed it first.
	Finished(s dataset.ManifestShard, seconds float64, first bool)
}

// discard is a watcher that ignores every event.
type discard struct{}

func (discard) Start(string, int64)                           {}
func (discard) Add(int64, int64)                              {}
func (discard) Planned(int, int, int64)                       {}
func (discard) Moved(int64)                                   {}
func (discard) Begun(string)                                  {}
func (discard) Finished(dataset.ManifestShard, float64, bool) {}
