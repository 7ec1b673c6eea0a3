package plan

// A Progress receives the progress of the work. Its methods may be called concurrently.
type Progress interface {
	// Start begins a phase that processes that number of bytes of data: "index", "write".
	Start(phase string, bytes int64)
	// Add counts data that the phase has finished: bytes written, not bytes re-read.
	Add(samples, bytes int64)
}

// StartPhase begins a phase and returns the progress; for nil, one that does nothing.
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

// A Tally adds small samples to a progress by the thousand. It is for one goroutine.
type Tally struct {
	To             func(samples, bytes int64) // Progress.Add
	samples, bytes int64
}

// Add counts; every few thousand samples or MiB go to To.
func (t *Tally) Add(samples, bytes int64) {
	t.samples += samples
	t.bytes += bytes
	if t.samples >= 4096 || t.bytes >= 1<<20 {
		t.Flush()
	}
}

// Flush passes on what is left. Call it at the end.
func (t *Tally) Flush() {
	t.To(t.samples, t.bytes)
	t.samples, t.bytes = 0, 0
}
