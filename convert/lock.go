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
	"github.com/ffconvert/ffconvert/internal/place"
)

// ErrUnplanned says that a task has come before its plan.
var ErrUnplanned = place.New(place.Unfinished, "no plan is here yet")

// CheckPlanned refuses a directory in which no plan is, before anything is made there. It is the
// first of few looks that a task takes at a directory of very many shards.
func CheckPlanned(dir string) error {
	if err := LocalPath(dir); err != nil {
		return err
	}
	_, err := os.Stat(filepath.Join(dir, dataset.PlanName))
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err := os.Lstat(filepath.Join(dir, dataset.ManifestName)); err == nil {
		return advise(VerifyOrPlan, fmt.Errorf("%s: here is the manifest of a dataset that was complete, and its plan is gone", dir))
	}
	return advise(APlan, fmt.Errorf("%s: %w", dir, ErrUnplanned))
}

// A task waits for a finish that looks whether all is there: it takes a moment, a minute where
// there are very many shards. What takes longer is another conversion.
const (
	lockPatience = 2 * time.Minute
	lockPause    = 250 * time.Millisecond
)

// openShared opens the directory of a task.
func openShared(ctx context.Context, dir string, waiting func(what string)) (*dataset.Output, error) {
	for began := time.Now(); ; {
		out, err := dataset.OpenShared(dir)
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

// sleep waits, or returns why it must not.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
