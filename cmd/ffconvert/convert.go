package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

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
	if !f.directories && !f.plugin {
		opts.remote.add(cmd.Flags())
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
	mix     *mixture // data, where that is several collections; else nil
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
	if dirs := c.directories(found); dirs != nil {
		if err := c.refuseInside(dirs); err != nil {
			return err
		}
	}
	progress := newReporter(c.opts.progress.value, os.Stderr)
	defer progress.stop()
	whole, err := c.whole(found)
	if err != nil {
		return err
	}
	if c.opts.dryRun {
		return c.dryRun(ctx, found, in, whole, progress)
	}

	out, err := shard.OpenOutput(c.out)
	if err != nil {
		return err
	}
	convert := c.convert
	if whole {
		convert = c.convertWhole
	}
	report, err := convert(ctx, found, in, out, progress)
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
	named := make([]string, len(c.names))
	for i, name := range c.names {
		named[i] = input.Shown(name)
	}
	return shard.WriteOptions{
		Workers: c.opts.workers, Overwrite: c.opts.overwrite, NoVerify: c.opts.noVerify,
		AIO:      aio.Options{Backend: c.opts.backend, Depth: c.opts.depth},
		Progress: progress, Tool: "ffconvert " + version, Named: named,
	}
}

// staged makes the inputs local files while use uses them. The cache inside the output is
// removed, unless the run was interrupted and another one can use it, or the writing has
// failed.
func (c *conversion) staged(ctx context.Context, found []input.Name, in input.Options, progress *reporter, use func(*input.Set) error) error {
	if err := c.refuseCache(in); err != nil {
		return err
	}
	in.Progress = progress.staging(found)
	set, err := c.stage(ctx, found, in)
	if err == nil {
		err = use(set)
		err = errors.Join(err, set.Cleanup())
	}
	if _, unfinished := errors.AsType[*shard.Unfinished](err); unfinished {
		return err
	}
	return c.tidy(ctx, err)
}

// refuseCache refuses what is in the place of the cache inside the output.
func (c *conversion) refuseCache(in input.Options) error {
	if st, err := os.Lstat(in.CacheDir); c.opts.cacheDir == "" && err == nil && !st.IsDir() {
		return &converters.Error{Part: in.CacheDir, Off: -1, Err: fmt.Errorf("%w: it is no directory", converters.ErrUnsupported), Hint: "remove it"}
	}
	return nil
}

// tidy removes the cache inside the output, unless the run was interrupted and another one
// can use it. Where the user has named another cache, one that a run before has left there is
// removed once the dataset is complete. It adds its own error to err.
func (c *conversion) tidy(ctx context.Context, err error) error {
	own := c.ownCache()
	if ctx.Err() != nil || c.opts.cacheDir != "" && (err != nil || isInside(c.opts.cacheDir, own)) {
		return err
	}
	return errors.Join(err, os.RemoveAll(own))
}

// ownCache is the cache inside the output.
func (c *conversion) ownCache() string { return filepath.Join(c.out, shard.WorkDir, "cache") }

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
		in.CacheDir = c.ownCache()
	}
	return in
}

// find finds the inputs: what the names name, or what the command will write.
func (c *conversion) find(ctx context.Context, in input.Options) ([]input.Name, error) {
	if c.command != nil {
		return []input.Name{input.FromCommand(*c.command)}, nil
	}
	if c.mix != nil {
		return c.mix.find(ctx, in)
	}
	return input.Find(ctx, c.names, in)
}

// directories returns those of the inputs that are directories.
func (c *conversion) directories(found []input.Name) []input.Name {
	switch {
	case c.mix != nil:
		return c.mix.directories(found)
	case c.format.directories:
		return found
	}
	return nil
}

// stage makes the inputs local files.
func (c *conversion) stage(ctx context.Context, found []input.Name, in input.Options) (*input.Set, error) {
	if c.mix != nil {
		return c.mix.stage(ctx, found, in)
	}
	return input.Open(ctx, found, in)
}

// check refuses an output that is taken, as far as that can be told before the input is
// read.
func (c *conversion) check(out *shard.Output, found []input.Name) error {
	var names []string // of the parts; those of a directory are not known yet
	if c.mix != nil {
		names = c.mix.partNames(found)
	} else if !c.format.directories {
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
	return c.data.open(ctx, partsOf(set), c.opts.encode)
}

func partsOf(set *input.Set) []converters.Part {
	parts := make([]converters.Part, len(set.Files))
	for i, f := range set.Files {
		parts[i] = converters.Part{Name: f.Name, Path: f.Path, Size: f.Size, ModTime: f.ModTime, Staged: f.Staged, Mark: f.Mark}
	}
	return parts
}

// describe returns what a source says of its dataset, and how its records are encoded.
func (c *conversion) describe(src converters.Source) (converters.Description, *encode.Spec, error) {
	records := c.opts.encode
	var says converters.Description
	if d, ok := src.(converters.Describer); ok {
		says = d.Describe()
	}
	if c.mix != nil {
		records.Encoding = c.mix.encoding
	}
	if records.Encoding == "" {
		records.Encoding = says.Encoding
	}
	enc, err := encode.Parse(records)
	return says, enc, err
}

// encodings says how the records of each part are encoded.
func (c *conversion) encodings(enc *encode.Spec) (shard.Encodings, error) {
	if c.mix != nil {
		return c.mix.encodings(enc)
	}
	return shard.Encodings{Specs: []*encode.Spec{enc}}, nil
}

// plan indexes the sources and plans the shards.
func (c *conversion) plan(ctx context.Context, set *input.Set, progress *reporter) (*shard.Plan, converters.Source, error) {
	src, err := c.source(ctx, set)
	if err != nil {
		return nil, nil, err
	}
	says, enc, err := c.describe(src)
	if err != nil {
		return nil, nil, err
	}
	each, err := c.encodings(enc)
	if err != nil {
		return nil, nil, err
	}
	index, err := shard.IndexEach(ctx, src, each, max(c.opts.workers, indexedAtOnce), progress)
	if err != nil {
		return nil, nil, err
	}
	how := c.planOptions(enc)
	how.Dataset, how.Encodes = says, each.Options()
	plan, err := shard.NewPlan(index, how)
	return plan, src, empty(set.Files[0].Name, err)
}

// empty says of what there are no samples, where that is the error.
func empty(first string, err error) error {
	if errors.Is(err, shard.ErrEmpty) {
		return fmt.Errorf("%s: %w to convert", first, err)
	}
	return err
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

// dryRun prints the plan, or of remote parts what is known of it: it writes and fetches
// nothing, and stages in a temporary directory.
func (c *conversion) dryRun(ctx context.Context, found []input.Name, in input.Options, whole bool, progress *reporter) error {
	if whole || slices.ContainsFunc(found, func(n input.Name) bool { return n.Object != nil }) {
		return c.printFetch(found, whole)
	}
	if c.opts.cacheDir == "" {
		dir, err := os.MkdirTemp("", "ffconvert-*")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		in.CacheDir = dir
	}
	in.Progress = progress.staging(found)
	set, err := c.stage(ctx, found, in)
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
