package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/shard"
	"github.com/ffconvert/ffconvert/verify"
)

type finishOptions struct {
	wait     time.Duration
	verify   bool
	backend  aio.Backend
	depth    int
	progress progressFlag
}

func newFinishCommand() *cobra.Command {
	opts := finishOptions{depth: verify.DefaultDepth, progress: progressValue()}
	cmd := &cobra.Command{
		Use:   "finish OUT",
		Short: "Complete a dataset whose shards tasks have written",
		Long: `Check that every shard of the plan in OUT is there with a sound header and its index, close
the balance of entries, samples and fields, and write the manifest, which completes the
dataset. Each shard was re-read when it was written; --verify does so again.

Where shards are missing they are named, and the status is 5: run their tasks again. With
--wait, finish waits for them, and for the plan if that is not there yet.

` + exitStatus,
		Example: `  ffconvert finish out/
  ffconvert finish --wait 24h out/
  ffconvert finish --verify out/`,
		Args: wantArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runFinish(cmd.Context(), opts, args[0])
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.DurationVar(&opts.wait, "wait", 0, "wait so long for missing shards (default: do not)")
	flags.BoolVar(&opts.verify, "verify", false, "re-read all shards")
	flags.Var(&opts.backend, "backend", "how shards are re-read: auto, aio or pread")
	flags.Var(countLimit[int]{&opts.depth}, "queue-depth", "reads of 1 MiB in flight")
	flags.Var(&opts.progress, "progress", "progress on standard error: auto, bar, plain, json or none")
	return cmd
}

// waitPause is how long a finish that has waited so long leaves the directory alone: what it
// adds to the wait is a tenth.
func waitPause(waited time.Duration) time.Duration {
	const least, most = 100 * time.Millisecond, 15 * time.Second
	return min(max(waited/10, least), most)
}

func runFinish(ctx context.Context, opts finishOptions, dir string) error {
	progress := newReporter(opts.progress, os.Stderr)
	defer progress.stop()
	began := time.Now()
	for {
		err := allNamed(ctx, opts.wait, began, dir, progress)
		if err != nil {
			return err
		}
		report, err := finishOnce(ctx, opts, dir, progress)
		if err == nil {
			progress.say(newSummary(dir, report))
			return nil
		}
		pause := waitPause(time.Since(began))
		if time.Since(began)+pause > opts.wait || !worthWaiting(err) {
			return err
		}
		if err := sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// allNamed waits until all shards have their names, or the wait is over: as long as they have
// not, tasks need the lock.
func allNamed(ctx context.Context, wait time.Duration, began time.Time, dir string, progress *reporter) error {
	var told time.Time
	for time.Since(began) < wait {
		named, of := 0, 0
		err := planThere(dir)
		if err == nil {
			named, of, err = dataset.Named(dir)
		}
		if err == nil && named == of || err != nil && !worthWaiting(err) {
			return err
		}
		if time.Since(told) >= waitTold {
			told = time.Now()
			what := fmt.Sprintf("%d of %s have their names", named, counted(int64(of), "shard"))
			if err != nil {
				what = err.Error()
			}
			progress.waiting(what)
		}
		waited := time.Since(began)
		if err := sleep(ctx, min(waitPause(waited), wait-waited)); err != nil {
			return err
		}
	}
	return nil
}

// waitTold is how often a finish that waits says so.
const waitTold = time.Minute

// sleep waits, or returns why it must not.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// worthWaiting reports whether time alone may help: tasks may still be at work.
func worthWaiting(err error) bool {
	for _, kind := range []error{dataset.ErrMissing, dataset.ErrLocked, errUnplanned, dataset.ErrNothingKept, fs.ErrNotExist} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

func finishOnce(ctx context.Context, opts finishOptions, dir string, progress *reporter) (*shard.Report, error) {
	if err := planThere(dir); err != nil {
		return nil, err
	}
	out, err := dataset.Open(dir)
	if err != nil {
		return nil, early(dir, err)
	}
	report, err := shard.Finish(ctx, out, shard.FinishOptions{
		Verify: opts.verify, AIO: aio.Options{Backend: opts.backend, Depth: opts.depth}, Progress: progress, Tool: "ffconvert " + version,
	})
	progress.stop()
	return report, closeOutput(out, early(dir, err))
}

// early says of a directory that others write to whether shards are missing there.
func early(dir string, err error) error {
	if !errors.Is(err, dataset.ErrLocked) {
		return err
	}
	if named, of, failed := dataset.Named(dir); named == of || failed != nil {
		return err
	}
	return fmt.Errorf("%w, and %w", err, dataset.ErrMissing)
}
