package shard

import (
	"errors"

	"github.com/ffconvert/ffconvert/aio"
)

// WriteOptions say how to write, never what: shards do not depend on them.
type WriteOptions struct {
	Workers   int         // shards written at once, or readers of one where there are fewer shards; default: the CPUs this process may use
	Overwrite bool        // replace another dataset in the output
	NoVerify  bool        // do not re-read the shards
	AIO       aio.Options // for verifying; Depth is of all workers together, default verify.DefaultDepth
	Progress  Progress    // may be nil
	Tool      string      // name and version of the program, for the manifest
	Named     []string    // the sources as the user named them; a repair finds them by these names

	// Drain, once it is closed, lets the shards under way be finished and begins no other.
	// What is left then is [ErrDrained]. nil: never.
	Drain <-chan struct{}
}

// ErrDrained says that a run began no more shards because it was told so.
var ErrDrained = errors.New("told to begin no more shards")

// A Report says what a run has done.
type Report struct {
	Task     Task       // which slice it was of; zero: the whole
	Manifest *Manifest  // nil of a slice: Finish writes it
	Shards   int        // of the slice
	Samples  int64      // of these
	Bytes    int64      // of these
	Kept     int        // shards that a run before had finished
	Others   int        // shards that another process has finished meanwhile
	Verified bool       // every shard was re-read and checked, now or then
	Seconds  float64    // this run
	Backend  string     // of verification: aio or pread; empty where nothing was verified
	Fallback string     // why not Linux AIO
	From     aio.Origin // where the shards were re-read from, now or then
}
