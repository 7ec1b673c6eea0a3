package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/input"
	"github.com/ffconvert/ffconvert/shard"
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
		Args: cobra.MinimumNArgs(1),
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
	flags.BoolVar(&opts.noVerify, "no-verify", false, "do not re-read the shards from the device")
	opts.convertOptions.addRun(flags)
	opts.addCache(flags)
	opts.addDecompression(flags)
	opts.remote.add(flags)
	opts.limits = formatLimits()
	flags.AddFlagSet(opts.limits)
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
	out, err := openShared(ctx, dir)
	if err != nil {
		return err
	}
	progress := newReporter(opts.progress.value, os.Stderr)
	defer progress.stop()
	r := taskRun{opts: opts, task: task, dir: dir, sources: sources, out: out, progress: progress}
	report, err := r.run(ctx)
	progress.stop()
	if err := errors.Join(err, out.Close()); err != nil {
		return err
	}
	progress.say(newTaskSummary(dir, report))
	return nil
}

// A task that begins while another process has the directory alone waits for so long, and looks
// so often: finish has it while it looks at all shards, and plan while it indexes.
const (
	lockPatience = time.Minute
	lockPause    = 100 * time.Millisecond
)

// openShared opens a directory for a task, once nobody has it alone.
func openShared(ctx context.Context, dir string) (*shard.Output, error) {
	for began := time.Now(); ; {
		out, err := shard.OpenShared(dir)
		if !errors.Is(err, shard.ErrLocked) || time.Since(began) > lockPatience {
			return out, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(lockPause):
		}
	}
}

// planThere refuses a directory in which no plan is, before anything is made there.
func planThere(dir string) error {
	if _, err := os.Stat(dir); err != nil {
		return err
	}
	if _, err := shard.Named(dir); err != nil {
		return err
	}
	return nil
}

// A taskRun is one run of the command.
type taskRun struct {
	opts     runOptions
	task     shard.Task
	dir      string
	sources  []string // named by the user; none: by the plan
	out      *shard.Output
	slice    *shard.Slice
	progress *reporter
}

func (r *taskRun) run(ctx context.Context) (*shard.Report, error) {
	var err error
	if r.slice, err = r.out.Slice(r.task, false); err != nil {
		return nil, err
	}
	if len(r.slice.Plan.Shards) == 0 {
		return &shard.Report{Task: r.task}, nil
	}
	together := r.together()
	if together {
		if r.slice, err = r.out.Slice(r.task, true); err != nil {
			return nil, err
		}
	}
	c, err := r.conversion()
	if err != nil {
		return nil, err
	}
	in := c.inputOptions()
	found, beside, err := r.find(ctx, c, in)
	if err != nil {
		return nil, r.hint(err)
	}
	if together && c.mix == nil || r.slice.Plan.Shuffle != nil || c.directories(found) != nil {
		return r.writeTogether(ctx, c, found, in)
	}
	var report *shard.Report
	err = c.stocked(ctx, found, beside, in, r.progress, func(s *stock) error {
		report, err = shard.RunStock(ctx, s, r.slice, r.out, c.writeOptions(ctx, r.progress))
		return err
	})
	return report, err
}

// together reports whether the dataset cannot be opened over some of its parts alone, or is
// read from all of them at once.
func (r *taskRun) together() bool {
	f, _ := formatNamed(r.slice.Plan.Source.Format)
	return f.directories || r.slice.Plan.Source.Format == specFormat || r.slice.Plan.Shuffle != nil
}

// conversion returns the one that the plan describes.
func (r *taskRun) conversion() (*conversion, error) {
	made := planned{
		opts: r.opts.convertOptions, limits: r.opts.limits, command: "run",
		dir: r.dir, sources: r.sources, named: r.slice.Named, plan: r.slice.Plan,
	}
	c, err := made.conversion()
	if err == nil {
		c.scratch = r.out.Scratch()
	}
	return c, err
}

// names are those of the parts of the slice.
func (r *taskRun) names() []string {
	var names []string
	for i := range r.slice.Plan.Parts {
		names = append(names, r.slice.Plan.Parts[i].Name)
	}
	return names
}

// find finds the parts of the slice, and in front of them the first one of the dataset, where
// that tells how the others are read: beside is 1 then.
func (r *taskRun) find(ctx context.Context, c *conversion, in input.Options) (found []input.Name, beside int, err error) {
	s := r.slice
	names := r.names()
	if c.format.inspects && s.First > 0 {
		names, beside = append([]string{s.Lead.Name}, names...), 1
	}
	switch {
	case c.mix != nil || c.format.directories: // whose parts are no names
		found, err = c.find(ctx, in)
		return found, 0, err
	case len(r.sources) == 0:
		found, err = input.FindNamed(ctx, names, in)
		return found, beside, err
	}
	all, err := c.find(ctx, in)
	if err != nil {
		return nil, 0, err
	}
	if len(all) != s.Parts {
		return nil, 0, fmt.Errorf("%s: its plan is of %d sources, here are %d", r.dir, s.Parts, len(all))
	}
	return append(all[:beside:beside], all[s.First:s.First+len(s.Plan.Parts)]...), beside, nil
}

// writeTogether writes the slice of a dataset all of whose parts are opened at once.
func (r *taskRun) writeTogether(ctx context.Context, c *conversion, found []input.Name, in input.Options) (*shard.Report, error) {
	var report *shard.Report
	err := c.staged(ctx, found, in, r.progress, func(set *input.Set) error {
		src, err := c.source(ctx, set)
		if err != nil {
			return err
		}
		if c.directories(found) != nil {
			_, enc, err := c.describe(src)
			if err != nil {
				return err
			}
			each, err := c.encodings(enc)
			if err != nil {
				return err
			}
			index, err := shard.IndexEach(ctx, src, each, c.opts.workers, r.progress)
			if err != nil {
				return err
			}
			if err := r.slice.Recognise(index); err != nil {
				return err
			}
		}
		report, err = shard.RunStock(ctx, shard.Local(src), r.slice, r.out, c.writeOptions(ctx, r.progress))
		return err
	})
	return report, err
}

// hint says how sources can be named, where they were not found by the names kept.
func (r *taskRun) hint(err error) error {
	if len(r.sources) > 0 || !errors.Is(err, input.ErrNotFound) {
		return err
	}
	return fmt.Errorf("%w; run it in the directory where the plan was made, or name the sources: ffconvert run %s SOURCE", err, r.dir)
}

// A taskSummary is the closing line of a task.
type taskSummary struct {
	Done    bool    `json:"done"`
	Out     string  `json:"out"`
	Task    string  `json:"task"`
	Shards  int     `json:"shards"`
	Kept    int     `json:"shards_kept"`      // of a run before
	Others  int     `json:"shards_of_others"` // that another process finished meanwhile
	Samples int64   `json:"samples"`
	Bytes   int64   `json:"bytes"`
	Seconds float64 `json:"seconds"`
	proof
}

func newTaskSummary(dir string, r *shard.Report) taskSummary {
	return taskSummary{
		Done: true, Out: dir, Task: r.Task.String(), Shards: r.Shards, Kept: r.Kept, Others: r.Others, Samples: r.Samples, Bytes: r.Bytes,
		Seconds: r.Seconds, proof: newProof(r),
	}
}

func (s taskSummary) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: task %s: ", s.Out, s.Task)
	if s.Shards == 0 {
		b.WriteString("no shards in this slice")
		return b.String()
	}
	fmt.Fprintf(&b, "%s, %s, %s in %.1f s", counted(int64(s.Shards), "shard"), counted(s.Samples, "sample"), humanize.Bytes(uint64(s.Bytes)), s.Seconds)
	if s.Kept > 0 {
		fmt.Fprintf(&b, ", %d of them kept", s.Kept)
	}
	if s.Others > 0 {
		fmt.Fprintf(&b, ", %d finished by others meanwhile", s.Others)
	}
	fmt.Fprintf(&b, ", %v", s.proof)
	return b.String()
}
