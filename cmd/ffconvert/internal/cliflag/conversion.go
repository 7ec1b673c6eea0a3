package cliflag

import (
	"context"
	"runtime"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/decode"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/internal/stage"
	"github.com/ffconvert/ffconvert/shard/plan"
	"github.com/ffconvert/ffconvert/verify"
)

// Conversion has the flags that the commands of all formats have.
type Conversion struct {
	Encode        encode.Options
	Missing       option.Choice
	Damaged       option.Choice
	Sizes         plan.Sizes
	ShardSize     shardSize
	MinSize       option.Size
	Shuffle       bool
	Seed          uint64
	Choose        Choose
	Filter        *input.Command
	FilterTimeout time.Duration

	Workers   int
	Overwrite bool
	NoVerify  bool
	Verify    bool
	DryRun    bool

	IntoNonempty bool
	Sign         Sign

	Exact, WholeParts bool
	AIO               aio.Options
	Grace             time.Duration
	Progress          terminal.Progress

	CacheDir  string
	CacheSize option.Size
	MaxRatio  int64
	MaxWindow int64
	MaxNames  int64

	Remote Remote
	Bucket Bucket
}

// NewConversion returns the defaults.
func NewConversion() Conversion {
	return Conversion{
		Missing:   option.Choice{Value: encode.MissingError, Words: []string{encode.MissingError, encode.MissingSkip}},
		Damaged:   option.Choice{Value: encode.DamagedKeep, Words: []string{encode.DamagedKeep, encode.DamagedSkip, encode.DamagedError}},
		Choose:    newChoose(),
		AIO:       aio.Options{Depth: verify.DefaultDepth},
		CacheSize: 256 << 30,
		Remote:    newRemote(),
		Bucket:    newBucket(),
	}
}

// Add registers the flags of a conversion.
func (o *Conversion) Add(flags *pflag.FlagSet) {
	flags.StringVar(&o.Encode.Encoding, "encode", "", "what a record is: msgpack, cbor, pickle, arrow, raw, or raw:FIELD for the bytes of one field, pickle:FIELD,FIELD for a tuple (default msgpack; for rows of numbers and for cbor, raw; ffr copies records as they are)")
	flags.StringVar(&o.Encode.Fields, "fields", "", "fields to keep, in order; ';' means the first that exists: 'jpg;png,cls' (default all)")
	flags.StringArrayVar(&o.Encode.Rename, "rename", nil, "rename a field before --fields: image='jpg;png'; may be repeated")
	flags.BoolVar(&o.Encode.Decode, "decode", false, "turn fields into values: cls, index to integers; txt, text to text; json, mp, cbor to what they hold")
	flags.StringVar(&o.Encode.Tensor, "tensor", "", "decode the pictures of the fields with these suffixes, jpg,png,webp, or names: a field npy, uint8, height × width × 3; with --encode raw the pixels alone")
	flags.StringVar(&o.Encode.Resize, "resize", "", "size of the pictures of --tensor: 256, of the shorter edge, or 224x224, width and height (default as they are)")
	flags.Var(&o.Missing, "missing", "what to do with a sample that lacks a field: error, or skip and count")
	flags.Var(&o.Damaged, "damaged", "what to do with a sample of which a picture, a sound or a film is cut or empty: keep and count, skip and count, or error; the last two read all sources twice")
	o.Choose.add(flags)
	o.addFilter(flags)
	flags.Var(&o.ShardSize, "shard-size", "target size of a shard (default: at least 256MiB each, 200 shards at most)")
	flags.Var(&o.MinSize, "min-shard-size", "least mean size of a shard (default 256MiB, or none with --shard-size or --shards)")
	flags.Var(option.AtLeast(&o.Sizes.Max, 1), "max-shards", "most shards (default 200, or none with --shard-size or --shards)")
	flags.Var(option.AtLeast(&o.Sizes.Shards, 1), "shards", "exact number of shards (default by size)")
	flags.BoolVar(&o.Shuffle, "shuffle", false, "put all samples in random order")
	flags.Uint64Var(&o.Seed, "seed", 0, "what --shuffle, --sample and --split draw from")
	flags.BoolVar(&o.Exact, "exact", false, "have all parts here first and cut shards at samples (default for local sources)")
	flags.BoolVar(&o.WholeParts, "whole-parts", false, "cut shards between parts, by their sizes, so that each is fetched once and when it is needed (default for remote sources)")
	flags.BoolVar(&o.DryRun, "dry-run", false, "print the plan and write nothing")
	flags.BoolVar(&o.Overwrite, "overwrite", false, "replace another dataset in OUT")
	flags.BoolVar(&o.IntoNonempty, "into-nonempty", false, "put the dataset into OUT though files of other programs are there, which stay")
	flags.BoolVar(&o.NoVerify, "no-verify", false, "do not re-read the shards")
	flags.BoolVar(&o.Verify, "verify", false, "re-read shards that were finished before, too, and write the damaged ones anew")
	o.Sign.Add(flags)
	o.addRun(flags)
}

// AddTo registers the flags that all commands of a conversion have.
func (o *Conversion) AddTo(cmd *cobra.Command) {
	o.Add(cmd.Flags())
	o.AddCache(cmd.Flags())
	o.Bucket.AddUpload(cmd.Flags())
}

// addRun registers the flags that change neither the plan nor a byte of a shard.
func (o *Conversion) addRun(flags *pflag.FlagSet) {
	o.Workers = runtime.GOMAXPROCS(0)
	Jobs(flags, &o.Workers, "shards written at once, 1024 at most; by default the CPUs that this process may use")
	AIO(flags, &o.AIO, "how shards are re-read", "reads of 1 MiB in flight, all shards being re-read together")
	flags.Var(period{p: &o.Grace}, "grace", "after SIGTERM or SIGUSR1, how long the shards under way may take to be finished; no other is begun (0: all stops at once)")
	o.Progress.Add(flags)
	DecodeLimits(flags, &o.Encode.Limits, "largest field that --decode takes, text aside", "deepest nesting that --decode takes")
	Count(flags, &o.Encode.Limits.MaxPixels, "max-pixels", decode.DefaultMaxPixels, "largest picture that --tensor decodes, in pixels, each up to 20 bytes of memory")
	Count(flags, &o.MaxNames, "max-names", int64(input.MaxNames), "most inputs that the sources may stand for")
}

// AddCache registers the flags of the cache.
func (o *Conversion) AddCache(flags *pflag.FlagSet) {
	flags.StringVar(&o.CacheDir, "cache-dir", "", "where fetched and decompressed inputs are kept (default WDS_CACHE, or inside OUT, removed at the end)")
	flags.Var(&o.CacheSize, "cache-size", "most bytes in --cache-dir; 0 means no limit (WDS_CACHE_SIZE, where it is set, is the default)")
}

// AddDecompression registers the limits of decompression. Formats that read directories have none:
// files in a directory are not decompressed.
func (o *Conversion) AddDecompression(flags *pflag.FlagSet) {
	Count(flags, &o.MaxRatio, "max-ratio", int64(stage.DefaultMaxRatio), "refuse an input that decompresses to more than so many times its size")
	Size(flags, &o.MaxWindow, "max-window", stage.DefaultMaxWindow, "largest window of zstd and xz accepted; each file that is being decompressed holds one or two")
}

// AddPlanned registers the flags of run and repair, which write shards from a plan. limits are the
// limits of all formats: a plan does not keep limits, so the user must raise them again.
func (o *Conversion) AddPlanned(flags *pflag.FlagSet) (limits *pflag.FlagSet) {
	o.addFilter(flags)
	o.addRun(flags)
	o.AddCache(flags)
	o.AddDecompression(flags)
	o.Remote.Add(flags)
	o.Bucket.AddUpload(flags)
	limits = Limits()
	flags.AddFlagSet(limits)
	return limits
}

// Input returns the options that the flags give to packages input and internal/stage.
func (o *Conversion) Input() stage.Options {
	in := stage.Options{Options: input.Options{MaxNames: o.MaxNames, Laid: input.NewLaid(o.CacheDir)}, CacheDir: o.CacheDir, Workers: o.Workers, Quota: int64(o.CacheSize), MaxRatio: o.MaxRatio, MaxWindow: o.MaxWindow, Guarded: true}
	o.Remote.apply(&in)
	return in
}

// Options returns the options that the flags give to package convert. ctx is the context of the
// command; its Stopper drains the run. tool names the program in the manifest.
func (o *Conversion) Options(ctx context.Context, tool string, progress *terminal.Reporter) convert.Options {
	opts := convert.Options{
		Encode: o.Encode, Sizes: o.Sizes, Filter: o.Filter, FilterTimeout: o.FilterTimeout, Input: o.Input(),
		Workers: o.Workers, Overwrite: o.Overwrite, IntoNonempty: o.IntoNonempty, NoVerify: o.NoVerify, Verify: o.Verify,
		AIO: o.AIO, Tool: tool,
		Progress: progress, Doubt: progress.Warn, Listed: progress.Listed, Waiting: progress.Waiting,
		Drain: func() <-chan struct{} { return terminal.Drain(ctx, o.Grace) },
	}
	opts.Bucket = o.Bucket.options(opts.Input.Remote, progress.Note)
	if verboseCache() {
		opts.Input.Verbose = progress.Note
	}
	opts.Encode.Missing = o.Missing.Value
	if o.Damaged.Value != encode.DamagedKeep {
		opts.Encode.Damaged = o.Damaged.Value
	}
	opts.Sizes.ShardSize, opts.Sizes.Min = int64(o.ShardSize), int64(o.MinSize)
	if o.Shuffle {
		opts.Shuffle = &plan.Shuffle{Seed: o.Seed}
	}
	switch {
	case o.Exact:
		opts.Cut = convert.CutSamples
	case o.WholeParts:
		opts.Cut = convert.CutParts
	}
	return opts
}
