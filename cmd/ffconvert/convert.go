package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/input"
	"github.com/ffconvert/ffconvert/shard"
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
		Args:    cobra.MinimumNArgs(2),
	}
	own := pflag.NewFlagSet(f.name, pflag.ContinueOnError)
	own.SortFlags = false
	data := f.flags(own)
	cmd.Flags().SortFlags = false
	cmd.Flags().AddFlagSet(own)
	opts.add(cmd.Flags())
	if !f.directories {
		opts.addCache(cmd.Flags())
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := opts.cacheFromEnvironment(cmd.Flags()); err != nil {
			return err
		}
		spec := shard.SourceSpec{Format: f.name, Options: planOptions(own)}
		c := conversion{format: f, data: data, spec: spec, opts: opts, names: args[:len(args)-1], out: args[len(args)-1], stdout: cmd.OutOrStdout()}
		if adapt != nil {
			adapt(&c)
		}
		return c.run(cmd.Context())
	}
	return cmd
}

// A conversion is one run of a conversion command.
type conversion struct {
	format  format
	data    openable
	spec    shard.SourceSpec
	opts    convertOptions
	names   []string
	command *input.Command // whose output is converted; nil: names are
	out     string
	stdout  io.Writer
}

func (c *conversion) run(ctx context.Context) error {
	if c.opts.workers < 1 {
		return errors.New("--jobs must be 1 or more")
	}
	c.opts.encode.Missing = c.opts.missing.value
	if _, err := encode.Parse(c.opts.encode); err != nil {
		return err
	}
	in := c.inputOptions()
	found, err := c.find(ctx, in)
	if err != nil {
		return err
	}
	if c.format.directories {
		if err := c.refuseInside(found); err != nil {
			return err
		}
	}
	progress := newReporter(c.opts.progress.value, os.Stderr)
	defer progress.stop()
	if c.opts.dryRun {
		return c.dryRun(ctx, found, in, progress)
	}

	out, err := shard.OpenOutput(c.out)
	if err != nil {
		return err
	}
	report, err := c.convert(ctx, found, in, out, progress)
	progress.stop()
	if err := errors.Join(err, out.Close()); err != nil {
		return err
	}
	progress.say(newSummary(c.out, report))
	return nil
}

// convert plans and writes. What it stages inside the output it removes, unless a run
// that resumes this one can use it.
func (c *conversion) convert(ctx context.Context, found []input.Name, in input.Options, out *shard.Output, progress *reporter) (*shard.Report, error) {
	if err := c.check(out, found); err != nil {
		return nil, err
	}
	var report *shard.Report
	err := c.staged(ctx, found, in, progress, func(set *input.Set) error {
		plan, src, err := c.plan(ctx, set, progress)
		if err != nil {
			return err
		}
		report, err = shard.Write(ctx, src, plan, out, c.writeOptions(progress))
		return err
	})
	return report, err
}

func (c *conversion) writeOptions(progress *reporter) shard.WriteOptions {
	return shard.WriteOptions{
		Workers: c.opts.workers, Overwrite: c.opts.overwrite, NoVerify: c.opts.noVerify,
		AIO:      aio.Options{Backend: c.opts.backend, Depth: c.opts.depth},
		Progress: progress, Tool: "ffconvert " + version, Named: c.names,
	}
}

// staged makes the inputs local files while use uses them. The cache inside the output is
// removed, unless the run was interrupted and another one can use it, or the writing has
// failed.
func (c *conversion) staged(ctx context.Context, found []input.Name, in input.Options, progress *reporter, use func(*input.Set) error) error {
	if st, err := os.Lstat(in.CacheDir); c.opts.cacheDir == "" && err == nil && !st.IsDir() {
		return &converters.Error{Part: in.CacheDir, Off: -1, Err: fmt.Errorf("%w: it is no directory", converters.ErrUnsupported), Hint: "remove it"}
	}
	in.Progress = progress.staging(found)
	set, err := input.Open(ctx, found, in)
	if err == nil {
		err = use(set)
		err = errors.Join(err, set.Cleanup())
	}
	if _, unfinished := errors.AsType[*shard.Unfinished](err); unfinished {
		return err
	}
	return c.tidy(ctx, in, err)
}

// tidy removes the cache inside the output, unless the run was interrupted and another one
// can use it. It adds its own error to err.
func (c *conversion) tidy(ctx context.Context, in input.Options, err error) error {
	if c.opts.cacheDir != "" || ctx.Err() != nil {
		return err
	}
	return errors.Join(err, os.RemoveAll(in.CacheDir))
}

func (c *conversion) inputOptions() input.Options {
	in := input.Options{
		Directories: c.format.directories,
		Match:       c.format.isPart,
		CacheDir:    c.opts.cacheDir,
		Workers:     c.opts.workers,
	}
	c.opts.limit(&in)
	if a, ok := c.data.(arranger); ok {
		in.Arrange = a.arrange
	}
	if in.CacheDir == "" {
		in.CacheDir = filepath.Join(c.out, shard.WorkDir, "cache")
	}
	return in
}

// find finds the inputs: what the names name, or what the command will write.
func (c *conversion) find(ctx context.Context, in input.Options) ([]input.Name, error) {
	if c.command != nil {
		return []input.Name{input.FromCommand(*c.command)}, nil
	}
	return input.Find(ctx, c.names, in)
}

// check refuses an output that is taken, as far as that can be told before the input is
// read.
func (c *conversion) check(out *shard.Output, found []input.Name) error {
	var names []string // of the parts; those of a directory are not known yet
	if !c.format.directories {
		for _, n := range found {
			names = append(names, n.Name)
		}
	}
	enc, err := encode.Parse(c.opts.encode)
	if err != nil {
		return err
	}
	how := c.planOptions(enc)
	how.Encode.Encoding = c.opts.encode.Encoding
	return out.Check(how, names, c.opts.overwrite)
}

// source opens what was staged.
func (c *conversion) source(ctx context.Context, set *input.Set) (converters.Source, error) {
	parts := make([]converters.Part, len(set.Files))
	for i, f := range set.Files {
		parts[i] = converters.Part{Name: f.Name, Path: f.Path, Size: f.Size, ModTime: f.ModTime, Staged: f.Staged, Mark: f.Mark}
	}
	return c.data.open(ctx, parts, c.opts.encode)
}

// plan indexes the sources and plans the shards.
func (c *conversion) plan(ctx context.Context, set *input.Set, progress *reporter) (*shard.Plan, converters.Source, error) {
	src, err := c.source(ctx, set)
	if err != nil {
		return nil, nil, err
	}
	records := c.opts.encode
	var says converters.Description
	if d, ok := src.(converters.Describer); ok {
		says = d.Describe()
	}
	if records.Encoding == "" {
		records.Encoding = says.Encoding
	}
	enc, err := encode.Parse(records)
	if err != nil {
		return nil, nil, err
	}
	index, err := shard.Index(ctx, src, enc, max(c.opts.workers, indexedAtOnce), progress)
	if err != nil {
		return nil, nil, err
	}
	how := c.planOptions(enc)
	how.Dataset = says
	plan, err := shard.NewPlan(index, how)
	if errors.Is(err, shard.ErrEmpty) {
		err = fmt.Errorf("%s: %w to convert", set.Files[0].Name, err)
	}
	return plan, src, err
}

// indexedAtOnce is how many parts are indexed at once where --jobs says no more:
// indexing a cold part waits for one small read after another.
const indexedAtOnce = 8

func (c *conversion) planOptions(enc *encode.Spec) shard.Options {
	how := shard.Options{Source: c.spec, Encode: enc.Options(), Sizes: c.opts.sizes}
	how.Sizes.ShardSize, how.Sizes.Min = int64(c.opts.shardSize), int64(c.opts.minSize)
	if c.opts.shuffle {
		how.Shuffle = &shard.Shuffle{Seed: c.opts.seed}
	}
	return how
}

// dryRun prints the plan. It writes nothing, and stages in a temporary directory.
func (c *conversion) dryRun(ctx context.Context, found []input.Name, in input.Options, progress *reporter) error {
	if c.opts.cacheDir == "" {
		dir, err := os.MkdirTemp("", "ffconvert-*")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		in.CacheDir = dir
	}
	in.Progress = progress.staging(found)
	set, err := input.Open(ctx, found, in)
	if err != nil {
		return err
	}
	plan, _, err := c.plan(ctx, set, progress)
	progress.stop()
	if err := errors.Join(err, set.Cleanup()); err != nil {
		return err
	}
	return printPlan(c.stdout, plan)
}
