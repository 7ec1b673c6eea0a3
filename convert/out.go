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
	"github.com/ffconvert/ffconvert/internal/text"
)

// An output is the place of a dataset: a local directory, or a URL in an object store. A dataset at a URL is written
// through a local scratch directory; other code need not know.
type output struct {
	name    string
	bucket  bucket.Options
	waiting func(what string) // called once if a task waits for the lock; may be nil
	sha256  bool
	sign    func(manifest []byte) ([]byte, error)
}

func (c *Conversion) output() *output {
	o := &output{c.Out, c.Bucket, c.Waiting, c.SHA256 || c.Sign != nil, c.Sign}
	o.bucket.Beside = c.IntoNonempty
	if o.bucket.Client == nil {
		o.bucket.Client = c.Input.Remote
	}
	return o
}

// open opens the output exclusively.
func (o *output) open(ctx context.Context) (out *dataset.Writing, err error) {
	if IsURL(o.name) {
		out, err = bucket.Open(ctx, o.name, o.bucket)
	} else {
		out, err = dataset.Open(o.name)
	}
	if err == nil {
		out.SHA256, out.Sign = o.sha256, o.sign
	}
	return out, err
}

// openTask opens the output for one task of several. It waits for the lock of a directory.
func (o *output) openTask(ctx context.Context) (*dataset.Task, error) {
	if IsURL(o.name) {
		return bucket.OpenTask(ctx, o.name, o.bucket)
	}
	waiting := o.waiting
	for began := time.Now(); ; {
		out, err := dataset.OpenTask(o.name)
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

// openPlanned opens the output exclusively. The output must have a plan.
func (o *output) openPlanned(ctx context.Context) (*dataset.Writing, error) {
	if err := o.checkPlan(); err != nil {
		return nil, err
	}
	out, err := o.open(ctx)
	if err == nil {
		if err = planned(out.Dataset); err != nil {
			err = errors.Join(err, out.Close())
		}
	}
	return out, o.early(err)
}

// view opens the output for reading. The output must have a plan.
func (o *output) view(ctx context.Context) (*dataset.Dataset, error) {
	if err := o.checkPlan(); err != nil {
		return nil, err
	}
	if !IsURL(o.name) {
		return dataset.View(o.name)
	}
	d, err := bucket.View(ctx, o.name, o.bucket)
	if err != nil {
		return nil, err
	}
	if err := planned(d); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// named returns the number of finished shards and the number of all shards of the plan. In an object store a shard is
// finished when it has a journal line.
func (o *output) named(ctx context.Context) (named, of int, err error) {
	if IsURL(o.name) {
		return bucket.Named(ctx, o.name, o.bucket)
	}
	if err := o.checkPlan(); err != nil {
		return 0, 0, err
	}
	return dataset.Named(o.name)
}

// early adds dataset.ErrMissing to dataset.ErrLocked if shards are missing in a local directory.
func (o *output) early(err error) error {
	if IsURL(o.name) || !errors.Is(err, dataset.ErrLocked) {
		return err
	}
	if named, of, failed := dataset.Named(o.name); named == of || failed != nil {
		return err
	}
	return fmt.Errorf("%w, and %w", err, dataset.ErrMissing)
}

// checkParent returns an error if the directory for the sides of a split is itself a dataset, begun or complete.
func (o *output) checkParent(ctx context.Context) error {
	taken := fmt.Errorf("%s: here is a dataset, and a split makes one in each of its directories", o.name)
	if IsURL(o.name) {
		if err := bucket.Check(o.name); err != nil {
			return err
		}
		for _, name := range []string{dataset.ManifestName, dataset.PlanName} {
			if _, err := o.bucket.Client.Stat(ctx, bucket.Base(o.name)+name); err == nil {
				return taken
			} else if !errors.Is(err, store.ErrNotFound) {
				return err
			}
		}
		return nil
	}
	if err := dataset.CheckPath(o.name); err != nil {
		return err
	}
	for _, name := range []string{dataset.ManifestName, dataset.WorkDir} {
		if _, err := os.Lstat(filepath.Join(o.name, name)); err == nil {
			return taken
		}
	}
	return nil
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

// unplanned returns the error for a place without a plan. there reports whether a file exists in it.
func unplanned(name string, there func(file string) (bool, error)) error {
	complete, err := there(dataset.ManifestName)
	if err != nil {
		return err
	}
	if complete {
		return advise(fmt.Errorf("%s: here is the manifest of a dataset that was complete, and its plan is gone", name),
			"ffconvert verify "+text.ShellWord(name)+" checks the dataset, the command that made it writes the plan anew")
	}
	copied, err := there(dataset.CopyName)
	if err != nil {
		return err
	}
	if copied {
		return advise(fmt.Errorf("%s: %w", name, errCopy), "the same ffconvert copy goes on")
	}
	return advise(fmt.Errorf("%s: %w", name, ErrUnplanned), "ffconvert plan makes one")
}

// ReadStatus reads the progress of the dataset in a directory or an object store. It locks and changes nothing.
func ReadStatus(ctx context.Context, name string, b bucket.Options) (*dataset.Status, error) {
	d, err := (&output{name: name, bucket: b}).view(ctx)
	if err != nil {
		return nil, err
	}
	s, err := d.Status()
	return s, errors.Join(err, d.Close())
}

// ErrUnplanned reports a directory without a plan.
var ErrUnplanned = place.New(place.Unfinished, "no plan is here yet")

// errCopy reports a directory with an unfinished copy.
var errCopy = fmt.Errorf("%w: a copy of a dataset is not finished", ErrUnplanned)

// errExport reports a directory with an unfinished export.
var errExport = place.New(place.Unfinished, "an export is here, and it is not finished")

// checkPlan returns [ErrUnplanned] if a local directory has no plan: opening the dataset would create the directory. It
// does not list the directory, which may have very many shards. It does not check URLs.
func (o *output) checkPlan() error {
	if IsURL(o.name) {
		return nil
	}
	dir := o.name
	if err := dataset.CheckPath(dir); err != nil {
		return err
	}
	switch _, err := os.Lstat(filepath.Join(dir, dataset.PlanName)); {
	case errors.Is(err, syscall.ENOTDIR):
		return nil // dataset.Open returns the error that names the file
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if begun, err := fs.Glob(os.DirFS(dir), dataset.WorkDir+"/*.journal"); err != nil || len(begun) > 0 { // an export
		return advise(cmp.Or(err, fmt.Errorf("%s: %w", dir, errExport)), "the same ffconvert export goes on")
	}
	return unplanned(dir, func(file string) (bool, error) {
		_, err := os.Lstat(filepath.Join(dir, file))
		return err == nil, nil
	})
}

// A task waits at most lockPatience: Finish holds the lock while it counts shards, up to a minute if there are
// very many. A lock that is held longer belongs to another conversion.
const (
	lockPatience = 2 * time.Minute
	lockPause    = 250 * time.Millisecond
)

// sleep waits, or returns the error of ctx when it is cancelled.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
