package convert

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/write"
	"github.com/ffconvert/ffconvert/internal/input"
)

// waitPause returns the time until the next check of the directory: a tenth of the time waited so
// far, so that Finish ends at most a tenth later than necessary.
func waitPause(waited time.Duration) time.Duration {
	const least, most = 100 * time.Millisecond, 15 * time.Second
	return min(max(waited/10, least), most)
}

// Finish checks that all shards of the plan in the output exist and that the counts of entries,
// samples and fields add up, and writes the manifest, which completes the dataset. wait limits the wait
// for missing shards and for the plan; 0: no wait.
func (c Conversion) Finish(ctx context.Context, wait time.Duration) (*write.Report, error) {
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

// allNamed waits until all shards have their names, or the time is over. It does not hold the lock, which the tasks
// need.
func (c *Conversion) allNamed(ctx context.Context, wait time.Duration, began time.Time) error {
	var reported time.Time
	for time.Since(began) < wait {
		named, of, err := c.output().named(ctx)
		if err == nil && named == of || err != nil && !worthWaiting(err) {
			return err
		}
		if c.Waiting != nil && time.Since(reported) >= waitReport {
			reported = time.Now()
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

// waitReport is the time between two calls of Waiting.
const waitReport = time.Minute

// worthWaiting reports whether running tasks may make the error go away.
func worthWaiting(err error) bool {
	for _, kind := range []error{dataset.ErrMissing, dataset.ErrLocked, ErrUnplanned, dataset.ErrNothingKept, fs.ErrNotExist} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

func (c *Conversion) finishOnce(ctx context.Context) (*write.Report, error) {
	to := c.output()
	out, err := to.openPlanned(ctx)
	if err != nil {
		return nil, err
	}
	report, err := write.Finish(ctx, out, write.Options{
		Verify: c.Verify, AIO: c.AIO, Progress: c.Progress, Tool: c.Tool,
	})
	return report, closeOutput(out.Task, to.early(err))
}

// SignManifest signs the manifest of a finished dataset with Sign and replaces an existing signature. If the manifest
// has no SHA-256 sums, it reads and compares all files and rewrites the manifest with their sums; summed reports this.
func (c Conversion) SignManifest(ctx context.Context) (m *dataset.Manifest, summed bool, err error) {
	if !IsURL(c.Out) { // opening it would make a directory
		if err := dataset.CheckPath(c.Out); err != nil {
			return nil, false, err
		}
		if _, err := os.Lstat(c.Out); errors.Is(err, fs.ErrNotExist) {
			return nil, false, fmt.Errorf("%s: %w", c.Out, input.ErrNotFound)
		}
		if _, err := os.Lstat(filepath.Join(c.Out, dataset.ManifestName)); errors.Is(err, fs.ErrNotExist) {
			return nil, false, fmt.Errorf("%s: there is no %s: %w", c.Out, dataset.ManifestName, dataset.ErrUnfinished)
		}
	}
	out, err := c.output().open(ctx)
	if err != nil {
		return nil, false, err
	}
	m, summed, err = out.SignManifest(ctx, c.AIO, c.Progress)
	return m, summed, closeOutput(out.Task, err)
}
