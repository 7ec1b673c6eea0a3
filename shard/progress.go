package shard

import "sync"

// A Progress is told how the work goes on. Its methods may be called concurrently.
type Progress interface {
	// Start begins a phase of so many bytes of data: "index", "write".
	Start(phase string, bytes int64)
	// Add counts data that the phase has dealt with: bytes that are written, not read again.
	Add(samples, bytes int64)
}

// A Mover is a Progress that is told of all the work of writing shards: data is fetched before it
// is written, and read again after. Its methods may be called concurrently.
type Mover interface {
	// Planned is called once the phase has begun: how many shards it writes, how many of the same
	// slice are kept from a run before, and how many bytes it moves beside those of its data.
	Planned(shards, kept int, beside int64)
	// Moved counts bytes beside those of the data. Whoever provides the parts counts what is fetched.
	Moved(bytes int64)
}

// A Watcher is a Progress that is told of each shard, too. Its methods may be called
// concurrently.
type Watcher interface {
	Progress
	// Begun is called when the writing of a shard begins.
	Begun(name string)
	// Finished is called when a shard has its name and its line in the journal. first is
	// false where another process had given it that name in the meantime.
	Finished(s ManifestShard, seconds float64, first bool)
}

// startPhase begins a phase and returns the progress, one that does nothing for nil.
func startPhase(p Progress, phase string, bytes int64) Progress {
	if p == nil {
		p = silent{}
	}
	p.Start(phase, bytes)
	return p
}

// moverOf returns p where it is a Mover, else one that does nothing.
func moverOf(p Progress) Mover {
	if m, ok := p.(Mover); ok {
		return m
	}
	return silent{}
}

// A scaled progress tells of work on some bytes as if it were on others. A phase that knows of
// the parts how large they are where they are stored, compressed maybe, ends with its total so.
type scaled struct {
	Progress
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
type second struct{ to Mover }

func (s second) Start(string, int64) {}
func (s second) Add(_, bytes int64)  { s.to.Moved(bytes) }

// watcherOf returns p where it is a Watcher, else one that does nothing.
func watcherOf(p Progress) Watcher {
	if w, ok := p.(Watcher); ok {
		return w
	}
	return silent{}
}

type silent struct{}

func (silent) Start(string, int64)                   {}
func (silent) Add(int64, int64)                      {}
func (silent) Planned(int, int, int64)               {}
func (silent) Moved(int64)                           {}
func (silent) Begun(string)                          {}
func (silent) Finished(ManifestShard, float64, bool) {}

// A tally tells a Progress of small samples by the thousand. It is for one goroutine.
type tally struct {
	to             Progress
	samples, bytes int64
}

func (t *tally) add(samples, bytes int64) {
	t.samples += samples
	t.bytes += bytes
	if t.samples >= 4096 || t.bytes >= 1<<20 {
		t.flush()
	}
}

func (t *tally) flush() {
	t.to.Add(t.samples, t.bytes)
	t.samples, t.bytes = 0, 0
}
