package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/convert"
)

type runOptions struct {
	cliflag.Conversion
	task   cliflag.Task
	limits *pflag.FlagSet // limits of all formats
}

func newRunCommand() *cobra.Command {
	opts := runOptions{Conversion: cliflag.NewConversion()}
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
		Args: cliflag.WantArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := opts.Load(cmd.Context()); err != nil {
				return err
			}
			return runRun(cmd.Context(), opts, args[0], args[1:])
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	opts.task.Add(flags)
	flags.BoolVar(&opts.NoVerify, "no-verify", false, "do not re-read the shards")
	opts.limits = opts.AddPlanned(flags)
	return cmd
}

func runRun(ctx context.Context, opts runOptions, dir string, sources []string) error {
	task, err := opts.task.Find()
	if err != nil {
		return err
	}
	progress := terminal.NewReporter(opts.Progress, os.Stderr)
	defer progress.Stop()
	c := convert.Conversion{Out: dir, Sources: sources, Limits: cliflag.Changed(opts.limits), Options: opts.Ready(ctx, tool(), progress)}
	report, err := c.Run(ctx, task)
	if err != nil {
		return cliflag.Hint(err, "run", dir)
	}
	progress.Say(terminal.TaskDone(dir, report))
	return nil
}
