package cliflag

import (
	"cmp"
	"context"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/dataset/signature"
	"github.com/ffconvert/ffconvert/decode"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/internal/samples/choose"
	"github.com/ffconvert/ffconvert/internal/stage"
	"github.com/ffconvert/ffconvert/shard/plan"
	"github.com/ffconvert/ffconvert/verify"
)

// Conversion has the flags that the commands of all formats have. Most set an option of the conversion itself; Progress and Sign
// hide the fields of these names, which [Conversion.Ready] sets.
type Conversion struct {
	convert.Options
	Seed             uint64
	Missing, Damaged option.Choice
	keys, drop       string // @FILE
	unknown          option.Choice
	maxKeys          int64 // bytes
	DryRun           bool
	Sign             Sign
	Grace            time.Duration
	Progress         terminal.Progress
	Place            Place
	cache            *pflag.FlagSet // has the flags of AddCache
}

// NewConversion returns the defaults.
func NewConversion() Conversion {
	return Conversion{
		Options: convert.Options{AIO: aio.Options{Depth: verify.DefaultDepth}, Input: stage.Options{Quota: 256 << 30}},
		Missing: option.Choice{Value: encode.MissingError, Words: []string{encode.MissingError, encode.MissingSkip}},
		Damaged: option.Choice{Value: encode.DamagedKeep, Words: []string{encode.DamagedKeep, encode.DamagedSkip, encode.DamagedError}},
		unknown: option.Choice{Value: choose.UnknownError, Words: []string{choose.UnknownError, choose.UnknownSkip}},
		Place:   NewPlace(),
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
	o.AddChoice(flags)
	o.addSplits(flags)
	o.addFilter(flags)
	o.AddSizes(flags, "shard")
	addSwitch(flags, &o.Shuffle, &plan.Shuffle{}, "shuffle", "put all samples in random order")
	flags.Uint64Var(&o.Seed, "seed", 0, "what --shuffle, --sample and --split draw from")
	addSwitch(flags, &o.Cut, convert.CutSamples, "exact", "have all parts here first and cut shards at samples (default for local sources)")
	addSwitch(flags, &o.Cut, convert.CutParts, "whole-parts", "cut shards between parts, by their sizes, so that each is fetched once and when it is needed (default for remote sources)")
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
	o.Place.addUpload(cmd.Flags(), true)
}

// AddSizes registers the flags of the sizes of what is written, shards or tars.
func (o *Conversion) AddSizes(flags *pflag.FlagSet, noun string) {
	flags.Var(shardSize(&o.Sizes.ShardSize), "shard-size", "target size of a "+noun+" (default: at least 256MiB each, 200 "+noun+"s at most)")
	flags.Var((*option.Size)(&o.Sizes.Min), "min-shard-size", "least mean size of a "+noun+" (default 256MiB, or none with --shard-size or --shards)")
	flags.Var(option.AtLeast(&o.Sizes.Max, 1), "max-shards", "most "+noun+"s (default 200, or none with --shard-size or --shards)")
	flags.Var(option.AtLeast(&o.Sizes.Shards, 1), "shards", "exact number of "+noun+"s (default by size)")
}

// addRun registers the flags that change neither the plan nor a byte of a shard.
func (o *Conversion) addRun(flags *pflag.FlagSet) {
	o.Workers = CPUs()
	Jobs(flags, &o.Workers, "shards written at once, 1024 at most; by default the CPUs that this process may use")
	AIO(flags, &o.AIO)
	flags.Var(Period(&o.Grace), "grace", "after SIGTERM or SIGUSR1, how long the shards under way may take to be finished; no other is begun (0: all stops at once)")
	o.Progress.Add(flags)
	DecodeLimits(flags, &o.Encode.Limits, "largest field that --decode takes, text aside", "deepest nesting that --decode takes")
	flags.Var(option.Count(&o.Encode.Limits.MaxPixels, decode.DefaultMaxPixels), "max-pixels", "largest picture that --tensor decodes, in pixels, each up to 20 bytes of memory")
	flags.Var(option.Count(&o.Input.MaxNames, int64(input.MaxNames)), "max-names", "most inputs that the sources may stand for")
}

// AddCache registers the flags of the cache.
func (o *Conversion) AddCache(flags *pflag.FlagSet) {
	o.cache = flags
	flags.StringVar(&o.Input.CacheDir, "cache-dir", "", "where fetched and decompressed inputs are kept (default WDS_CACHE, or inside OUT, removed at the end)")
	flags.Var((*option.Size)(&o.Input.Quota), "cache-size", "most bytes in --cache-dir; 0 means no limit (WDS_CACHE_SIZE, where it is set, is the default)")
}

// AddDecompression registers the limits of decompression. Formats that read directories have none:
// files in a directory are not decompressed.
func (o *Conversion) AddDecompression(flags *pflag.FlagSet) {
	flags.Var(option.Count(&o.Input.MaxRatio, int64(stage.DefaultMaxRatio)), "max-ratio", "refuse an input that decompresses to more than so many times its size")
	flags.Var(option.MaxSize(&o.Input.MaxWindow, stage.DefaultMaxWindow), "max-window", "largest window of zstd and xz accepted; each file that is being decompressed holds one or two")
}

// AddPlanned registers the flags of run and repair, which write shards from a plan. limits are the
// limits of all formats: a plan does not keep limits, so the user must raise them again.
func (o *Conversion) AddPlanned(flags *pflag.FlagSet) (limits *pflag.FlagSet) {
	o.addFilter(flags)
	o.addRun(flags)
	o.AddCache(flags)
	o.AddDecompression(flags)
	o.Place.AddSources(flags, true)
	o.Place.addUpload(flags, true)
	limits = Limits()
	flags.AddFlagSet(limits)
	return limits
}

// Staging returns the options that the flags give to packages input and internal/stage.
func (o *Conversion) Staging() stage.Options {
	in := o.Input
	in.Laid, in.Workers, in.Guarded = input.NewLaid(in.CacheDir), o.Workers, true
	in.AllowPipe, in.Rewrite, in.Fetches = o.Place.allowPipe, o.Place.rewrite, o.Place.service.Connections
	in.Remote = o.Place.client()
	return in
}

// Load applies what the environment says of the cache, and reads the files that flags name: lists of keys, and the key to sign
// with, which it returns; nil: nothing is signed. It may ask for a password.
func (o *Conversion) Load(ctx context.Context) (*signature.PrivateKey, error) {
	if err := cmp.Or(o.cacheFromEnvironment(), o.readKeys()); err != nil {
		return nil, err
	}
	key, err := o.Sign.Load(ctx)
	o.SHA256 = o.Sign.SHA256
	if key != nil {
		o.Options.Sign = key.Sign
	}
	return key, err
}

// Ready returns the options that the flags give to package convert. ctx is the context of the
// command; its stopper drains the run. tool names the program in the manifest.
func (o *Conversion) Ready(ctx context.Context, tool string, progress *terminal.Reporter) convert.Options {
	opts := o.Options
	opts.Input, opts.Tool = o.Staging(), tool
	opts.Progress, opts.Doubt, opts.Listed, opts.Waiting = progress, progress.Warn, progress.Listed, progress.Waiting
	opts.Drain = func() <-chan struct{} { return terminal.Drain(ctx, o.Grace) }
	opts.Bucket = o.Place.Options(progress.Note)
	opts.Bucket.Client = opts.Input.Remote
	if verboseCache() {
		opts.Input.Verbose = progress.Note
	}
	opts.Encode.Missing, opts.Encode.Damaged = o.Missing.Value, o.Damaged.Value
	if o.Shuffle != nil {
		opts.Shuffle = &plan.Shuffle{Seed: o.Seed}
	}
	return opts
}
