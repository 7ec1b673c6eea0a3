package convert

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/bucket"
	"github.com/ffconvert/ffconvert/shard"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// waitPause returns the time until the next check of the directory: a tenth of the time waited so
// far, so that a finish is late by a tenth at most.
func waitPause(waited time.Duration) time.Duration {
	const least, most = 100 * time.Millisecond, 15 * time.Second
	return min(max(waited/10, least), most)
}

// FinishOptions say how a dataset is completed.
type FinishOptions struct {
	Wait     time.Duration                         // how long to wait for missing shards and for the plan; 0: not at all
	Verify   bool                                  // re-read all shards
	AIO      aio.Options                           // for re-reading
	Tool     string                                // name and version of the program, for the manifest
	Sign     func(manifest []byte) ([]byte, error) // as in Options
	Progress plan.Progress                         // may be nil
	Waiting  func(what string)                     // called every minute with what is missing; may be nil
	Bucket   bucket.Options                        // of a dataset in an object store
}

// Finish checks that all shards of the plan in a directory exist and that the counts of entries,
// samples and fields add up, and writes the manifest, which completes the dataset.
func Finish(ctx context.Context, dir string, opts FinishOptions) (*shard.Report, error) {
	began := time.Now()
	for {
		if err := allNamed(ctx, opts, began, dir); err != nil {
			return nil, err
		}
		report, err := finishOnce(ctx, opts, dir)
		if err == nil {
			return report, nil
		}
		pause := waitPause(time.Since(began))
		if time.Since(began)+pause > opts.Wait || !worthWaiting(err) {
			return nil, err
		}
		if err := sleep(ctx, pause); err != nil {
			return nil, err
		}
	}
}

// allNamed waits until all shards have their names, or the time is over. Meanwhile it leaves the lock
// to the tasks.
func allNamed(ctx context.Context, opts FinishOptions, began time.Time, dir string) error {
	var told time.Time
	for time.Since(began) < opts.Wait {
		named, of, err := opts.named(ctx, dir)
		if err == nil && named == of || err != nil && !worthWaiting(err) {
			return err
		}
		if opts.Waiting != nil && time.Since(told) >= waitTold {
			told = time.Now()
			what := fmt.Sprintf("%d of %d shards have their names", named, of)
			if err != nil {
				what = err.Error()
			}
			opts.Waiting(what)
		}
		waited := time.Since(began)
		if err := sleep(ctx, min(waitPause(waited), opts.Wait-waited)); err != nil {
			return err
		}
	}
	return nil
}

// named returns how many shards of a plan have their names, or their lines in a bucket, and how many there are.
func (o *FinishOptions) named(ctx context.Context, dir string) (named, of int, err error) {
	if IsURL(dir) {
		return bucket.Named(ctx, dir, o.Bucket)
	}
	if err := checkPlanned(dir); err != nil {
		return 0, 0, err
	}
	return dataset.Named(dir)
}

// waitTold is the time between two calls of Waiting.
const waitTold = time.Minute

// worthWaiting reports whether running tasks may make the error go away.
func worthWaiting(err error) bool {
	for _, kind := range []error{dataset.ErrMissing, dataset.ErrLocked, ErrUnplanned, dataset.ErrNothingKept, fs.ErrNotExist} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

func finishOnce(ctx context.Context, opts FinishOptions, dir string) (*shard.Report, error) {
	out, err := opts.open(ctx, dir)
	if err != nil {
		return nil, err
	}
	out.Sign = opts.Sign
	report, err := shard.Finish(ctx, out, shard.FinishOptions{
		Verify: opts.Verify, AIO: opts.AIO, Progress: opts.Progress, Tool: opts.Tool,
	})
	if !IsURL(dir) {
		err = early(dir, err)
	}
	return report, closeOutput(out.Task, err)
}

func (o *FinishOptions) open(ctx context.Context, dir string) (*dataset.Writing, error) {
	if IsURL(dir) {
		out, err := bucket.Open(ctx, dir, o.Bucket)
		if err == nil {
			if err = planned(out.Dataset); err != nil {
				err = errors.Join(err, out.Close())
			}
		}
		return out, err
	}
	if err := checkPlanned(dir); err != nil {
		return nil, err
	}
	out, err := dataset.Open(dir)
	return out, early(dir, err)
}

// early adds dataset.ErrMissing to dataset.ErrLocked if shards are missing.
func early(dir string, err error) error {
	if !errors.Is(err, dataset.ErrLocked) {
		return err
	}
	if named, of, failed := dataset.Named(dir); named == of || failed != nil {
		return err
	}
	return fmt.Errorf("%w, and %w", err, dataset.ErrMissing)
}
