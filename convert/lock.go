package convert

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/place"
)

// ErrUnplanned reports a directory without a plan.
var ErrUnplanned = place.New(place.Unfinished, "no plan is here yet")

// CheckPlanned returns [ErrUnplanned] if a directory has no plan. It makes nothing there, and does not
// list the directory, which may have very many shards.
func CheckPlanned(dir string) error {
	if err := dataset.CheckPath(dir); err != nil {
		return err
	}
	switch _, err := os.Lstat(filepath.Join(dir, dataset.PlanName)); {
	case errors.Is(err, syscall.ENOTDIR):
		return nil // dataset.Open returns the error that names the file
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if _, err := os.Lstat(filepath.Join(dir, dataset.ManifestName)); err == nil {
		return planGone(dir)
	}
	return unplanned(dir)
}

// A task waits for a finish that holds the lock while it counts shards: up to a minute if there are
// very many. A lock that is held longer is of another conversion.
const (
	lockPatience = 2 * time.Minute
	lockPause    = 250 * time.Millisecond
)

// openShared opens the directory of a task, and waits for the lock.
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

// sleep waits, or returns the error of ctx when it is cancelled.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
