package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/input"
	"github.com/ffconvert/ffconvert/internal/text"
	"github.com/ffconvert/ffconvert/shard"
	"github.com/ffconvert/ffconvert/verify"
)

type repairOptions struct {
	convertOptions
	plugin string         // that made the dataset
	limits *pflag.FlagSet // of all formats
}

func newRepairCommand() *cobra.Command {
	opts := repairOptions{convertOptions: newConvertOptions()}
	cmd := &cobra.Command{
		Use:   "repair OUT [SOURCE...]",
		Short: "Write damaged and missing shards anew",
		Long: `Re-read all shards and indexes of a dataset as verify does, and write those anew that are
damaged or missing, from the plan that the conversion has kept and its sources. Each
becomes what it was to the byte, or is left as it is: sources that give other bytes are
refused. What an interrupted conversion had not finished is written too.

Sources are found by the names that they had on the command line of the conversion, from
the current directory; SOURCE... names them anew. Standard input, and what a plugin reads,
must be named: SOURCE is - then, or the plugin's arguments. So must URLs that were signed,
for no password and no signature is kept. A pipe:COMMAND is run again with --allow-pipe only.

` + exitStatus,
		Example: `  ffconvert repair out/
  ffconvert repair out/ '/archive/shards-<000..009>.tar'
  zstdcat big.tar.zst | ffconvert repair out/ -
  ffconvert repair --plugin idx out/ images.gz labels.gz`,
		Args: wantArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := opts.cacheFromEnvironment(cmd.Flags()); err != nil {
				return err
			}
			return runRepair(cmd.Context(), opts, args[0], args[1:], cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&opts.plugin, "plugin", "", "the plugin that made the dataset, which is run again; a plan alone never runs one")
	opts.limits = opts.addPlanned(flags)
	return cmd
}

func runRepair(ctx context.Context, opts repairOptions, dir string, sources []string, stdout io.Writer) error {
	if opts.workers < 1 {
		return errors.New("--jobs must be 1 or more")
	}
	if err := refuseURL(dir); err != nil {
		return err
	}
	if _, err := os.Stat(dir); err != nil {
		return notShards(dir, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, dataset.WorkDir)); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", dir, dataset.ErrNothingKept)
	} else if err != nil {
		return err
	}
	out, err := dataset.Open(dir)
	if err != nil {
		return err
	}
	progress := newReporter(opts.progress, os.Stderr)
	defer progress.stop()
	r := repair{opts: opts, dir: dir, sources: sources, out: out, progress: progress, stdout: stdout}
	done, err := r.run(ctx)
	progress.stop()
	if err := closeOutput(out, err); err != nil {
		return err
	}
	progress.say(done)
	return nil
}

// A repair is one run of the command.
type repair struct {
	opts     repairOptions
	dir      string
	sources  []string // named by the user; none: by the plan
	out      *dataset.Output
	kept     *dataset.Kept
	progress *reporter
	stdout   io.Writer
}

func (r *repair) run(ctx context.Context) (*repairSummary, error) {
	var err error
	if r.kept, err = r.out.Kept(); err != nil {
		return nil, err
	}
	found, err := r.look(ctx)
	if err != nil {
		return nil, err
	}
	problems := found.Problems
	for _, p := range problems {
		if _, err := fmt.Fprintln(r.stdout, p); err != nil {
			return nil, err
		}
	}
	damaged := r.kept.Damaged(problems)
	unfinished := len(r.kept.Plan.Shards) - len(r.kept.Shards)
	var report *shard.Report
	if len(damaged)+unfinished == 0 {
		report, err = shard.Repair(ctx, nil, r.kept, nil, r.out, shard.WriteOptions{Tool: "ffconvert " + version})
	} else {
		report, err = r.write(ctx, damaged)
	}
	if err != nil {
		return nil, err
	}
	report.Backend, report.Fallback = found.Backend, cmp.Or(found.Fallback, report.Fallback)
	report.From = report.From.And(found.From)
	return &repairSummary{
		Done: true, Out: r.dir, Rewritten: append([]string{}, damaged...), Unfinished: unfinished, Beside: append([]string{}, report.Beside...),
		summary: newSummary(r.dir, report),
	}, nil
}

// look verifies what was finished.
func (r *repair) look(ctx context.Context) (*verify.Report, error) {
	return r.kept.Verify(ctx, r.out, aio.Options{Backend: r.opts.backend}, r.progress)
}

// write opens the sources and writes what is damaged or was not finished.
func (r *repair) write(ctx context.Context, damaged []string) (*shard.Report, error) {
	made := planned{
		opts: r.opts.convertOptions, plugin: r.opts.plugin, limits: r.opts.limits, command: "repair",
		dir: r.dir, sources: r.sources, named: r.kept.Named, plan: r.kept.Plan,
	}
	c, err := made.conversion()
	if err != nil {
		return nil, err
	}
	c.output = r.out
	in := c.inputOptions()
	found, err := c.find(ctx, in)
	if err != nil {
		return nil, made.hint(err)
	}
	var report *shard.Report
	if r.kept.Plan.Whole {
		err = c.stocked(ctx, found, 0, in, r.progress, func(s *stock) error {
			report, err = shard.Repair(ctx, s, r.kept, damaged, r.out, c.writeOptions(ctx, r.progress))
			return err
		})
		return report, err
	}
	err = c.staged(ctx, found, in, r.progress, func(set *input.Set) error {
		src, err := c.source(ctx, set)
		if err != nil {
			return err
		}
		report, err = shard.Repair(ctx, shard.Local(src), r.kept, damaged, r.out, c.writeOptions(ctx, r.progress))
		return err
	})
	return report, err
}

// A repairSummary is the closing line of a repair.
type repairSummary struct {
	Done       bool     `json:"done"`
	Out        string   `json:"out"`
	Rewritten  []string `json:"shards_rewritten"`  // that were damaged or missing
	Unfinished int      `json:"shards_unfinished"` // that were written for the first time
	Beside     []string `json:"files_rewritten"`   // meta.json, manifest.json, the journal
	summary
}

func (s *repairSummary) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", text.Name(s.Out))
	var did []string
	if n := len(s.Rewritten); n > 0 {
		did = append(did, fmt.Sprintf("wrote %s anew", counted(int64(n), "shard")))
	}
	if s.Unfinished > 0 {
		did = append(did, "finished "+counted(int64(s.Unfinished), "shard"))
	}
	if len(s.Beside) > 0 {
		did = append(did, "wrote "+strings.Join(s.Beside, " and "))
	}
	if len(did) == 0 {
		b.WriteString("nothing to write anew")
	} else {
		fmt.Fprintf(&b, "%s in %.1f s", strings.Join(did, ", "), s.Seconds)
	}
	fmt.Fprintf(&b, "; sound: %s, %s in %s, %v", counted(s.Samples, "sample"), humanize.Bytes(uint64(s.Bytes)), counted(int64(s.Shards), "shard"), s.proof)
	return b.String()
}
