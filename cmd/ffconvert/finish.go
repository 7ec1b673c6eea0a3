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
	"github.com/ffconvert/ffconvert/shard"
	"github.com/ffconvert/ffconvert/verify"
)

type finishOptions struct {
	wait     time.Duration
	verify   bool
	backend  aio.Backend
	depth    int
	progress choiceValue
}

func newFinishCommand() *cobra.Command {
	opts := finishOptions{depth: verify.DefaultDepth, progress: progressValue()}
	cmd := &cobra.Command{
		Use:   "finish OUT",
		Short: "Complete a dataset whose shards tasks have written",
		Long: `Check that every shard of the plan in OUT is there with a sound header and its index, close
the balance of entries, samples and fields, and write the manifest, which completes the
dataset. Each shard was re-read from the device when it was written; --verify does so again.

Where shards are missing they are named, and the status is 5: run their tasks again. With
--wait, finish waits for them, and for the plan if that is not there yet.

` + exitStatus,
		Example: `  ffconvert finish out/
  ffconvert finish --wait 24h out/
  ffconvert finish --verify out/`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runFinish(cmd.Context(), opts, args[0])
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.DurationVar(&opts.wait, "wait", 0, "wait so long for missing shards (default: do not)")
	flags.BoolVar(&opts.verify, "verify", false, "re-read all shards from the device")
	flags.Var(&opts.backend, "backend", "how shards are re-read: auto, aio or pread")
	flags.Var(countLimit[int]{&opts.depth}, "queue-depth", "reads of 1 MiB in flight")
	flags.Var(&opts.progress, "progress", "progress on standard error: auto, bar, plain, json or none")
	return cmd
}

// waitPause is how long a finish that waits leaves the directory alone.
const waitPause = 2 * time.Second

func runFinish(ctx context.Context, opts finishOptions, dir string) error {
	progress := newReporter(opts.progress.value, os.Stderr)
	defer progress.stop()
	for began := time.Now(); ; {
		last := time.Since(began)+waitPause > opts.wait
		// The lock is for when it is worth while: no task can begin meanwhile.
		if all, err := shard.Named(dir); all || last || err != nil {
			report, err := finishOnce(ctx, opts, dir, progress)
			if err == nil {
				done := newSummary(dir, report)
				done.state = "complete"
				progress.say(done)
				return nil
			}
			if last || !worthWaiting(err) {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(waitPause):
		}
	}
}

// worthWaiting reports whether time alone may help: tasks may still be at work.
func worthWaiting(err error) bool {
	for _, kind := range []error{shard.ErrMissing, shard.ErrLocked, shard.ErrNothingKept, fs.ErrNotExist} {
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
	out, err := shard.OpenOutput(dir)
	if err != nil {
		return nil, early(dir, err)
	}
	report, err := shard.Finish(ctx, out, shard.FinishOptions{
		Verify: opts.verify, AIO: aio.Options{Backend: opts.backend, Depth: opts.depth}, Progress: progress, Tool: "ffconvert " + version,
	})
	progress.stop()
	return report, errors.Join(early(dir, err), out.Close())
}

// early says of a directory that others write to whether shards are missing there.
func early(dir string, err error) error {
	if !errors.Is(err, shard.ErrLocked) {
		return err
	}
	if all, failed := shard.Named(dir); all || failed != nil {
		return err
	}
	return fmt.Errorf("%w, and %w", err, shard.ErrMissing)
}
