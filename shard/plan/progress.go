package plan

// A Progress is told how the work goes on. Its methods may be called concurrently.
type Progress interface {
	// Start begins a phase that will handle that number of bytes of data: "index", "write".
	Start(phase string, bytes int64)
	// Add counts data that the phase has dealt with: bytes that are written, not read again.
	Add(samples, bytes int64)
}

// StartPhase begins a phase and returns the progress, one that does nothing for nil.
func StartPhase(p Progress, phase string, bytes int64) Progress {
	if p == nil {
		p = silent{}
	}
	p.Start(phase, bytes)
	return p
}

type silent struct{}

func (silent) Start(string, int64) {}
func (silent) Add(int64, int64)    {}

// A tally tells a Progress of small samples by the thousand. It is for one goroutine.
type Tally struct {
	To             Progress
	samples, bytes int64
}

func (t *Tally) Add(samples, bytes int64) {
	t.samples += samples
	t.bytes += bytes
	if t.samples >= 4096 || t.bytes >= 1<<20 {
		t.Flush()
	}
}

func (t *Tally) Flush() {
	t.To.Add(t.samples, t.bytes)
	t.samples, t.bytes = 0, 0
}
