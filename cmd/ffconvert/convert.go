package main

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/input"
	"github.com/ffconvert/ffconvert/shard"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// newConvertCommand returns the command of a format. adapt, which may be nil, is called
// on each run of it before it starts.
func newConvertCommand(f format, adapt func(*conversion)) *cobra.Command {
	opts := newConvertOptions()
	cmd := &cobra.Command{
		Use:     f.name + " " + f.source + " OUT",
		Short:   "Convert " + f.short,
		Long:    f.long + "\n\n" + f.sourceHelp() + outputHelp + "\n\n" + exitStatus,
		Example: f.example,
		GroupID: groupConvert,
		Args:    wantArgs,
	}
	own := pflag.NewFlagSet(f.name, pflag.ContinueOnError)
	own.SortFlags = false
	data := f.flags(own)
	cmd.Flags().SortFlags = false
	cmd.Flags().AddFlagSet(own)
	opts.add(cmd.Flags())
	cmd.MarkFlagsMutuallyExclusive("exact", "whole-parts")
	cmd.MarkFlagsMutuallyExclusive("verify", "no-verify")
	opts.addCache(cmd.Flags())
	if !f.directories {
		opts.addDecompression(cmd.Flags())
	}
	switch {
	case f.directories:
		opts.remote.addServices(cmd.Flags())
	case !f.plugin:
		opts.remote.add(cmd.Flags())
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := opts.cacheFromEnvironment(cmd.Flags()); err != nil {
			return err
		}
		if err := opts.refuseSeed(cmd.Flags(), opts.shuffle); err != nil {
			return err
		}
		spec := plan.SourceSpec{Format: f.name, Options: planOptions(own)}
		c := conversion{format: f, data: data, own: own, spec: spec, opts: opts, names: args[:len(args)-1], out: args[len(args)-1], stdout: cmd.OutOrStdout()}
		if adapt != nil {
			adapt(&c)
		}
		return c.explain(c.run(cmd.Context()))
	}
	return cmd
}

// A conversion is one run of a conversion command.
type conversion struct {
	format  format
	data    openable
	own     *pflag.FlagSet // the format's flags; nil of a mixture
	purpose purpose
	mix     *mixture // data, where that is several collections; else nil
	spec    plan.SourceSpec
	opts    convertOptions
	names   []string
	command *input.Command // whose output is converted; nil: names are
	out     string
	output  *dataset.Output // nil: not open
	stdout  io.Writer

	src     converters.Source         // the dataset; nil: not open
	told    map[converters.Doubt]bool // what may not be meant, and was told of
	columns []converters.ColumnType   // of a table that this run has opened; else nil

	planning *planning // what is planned, and not written; nil: it is written
}

func (c *conversion) run(ctx context.Context) error {
	if c.opts.workers < 1 {
		return errors.New("--jobs must be 1 or more")
	}
	if err := c.refuseOut(); err != nil {
		return err
	}
	c.opts.encode.Missing = c.opts.missing.value
	if err := checkEncoding(c.opts.encode); err != nil {
		return err
	}
	in := c.inputOptions()
	found, err := c.find(ctx, in)
	if err != nil {
		return err
	}
	if dirs := c.directories(found); dirs != nil {
		if err := c.refuseInside(dirs); err != nil {
			return err
		}
	}
	if err := c.refuseOther(found); err != nil {
		return err
	}
	progress := newReporter(c.opts.progress, os.Stderr)
	defer progress.stop()
	whole, err := c.whole(found)
	if err != nil {
		return err
	}
	if c.opts.dryRun {
		return c.dryRun(ctx, found, in, whole, progress)
	}
	if c.planning != nil {
		return c.planOnly(ctx, found, in, whole, progress)
	}

	out, err := dataset.Open(c.out)
	if err != nil {
		return err
	}
	c.output = out
	convert := c.convert
	if whole {
		convert = c.convertWhole
	}
	report, err := convert(ctx, found, in, out, progress)
	if err == nil {
		err = out.DropIndexed()
	}
	progress.stop()
	if err := closeOutput(out, err); err != nil {
		return err
	}
	sum := newSummary(c.out, report)
	sum.Columns = c.columns
	c.warn(progress)
	progress.say(sum)
	return nil
}

// convert plans and writes. What it stages inside the output it removes, unless a run
// that resumes this one can use it.
func (c *conversion) convert(ctx context.Context, found []input.Name, in input.Options, out *dataset.Output, progress *reporter) (*shard.Report, error) {
	if err := c.check(out, found); err != nil {
		return nil, err
	}
	var report *shard.Report
	err := c.staged(ctx, found, in, progress, func(set *input.Set) error {
		plan, src, err := c.plan(ctx, set, progress)
		if err != nil {
			return err
		}
		report, err = shard.Write(ctx, shard.Local(src), plan, out, c.writeOptions(ctx, progress))
		return err
	})
	return report, c.allAtOnce(found, err)
}

// writeOptions are those of a writing that begins now.
func (c *conversion) writeOptions(ctx context.Context, progress *reporter) shard.WriteOptions {
	return shard.WriteOptions{
		Workers: c.opts.workers, Overwrite: c.opts.overwrite, NoVerify: c.opts.noVerify, Verify: c.opts.verify,
		AIO:      aio.Options{Backend: c.opts.backend, Depth: c.opts.depth},
		Progress: progress, Tool: "ffconvert " + version, Named: c.named(),
		Drain: stopperOf(ctx).within(time.Duration(c.opts.grace)),
	}
}

// named are the sources as the user named them, without secrets.
func (c *conversion) named() []string {
	named := make([]string, len(c.names))
	for i, name := range c.names {
		named[i] = input.Shown(name)
	}
	return named
}
