package shard

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// WriteOptions say how to write, never what: shards do not depend on them.
type WriteOptions struct {
	Workers   int           // shards written at once, or readers of one where there are fewer shards; default: the CPUs this process may use
	Overwrite bool          // replace another dataset in the output
	NoVerify  bool          // do not re-read the shards
	Verify    bool          // re-read shards that a run before has finished, too, and write the damaged ones anew; of a whole plan, not of a slice
	OpenFiles int           // the files that this process may have open; default: any number
	AIO       aio.Options   // for verifying; Depth is of all workers together, default verify.DefaultDepth
	Progress  plan.Progress // may be nil; with Planned, Moved, Begun and Finished it follows shards, too: see watcher.go
	Tool      string        // name and version of the program, for the manifest
	Named     []string      // the sources as the user named them; a repair finds them by these names

	// Drain, once it is closed, lets the shards under way be finished and begins no other.
	// What is left then is [ErrDrained]. nil: never.
	Drain <-chan struct{}

	// Filled is called when all shards of the run have been written, before a manifest is. Its error is the run's. nil:
	// not called.
	Filled func(ctx context.Context) error
}

// ErrDrained says that a run stopped beginning shards because WriteOptions.Drain was closed.
var ErrDrained = errors.New("told to begin no more shards")

// A Report says what a run has done.
type Report struct {
	Task     plan.Task         // which slice it was of; zero: the whole
	Manifest *dataset.Manifest // nil of a slice: Finish writes it
	Shards   int               // of the slice
	Samples  int64             // of these
	Bytes    int64             // of these
	Kept     int               // shards that a run before had finished, and that this run has not touched
	Lost     []string          // shards that a run before had finished, and that were found damaged or missing
	Others   int               // shards that had their names already, from another process or run
	Written  int64             // bytes of the shards that this run has written
	Already  bool              // the manifest was there and stays; false of a slice
	Beside   []string          // meta.json and the manifest, if this run has written them; of a repair, the journal too
	Verified bool              // this run has re-read and checked every shard
	Reread   int               // shards that it has
	Seconds  float64           // that the call took
	Backend  string            // how shards were re-read: aio or pread; empty if none was
	Fallback string            // why not Linux AIO
	From     aio.Origin        // where this run read the shards that it re-read

	// Of a dataset that a bucket keeps:
	Uploaded int  // shards that this run has put there, with a checksum that the service compared
	ReadBack bool // and all bytes of which it has read back and compared, as those of the shards that it has kept
	Unread   int  // shards that it has kept, and not read whole: their versions, or checksums of the service, are the same

	// VerifiedAt is when the first of the shards that this run has not re-read was, by the run
	// that wrote it. It is zero where there are none, where one never was re-read, and where
	// nothing says when.
	VerifiedAt time.Time
}

// reread enters which shards of a plan this run has re-read, and when the others were.
func (r *Report) reread(p *plan.Plan, now map[string]bool, j *dataset.Journal) {
	first, known := int64(math.MaxInt64), true
	for i := range p.Shards {
		done := j.Done[p.Shards[i].Name]
		switch {
		case now[done.Name]:
			r.Reread++
		case done.Verified && done.At > 0:
			first = min(first, done.At)
		default:
			known = false
		}
	}
	r.Verified = r.Reread == len(p.Shards)
	if known && !r.Verified {
		r.VerifiedAt = time.Unix(first, 0)
	}
}

// complete commits the dataset and enters what that has written.
func (r *Report) complete(out *dataset.Writing, plan *plan.Plan, j *dataset.Journal, tool string) (err error) {
	r.Manifest, r.Beside, err = out.Complete(plan, j, tool)
	r.Already = err == nil && !slices.Contains(r.Beside, dataset.ManifestName)
	return err
}
