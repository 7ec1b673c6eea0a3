package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/place"
)

type runOptions struct {
	convertOptions
	taskOptions
	limits *pflag.FlagSet // of all formats
}

func newRunCommand() *cobra.Command {
	opts := runOptions{convertOptions: newConvertOptions()}
	cmd := &cobra.Command{
		Use:   "run OUT [SOURCE...]",
		Short: "Write a slice of the shards of a plan",
		Long: `Write those shards of the plan in OUT that belong to slice K of N, counted from 0: slices
are consecutive shards, even in bytes. Without --task, K and N are those of FFCONVERT_TASK=K/N,
or of the scheduler: a Slurm array (SLURM_ARRAY_TASK_ID), a Kubernetes Indexed Job
(JOB_COMPLETION_INDEX), a PBS array (PBS_ARRAY_INDEX), an LSF array (LSB_JOBINDEX).
FFCONVERT_TASKS says N where that does not. Without any of them the slice is the whole.

Any number of tasks run at the same time, on any machines that see OUT and the sources, twice
at once and in any order. One that is run again keeps what is sound. A shard gets its name
once: who comes second makes sure that his is equal. No manifest is written: when all tasks
are done, ffconvert finish is to be run.

Sources are found by the names in the plan, from the current directory; SOURCE... names all of
them anew. So must URLs that were signed be named. A pipe:COMMAND is run with --allow-pipe only.
Fetched and decompressed inputs lie inside OUT, unless --cache-dir names a disk of the machine.

` + exitStatus,
		Example: `  ffconvert plan tar 'shards-<0000..9999>.tar' out/
  ffconvert run out/ --task 3/40
  FFCONVERT_TASK=3/40 ffconvert run --cache-dir /scratch out/
  ffconvert run out/                    # all that is missing, on this machine`,
		Args: wantArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := opts.cacheFromEnvironment(cmd.Flags()); err != nil {
				return err
			}
			return runRun(cmd.Context(), opts, args[0], args[1:])
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	opts.taskOptions.add(flags)
	flags.BoolVar(&opts.noVerify, "no-verify", false, "do not re-read the shards")
	opts.limits = opts.addPlanned(flags)
	return cmd
}

func runRun(ctx context.Context, opts runOptions, dir string, sources []string) error {
	if opts.workers < 1 {
		return errors.New("--jobs must be 1 or more")
	}
	task, _, err := opts.find()
	if err != nil {
		return err
	}
	if err := planThere(dir); err != nil {
		return err
	}
	progress := newReporter(opts.progress, os.Stderr)
	defer progress.stop()
	out, err := openShared(ctx, dir, progress)
	if err != nil {
		return err
	}
	r := taskRun{opts: opts, task: task, dir: dir, sources: sources, out: out, progress: progress}
	report, err := r.run(ctx)
	progress.stop()
	if err := closeOutput(out, err); err != nil {
		return err
	}
	progress.say(newTaskSummary(dir, report))
	return nil
}

// errUnplanned says that a task has come before its plan.
var errUnplanned = place.New(place.Unfinished, "no plan is here yet; ffconvert plan makes one")

// planThere refuses a directory in which no plan is, before anything is made there. It is the
// first of few looks that a task takes at a directory of very many shards.
func planThere(dir string) error {
	if err := refuseURL(dir); err != nil {
		return err
	}
	_, err := os.Stat(filepath.Join(dir, dataset.PlanName))
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err := os.Lstat(filepath.Join(dir, dataset.ManifestName)); err == nil {
		return fmt.Errorf("%s: here is the manifest of a dataset that was complete, and its plan is gone; ffconvert verify %s checks the dataset, the command that made it writes the plan anew", dir, dir)
	}
	return fmt.Errorf("%s: %w", dir, errUnplanned)
}

// A task waits for a finish that looks whether all is there: it takes a moment, a minute where
// there are very many shards. What takes longer is another conversion.
const (
	lockPatience = 2 * time.Minute
	lockPause    = 250 * time.Millisecond
)

// openShared opens the directory of a task.
func openShared(ctx context.Context, dir string, progress *reporter) (*dataset.Output, error) {
	told := false
	for began := time.Now(); ; {
		out, err := dataset.OpenShared(dir)
		if !errors.Is(err, dataset.ErrLocked) || time.Since(began) > lockPatience {
			return out, err
		}
		if !told {
			progress.waiting(err.Error())
			told = true
		}
		if err := sleep(ctx, lockPause); err != nil {
			return nil, err
		}
	}
}
