package write

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

// Options control how shards are written, not their content.
type Options struct {
	Workers   int           // shards written at once, or readers of one if there are fewer shards; default: the CPUs that this process may use
	Overwrite bool          // replace another dataset in the output
	NoVerify  bool          // do not re-read the shards
	Verify    bool          // also re-read shards of earlier runs, and rewrite damaged ones; for a whole plan, not for a slice
	OpenFiles int           // number of files that this process may have open; default: no limit
	AIO       aio.Options   // for verifying; Depth is the sum over all workers, default verify.DefaultDepth
	Progress  plan.Progress // may be nil; if it has Planned, Moved, Begun and Finished it is a watcher: see watcher.go
	Tool      string        // name and version of the program, for the manifest
	Named     []string      // the sources as the user named them; a repair looks for them under these names

	// After Drain is closed, workers finish the shards that they have begun and begin no other. If shards remain, the
	// error is [ErrDrained]. nil: never.
	Drain <-chan struct{}

	// Filled is called after all shards of the run are written and before the manifest is. If it returns an error the run
	// fails with it. nil: not called.
	Filled func(ctx context.Context) error
}

// ErrDrained reports that shards remain because Options.Drain was closed.
var ErrDrained = errors.New("told to begin no more shards")

// A Report describes a run.
type Report struct {
	Task     plan.Task         // slice of the run; zero: the whole plan
	Manifest *dataset.Manifest // nil for a slice: Finish writes it
	Shards   int               // number of shards of the slice
	Samples  int64             // of these shards
	Bytes    int64             // of these shards
	Kept     int               // shards that an earlier run finished and this run did not rewrite
	Lost     []string          // shards that an earlier run finished and this run found damaged or missing
	Others   int               // shards that another process or run had named first
	Written  int64             // bytes of the shards that this run wrote
	Unsigned bool              // the dataset had a signature, which is gone with the manifest that it was of
	Already  bool              // the dataset was complete, and its manifest stays; false for a slice
	Beside   []string          // meta.json and the manifest, if this run wrote them; after a repair also the journal
	Verified bool              // this run re-read and checked every shard
	Reread   int               // number of shards that this run re-read
	Seconds  float64           // duration of the call
	Backend  string            // how shards were re-read: aio or pread; "": none was
	Fallback string            // why Linux AIO was not used
	From     aio.Origin        // where re-read bytes came from

	// For a dataset in an object store:
	Uploaded int  // shards that this run uploaded, with a checksum that the service compared
	ReadBack bool // this run also read back and compared all their bytes, and those of the kept shards
	Unread   int  // kept shards that were not read whole, because their versions or the checksums of the service are the same

	// VerifiedAt is the earliest time at which an earlier run re-read a shard that this run has not re-read. Zero if there
	// is no such shard, if one was never re-read, or if the time is not known.
	VerifiedAt time.Time
}

// reread sets which shards of a plan this run has re-read, and when the others were.
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

// complete commits the dataset and adds the written files to the report.
func (r *Report) complete(out *dataset.Writing, plan *plan.Plan, j *dataset.Journal, tool string) (err error) {
	r.Manifest, r.Beside, err = out.Complete(plan, j, tool)
	r.Unsigned = out.Unsigned
	r.Already = err == nil && !slices.Contains(r.Beside, dataset.ManifestName)
	return err
}
