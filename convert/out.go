package convert

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/bucket"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/store"
)

// An output is named by a local directory, or by the URL of a dataset in an object store: then it is opened with a
// scratch directory of its own, and everything that follows is the same.

// openOut opens the output alone.
func (c *Conversion) openOut(ctx context.Context) (*dataset.Writing, error) {
	if IsURL(c.Out) {
		return bucket.Open(ctx, c.Out, c.bucket())
	}
	return dataset.Open(c.Out)
}

// openTask opens the output for one task of several.
func (c *Conversion) openTask(ctx context.Context) (*dataset.Task, error) {
	if IsURL(c.Out) {
		return bucket.OpenTask(ctx, c.Out, c.bucket())
	}
	return openShared(ctx, c.Out, c.Waiting)
}

// bucket returns the options of an output in an object store.
func (c *Conversion) bucket() bucket.Options {
	b := c.Bucket
	b.Beside = c.IntoNonempty
	if b.Client == nil {
		b.Client = c.Input.Remote
	}
	return b
}

// planned returns [ErrUnplanned] if an open output has no plan.
func planned(out *dataset.Dataset) error {
	there := func(file string) (bool, error) {
		found, err := out.Lookup(file)
		return found != nil, err
	}
	if has, err := there(dataset.PlanName); err != nil || has {
		return err
	}
	return unplanned(out.Name(), there)
}

// unplanned returns the error of a place that has no plan. there reports whether it has another file.
func unplanned(name string, there func(file string) (bool, error)) error {
	complete, err := there(dataset.ManifestName)
	if err != nil {
		return err
	}
	if complete {
		return advise(VerifyOrPlan, fmt.Errorf("%s: here is the manifest of a dataset that was complete, and its plan is gone", name))
	}
	copied, err := there(dataset.CopyName)
	if err != nil {
		return err
	}
	if copied {
		return advise(TheCopy, fmt.Errorf("%s: %w: a copy of a dataset is not finished", name, ErrUnplanned))
	}
	return advise(APlan, fmt.Errorf("%s: %w", name, ErrUnplanned))
}

// hasDataset reports whether there is a dataset, begun or complete, at the URL of the output.
func (c *Conversion) hasDataset(ctx context.Context) (bool, error) {
	for _, name := range []string{dataset.ManifestName, dataset.PlanName} {
		_, err := c.bucket().Client.Stat(ctx, bucket.Base(c.Out)+name)
		if err == nil {
			return true, nil
		}
		if !errors.Is(err, store.ErrNotFound) {
			return false, err
		}
	}
	return false, nil
}

// ReadStatus reads how far the dataset in a directory, or in an object store, is. Nothing is locked or changed.
func ReadStatus(ctx context.Context, name string, b bucket.Options) (*dataset.Status, error) {
	d, err := view(ctx, name, b)
	if err != nil {
		return nil, err
	}
	s, err := d.Status()
	return s, errors.Join(err, d.Close())
}

// view opens a dataset that was planned, for reading.
func view(ctx context.Context, name string, b bucket.Options) (*dataset.Dataset, error) {
	if !IsURL(name) {
		if err := checkPlanned(name); err != nil {
			return nil, err
		}
		return dataset.View(name)
	}
	d, err := bucket.View(ctx, name, b)
	if err != nil {
		return nil, err
	}
	if err := planned(d); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// ErrUnplanned reports a directory without a plan.
var ErrUnplanned = place.New(place.Unfinished, "no plan is here yet")

// errExport reports a directory that is no dataset.
var errExport = place.New(place.Unfinished, "an export is here, and it is not finished")

// checkPlanned returns [ErrUnplanned] if a directory has no plan. It makes nothing there, and does not
// list the directory, which may have very many shards.
func checkPlanned(dir string) error {
	if err := dataset.CheckPath(dir); err != nil {
		return err
	}
	switch _, err := os.Lstat(filepath.Join(dir, dataset.PlanName)); {
	case errors.Is(err, syscall.ENOTDIR):
		return nil // dataset.Open returns the error that names the file
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if begun, err := fs.Glob(os.DirFS(dir), dataset.WorkDir+"/*.journal"); err != nil || len(begun) > 0 { // a conversion's has another name
		return advise(TheExport, cmp.Or(err, fmt.Errorf("%s: %w", dir, errExport)))
	}
	return unplanned(dir, func(file string) (bool, error) {
		_, err := os.Lstat(filepath.Join(dir, file))
		return err == nil, nil
	})
}

// A task waits for a finish that holds the lock while it counts shards: up to a minute if there are
// very many. A lock that is held longer is of another conversion.
const (
	lockPatience = 2 * time.Minute
	lockPause    = 250 * time.Millisecond
)

// openShared opens the directory of a task, and waits for the lock.
func openShared(ctx context.Context, dir string, waiting func(what string)) (*dataset.Task, error) {
	for began := time.Now(); ; {
		out, err := dataset.OpenTask(dir)
		if !errors.Is(err, dataset.ErrLocked) || time.Since(began) > lockPatience {
			return out, err
		}
		if waiting != nil {
			waiting(err.Error())
			waiting = nil
		}
		if err := sleep(ctx, lockPause); err != nil {
			return nil, err
		}
	}
}

// sleep waits, or returns the error of ctx when it is cancelled.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
