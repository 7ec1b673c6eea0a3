package packed

// A Progress is told how the work goes on, by one goroutine at a time.
type Progress interface {
	// Start begins a phase of so many bytes: "pack", "verify", "unpack".
	Start(phase string, bytes int64)
	// Add counts work that is done in the phase. In "verify", samples are files and
	// their names.
	Add(files, bytes int64)
}

type silent struct{}

func (silent) Start(string, int64) {}
func (silent) Add(int64, int64)    {}
