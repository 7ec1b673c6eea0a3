package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/help"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/progress"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/stop"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/summary"
	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/internal/text"
	"github.com/ffconvert/ffconvert/shard/choose"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// newConvertCommand returns the command of a format. adapt, if not nil, may change each conversion
// before it runs.
func newConvertCommand(f sourceFormat, adapt func(*conversion)) *cobra.Command {
	opts := newConvertOptions()
	cmd := &cobra.Command{
		Use:     f.Name + " " + f.source + " OUT",
		Short:   "Convert " + f.short,
		Long:    f.long + "\n\n" + f.sourceHelp() + outputHelp + "\n\n" + exitStatus,
		Example: f.example,
		GroupID: groupConvert,
		Args:    help.WantArgs,
	}
	reader := f.Reader()
	cmd.Flags().SortFlags = false
	addOptions(cmd.Flags(), reader.Set)
	opts.addTo(cmd)
	if !f.Directories {
		opts.addDecompression(cmd.Flags())
	}
	switch {
	case f.Directories:
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
		c := conversion{opts: opts, stdout: cmd.OutOrStdout()}
		c.Reader, c.Sources, c.Out = reader, args[:len(args)-1], args[len(args)-1]
		if adapt != nil {
			adapt(&c)
		}
		return c.explain(c.run(cmd.Context()))
	}
	return cmd
}

// A conversion is one run of a command that converts, plans or checks.
type conversion struct {
	convert.Conversion
	opts     convertOptions
	purpose  purpose
	planning *planning // not nil: only plan, write no shards
	stdout   io.Writer
}

// run runs the conversion, or one for each side of a split.
func (c *conversion) run(ctx context.Context) error {
	choice, err := c.opts.choose.options(c.opts.seed)
	if err != nil {
		return err
	}
	if choice.Split == "" && choice.SplitBy == "" {
		return c.one(ctx, choice)
	}
	sides, err := c.sides(ctx, choice)
	if err != nil {
		return c.hint(err)
	}
	for _, s := range sides {
		one := *c
		one.Conversion = *s
		if c.opts.dryRun {
			fmt.Fprintf(c.stdout, "%s:\n", text.Name(s.Out))
		}
		if err := one.one(ctx, s.Choice); err != nil {
			return err
		}
	}
	return nil
}

// sides returns the conversions of a split, which may have to index all samples.
func (c *conversion) sides(ctx context.Context, choice choose.Options) ([]*convert.Conversion, error) {
	progress := progress.New(c.opts.progress, os.Stderr)
	defer progress.Stop()
	c.Options = c.opts.options(ctx, progress)
	c.Choice = choice
	return c.Sides(ctx)
}

func (c *conversion) one(ctx context.Context, choice choose.Options) error {
	progress := progress.New(c.opts.progress, os.Stderr)
	defer progress.Stop()
	c.Options = c.opts.options(ctx, progress)
	c.Choice = choice
	if err := help.CheckEncoding(c.Encode); err != nil {
		return err
	}
	done, err := c.convert(ctx)
	progress.Stop()
	if err != nil || done == nil {
		return c.hint(err)
	}
	progress.Say(done)
	return nil
}

// convert previews, indexes, plans or converts. The closing line is nil after a preview, which was
// printed.
func (c *conversion) convert(ctx context.Context) (progress.ClosingLine, error) {
	switch {
	case c.opts.dryRun:
		p, err := c.Preview(ctx)
		if err != nil {
			return nil, err
		}
		return nil, summary.PrintPreview(c.stdout, c.formatName(), p)
	case c.planning != nil && c.planning.task != "":
		t, err := plan.ParseTask(string(c.planning.task))
		if err != nil {
			return nil, err
		}
		done, err := c.IndexTask(ctx, t)
		if err != nil {
			return nil, err
		}
		return summary.NewSlice(c.Out, t, done), nil
	case c.planning != nil:
		done, err := c.Plan(ctx)
		if err != nil {
			return nil, err
		}
		return summary.NewPlan(c.Out, done), nil
	}
	done, err := c.Write(ctx)
	if err != nil {
		return nil, err
	}
	sum := summary.NewConversion(c.Out, done.Report)
	sum.Columns = done.Columns
	return sum, nil
}

// options returns the options that the flags give to package convert. ctx is the context of the
// command; its Stopper drains the run.
func (o *convertOptions) options(ctx context.Context, progress *progress.Reporter) convert.Options {
	opts := convert.Options{
		Encode: o.encode, Sizes: o.sizes, Input: o.input(),
		Workers: o.workers, Overwrite: o.overwrite, IntoNonempty: o.intoNonempty, NoVerify: o.noVerify, Verify: o.verify,
		AIO: aio.Options{Backend: o.backend, Depth: o.depth}, Tool: "ffconvert " + version,
		Progress: progress, Doubt: progress.Warn, Waiting: progress.Waiting,
		Drain: func() <-chan struct{} { return stop.From(ctx).Within(o.grace) },
	}
	opts.Encode.Missing = o.missing.Value
	opts.Sizes.ShardSize, opts.Sizes.Min = int64(o.shardSize), int64(o.minSize)
	if o.shuffle {
		opts.Shuffle = &plan.Shuffle{Seed: o.seed}
	}
	switch {
	case o.exact:
		opts.Cut = convert.CutSamples
	case o.wholeParts:
		opts.Cut = convert.CutParts
	}
	return opts
}
