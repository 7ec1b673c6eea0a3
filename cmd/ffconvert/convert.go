package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/input"
	"github.com/ffconvert/ffconvert/shard"
)

// convertOptions are the flags that all formats share.
type convertOptions struct {
	encode    encode.Options
	missing   choiceValue
	sizes     shard.Sizes
	shardSize sizeValue
	minSize   sizeValue
	shuffle   bool
	seed      uint64

	workers   int
	overwrite bool
	noVerify  bool
	dryRun    bool
	backend   aio.Backend
	depth     int
	progress  choiceValue

	cacheDir  string
	cacheSize sizeValue
	maxRatio  int64
}

func newConvertCommand(f format) *cobra.Command {
	opts := convertOptions{
		missing:   choiceValue{value: encode.MissingError, choices: []string{encode.MissingError, encode.MissingSkip}},
		progress:  progressValue(),
		cacheSize: 256 << 30,
	}
	cmd := &cobra.Command{
		Use:     f.name + " " + f.source + " OUT",
		Short:   "Convert " + f.short,
		Long:    f.long + "\n\n" + convertHelp + "\n\n" + exitStatus,
		Example: f.example,
		Args:    cobra.MinimumNArgs(2),
	}
	opts.add(cmd.Flags())
	own := pflag.NewFlagSet(f.name, pflag.ContinueOnError)
	open := f.flags(own)
	cmd.Flags().AddFlagSet(own)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		spec := shard.SourceSpec{Format: f.name}
		own.VisitAll(func(flag *pflag.Flag) {
			if !flag.Changed {
				return
			}
			if spec.Options == nil {
				spec.Options = make(map[string]string)
			}
			spec.Options[flag.Name] = flag.Value.String()
		})
		c := conversion{format: f, open: open, spec: spec, opts: opts, names: args[:len(args)-1], out: args[len(args)-1], stdout: cmd.OutOrStdout()}
		return c.run(cmd.Context())
	}
	return cmd
}

const convertHelp = `Sources are files, directories, shell globs, patterns ({000..009} or <000..009>, lists
{a,b}, joined by ::) and - for standard input. gzip, zstd, bzip2 and xz are told from
content and decompressed into a cache first.

OUT receives PART_00000.ffr and so on, a manifest, and an Arrow index a shard. A shard has
its name only once it is complete, synced, re-read from the device and checked. An
interrupted conversion goes on when the same command is run again.`

func (o *convertOptions) add(flags *pflag.FlagSet) {
	flags.SortFlags = false
	flags.StringVar(&o.encode.Encoding, "encode", "msgpack", "what a record is: msgpack, or raw:FIELD for the bytes of one field")
	flags.StringVar(&o.encode.Fields, "fields", "", "fields to keep, in order; ';' means the first that exists: 'jpg;png,cls' (default all)")
	flags.StringArrayVar(&o.encode.Rename, "rename", nil, "rename a field before --fields: image='jpg;png'; may be repeated")
	flags.Var(&o.missing, "missing", "what to do with a sample that lacks a field: error, or skip and count")
	flags.Var(&o.shardSize, "shard-size", "target size of a shard (default: at least 256MiB each, 200 shards at most)")
	flags.Var(&o.minSize, "min-shard-size", "least mean size of a shard (default 256MiB, or none with --shard-size or --shards)")
	flags.IntVar(&o.sizes.Max, "max-shards", 0, "most shards (default 200, or none with --shard-size or --shards)")
	flags.IntVar(&o.sizes.Shards, "shards", 0, "exact number of shards (default by size)")
	flags.BoolVar(&o.shuffle, "shuffle", false, "put all samples in random order")
	flags.Uint64Var(&o.seed, "seed", 0, "what the order of --shuffle is drawn from")
	flags.BoolVar(&o.dryRun, "dry-run", false, "print the plan and write nothing")
	flags.BoolVar(&o.overwrite, "overwrite", false, "replace another dataset in OUT")
	flags.IntVarP(&o.workers, "jobs", "j", runtime.GOMAXPROCS(0), "shards written at once (default the CPUs this process may use)")
	flags.BoolVar(&o.noVerify, "no-verify", false, "do not re-read the shards from the device")
	flags.Var(&o.backend, "backend", "how shards are re-read: auto, aio or pread")
	flags.IntVar(&o.depth, "queue-depth", 8, "reads of 1 MiB in flight for each shard being re-read")
	flags.Var(&o.progress, "progress", "progress on standard error: auto, bar, plain, json or none")
	flags.StringVar(&o.cacheDir, "cache-dir", "", "where decompressed inputs are kept (default inside OUT, removed at the end)")
	flags.Var(&o.cacheSize, "cache-size", "most bytes in --cache-dir; 0 means no limit")
	flags.Int64Var(&o.maxRatio, "max-ratio", input.DefaultMaxRatio, "refuse an input that decompresses to more than so many times its size")
}

// A conversion is one run of a conversion command.
type conversion struct {
	format format
	open   opener
	spec   shard.SourceSpec
	opts   convertOptions
	names  []string
	out    string
	stdout io.Writer
}

func (c *conversion) run(ctx context.Context) error {
	if c.opts.workers < 1 {
		return errors.New("--jobs must be 1 or more")
	}
	c.opts.encode.Missing = c.opts.missing.value
	enc, err := encode.Parse(c.opts.encode)
	if err != nil {
		return err
	}
	in := c.inputOptions()
	found, err := input.Find(ctx, c.names, in)
	if err != nil {
		return err
	}
	progress := newReporter(c.opts.progress.value, os.Stderr)
	defer progress.stop()
	if c.opts.dryRun {
		return c.dryRun(ctx, enc, found, in, progress)
	}

	out, err := shard.OpenOutput(c.out)
	if err != nil {
		return err
	}
	report, err := c.convert(ctx, enc, found, in, out, progress)
	progress.stop()
	if err := errors.Join(err, out.Close()); err != nil {
		return err
	}
	progress.done(c.out, report)
	return nil
}

// convert plans and writes. What it stages inside the output it removes, unless a run
// that resumes this one can use it.
func (c *conversion) convert(ctx context.Context, enc *encode.Spec, found []input.Name, in input.Options, out *shard.Output, progress *reporter) (*shard.Report, error) {
	names := make([]string, len(found))
	for i, n := range found {
		names[i] = n.Name
	}
	if err := out.Check(c.planOptions(enc), names, c.opts.overwrite); err != nil {
		return nil, err
	}
	in.Progress = progress.staging(found)
	set, err := input.Open(ctx, found, in)
	if err != nil {
		return nil, c.tidy(ctx, in, err)
	}
	plan, src, err := c.plan(ctx, enc, set, progress)
	if err != nil {
		return nil, errors.Join(c.tidy(ctx, in, err), set.Cleanup())
	}
	report, err := shard.Write(ctx, src, plan, out, shard.WriteOptions{
		Workers: c.opts.workers, Overwrite: c.opts.overwrite, NoVerify: c.opts.noVerify,
		AIO:      aio.Options{Backend: c.opts.backend, Depth: c.opts.depth},
		Progress: progress, Tool: "ffconvert " + version,
	})
	err = errors.Join(err, set.Cleanup())
	if err == nil {
		err = c.tidy(ctx, in, nil)
	}
	return report, err
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
		Match:    c.format.match,
		CacheDir: c.opts.cacheDir,
		Quota:    int64(c.opts.cacheSize),
		MaxRatio: c.opts.maxRatio,
		Workers:  c.opts.workers,
	}
	if in.CacheDir == "" {
		in.CacheDir = filepath.Join(c.out, shard.WorkDir, "cache")
	}
	return in
}

// plan indexes the sources and plans the shards.
func (c *conversion) plan(ctx context.Context, enc *encode.Spec, set *input.Set, progress *reporter) (*shard.Plan, converters.Source, error) {
	parts := make([]converters.Part, len(set.Files))
	for i, f := range set.Files {
		parts[i] = converters.Part{Name: f.Name, Path: f.Path, Size: f.Size, ModTime: f.ModTime, Staged: f.Staged}
	}
	src, err := c.open(parts)
	if err != nil {
		return nil, nil, err
	}
	index, err := shard.Index(ctx, src, enc, max(c.opts.workers, indexedAtOnce), progress)
	if err != nil {
		return nil, nil, err
	}
	plan, err := shard.NewPlan(index, c.planOptions(enc))
	if errors.Is(err, shard.ErrEmpty) {
		err = fmt.Errorf("%s: %w to convert", c.names[0], err)
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
func (c *conversion) dryRun(ctx context.Context, enc *encode.Spec, found []input.Name, in input.Options, progress *reporter) error {
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
	plan, _, err := c.plan(ctx, enc, set, progress)
	progress.stop()
	if err := errors.Join(err, set.Cleanup()); err != nil {
		return err
	}
	return printPlan(c.stdout, plan)
}
