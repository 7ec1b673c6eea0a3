package convert

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/bucket"
	"github.com/ffconvert/ffconvert/shard"
)

// waitPause returns the time until the next check of the directory: a tenth of the time waited so
// far, so that a finish is late by a tenth at most.
func waitPause(waited time.Duration) time.Duration {
	const least, most = 100 * time.Millisecond, 15 * time.Second
	return min(max(waited/10, least), most)
}

// Finish checks that all shards of the plan in the output exist and that the counts of entries,
// samples and fields add up, and writes the manifest, which completes the dataset. wait is how long
// to wait for missing shards and for the plan; 0: not at all.
func (c Conversion) Finish(ctx context.Context, wait time.Duration) (*shard.Report, error) {
	began := time.Now()
	for {
		if err := c.allNamed(ctx, wait, began); err != nil {
			return nil, err
		}
		report, err := c.finishOnce(ctx)
		if err == nil {
			return report, nil
		}
		pause := waitPause(time.Since(began))
		if time.Since(began)+pause > wait || !worthWaiting(err) {
			return nil, err
		}
		if err := sleep(ctx, pause); err != nil {
			return nil, err
		}
	}
}

// allNamed waits until all shards have their names, or the time is over. Meanwhile it leaves the lock
// to the tasks.
func (c *Conversion) allNamed(ctx context.Context, wait time.Duration, began time.Time) error {
	var told time.Time
	for time.Since(began) < wait {
		named, of, err := c.countNamed(ctx)
		if err == nil && named == of || err != nil && !worthWaiting(err) {
			return err
		}
		if c.Waiting != nil && time.Since(told) >= waitTold {
			told = time.Now()
			what := fmt.Sprintf("%d of %d shards have their names", named, of)
			if err != nil {
				what = err.Error()
			}
			c.Waiting(what)
		}
		waited := time.Since(began)
		if err := sleep(ctx, min(waitPause(waited), wait-waited)); err != nil {
			return err
		}
	}
	return nil
}

// countNamed returns how many shards of a plan have their names, or their lines in a bucket, and how many there are.
func (c *Conversion) countNamed(ctx context.Context) (named, of int, err error) {
	if IsURL(c.Out) {
		return bucket.Named(ctx, c.Out, c.bucket())
	}
	if err := checkPlanned(c.Out); err != nil {
		return 0, 0, err
	}
	return dataset.Named(c.Out)
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

func (c *Conversion) finishOnce(ctx context.Context) (*shard.Report, error) {
	out, err := c.openPlanned(ctx)
	if err != nil {
		return nil, err
	}
	out.Sign = c.Sign
	report, err := shard.Finish(ctx, out, shard.FinishOptions{
		Verify: c.Verify, AIO: c.AIO, Progress: c.Progress, Tool: c.Tool,
	})
	if !IsURL(c.Out) {
		err = early(c.Out, err)
	}
	return report, closeOutput(out.Task, err)
}

// openPlanned opens the output, which must have a plan.
func (c *Conversion) openPlanned(ctx context.Context) (*dataset.Writing, error) {
	if !IsURL(c.Out) {
		if err := checkPlanned(c.Out); err != nil {
			return nil, err
		}
		out, err := dataset.Open(c.Out)
		return out, early(c.Out, err)
	}
	out, err := c.openOut(ctx)
	if err == nil {
		if err = planned(out.Dataset); err != nil {
			err = errors.Join(err, out.Close())
		}
	}
	return out, err
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
