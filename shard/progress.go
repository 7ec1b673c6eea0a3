package shard

// A Progress is told how the work goes on. Its methods may be called concurrently.
type Progress interface {
	// Start begins a phase of so many bytes: "index", "write".
	Start(phase string, bytes int64)
	// Add counts work that is done in the phase.
	Add(samples, bytes int64)
}

// startPhase begins a phase and returns the progress, one that does nothing for nil.
func startPhase(p Progress, phase string, bytes int64) Progress {
	if p == nil {
		p = silent{}
	}
	p.Start(phase, bytes)
	return p
}

type silent struct{}

func (silent) Start(string, int64) {}
func (silent) Add(int64, int64)    {}

// A batched progress tells of small samples by the thousand. It is for one goroutine.
type batched struct {
	to             Progress
	samples, bytes int64
}

func (b *batched) add(samples, bytes int64) {
	b.samples += samples
	b.bytes += bytes
	if b.samples >= 4096 || b.bytes >= 1<<20 {
		b.flush()
	}
}

func (b *batched) flush() {
	b.to.Add(b.samples, b.bytes)
	b.samples, b.bytes = 0, 0
}
