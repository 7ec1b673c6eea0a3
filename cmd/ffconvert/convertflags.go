package main

import (
	"fmt"
	"runtime"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/help"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/progress"
	"github.com/ffconvert/ffconvert/convert/option"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/input"
	"github.com/ffconvert/ffconvert/input/stage"
	"github.com/ffconvert/ffconvert/shard/plan"
	"github.com/ffconvert/ffconvert/verify"
)

// convertOptions are the flags that the commands of all formats have.
type convertOptions struct {
	encode    encode.Options
	missing   option.Choice
	sizes     plan.Sizes
	shardSize option.Size
	minSize   option.Size
	shuffle   bool
	seed      uint64
	choose    chooseFlags

	workers   int
	overwrite bool
	noVerify  bool
	verify    bool
	dryRun    bool

	intoNonempty bool

	exact, wholeParts bool
	backend           aio.Backend
	depth             int
	grace             time.Duration
	progress          progress.Flag

	cacheDir  string
	cacheSize option.Size
	maxRatio  int64
	maxWindow int64
	maxNames  int64

	remote remoteOptions
}

// sourceHelp is the help about the names of sources; "" for a plugin, which gets them as arguments.
func (f sourceFormat) sourceHelp() string {
	switch {
	case f.plugin:
		return ""
	case f.Directories:
		return `Sources are directories; shell globs and patterns ({a,b}, {000..009}) name several. So do
URLs (s3, gs and ais): one stands for the tree of objects below it, which is fetched first.
@FILE stands for the names in a file, a line each.

`
	}
	return `Sources are files, directories, shell globs, patterns ({000..009} or <000..009>, lists
{a,b}, joined by ::), URLs (http, https, s3, gs and ais, with globs where the service gives
lists, and a / at the end for the objects below), @FILE for the names in a file, a line
each, pipe:COMMAND with --allow-pipe, and - for standard input. gzip, zstd, bzip2 and xz
are told from content. What is fetched or decompressed goes through a cache. Remote parts
are fetched while others are converted, and shards are cut between them: see --exact.

`
}

const outputHelp = `OUT receives PART_00000.ffr and so on, a manifest, and an Arrow index a shard. A shard has
its name only once it is complete, synced, re-read past the page cache and checked.
An interrupted conversion goes on when the same command is run again.`

func newConvertOptions() convertOptions {
	return convertOptions{
		missing:   option.Choice{Value: encode.MissingError, Words: []string{encode.MissingError, encode.MissingSkip}},
		choose:    newChooseFlags(),
		progress:  progress.NewFlag(),
		depth:     verify.DefaultDepth,
		cacheSize: 256 << 30,
		remote:    newRemoteOptions(),
	}
}

func (o *convertOptions) add(flags *pflag.FlagSet) {
	flags.StringVar(&o.encode.Encoding, "encode", "", "what a record is: msgpack, cbor, pickle, arrow, raw, or raw:FIELD for the bytes of one field (default msgpack; for rows of numbers and for cbor, raw)")
	flags.StringVar(&o.encode.Fields, "fields", "", "fields to keep, in order; ';' means the first that exists: 'jpg;png,cls' (default all)")
	flags.StringArrayVar(&o.encode.Rename, "rename", nil, "rename a field before --fields: image='jpg;png'; may be repeated")
	flags.BoolVar(&o.encode.Decode, "decode", false, "turn fields into values: cls, index to integers; txt, text to text; json, mp, cbor to what they hold")
	flags.Var(&o.missing, "missing", "what to do with a sample that lacks a field: error, or skip and count")
	o.choose.add(flags)
	flags.Var(&o.shardSize, "shard-size", "target size of a shard (default: at least 256MiB each, 200 shards at most)")
	flags.Var(&o.minSize, "min-shard-size", "least mean size of a shard (default 256MiB, or none with --shard-size or --shards)")
	flags.Var(option.AtLeast(&o.sizes.Max, 1), "max-shards", "most shards (default 200, or none with --shard-size or --shards)")
	flags.Var(option.AtLeast(&o.sizes.Shards, 1), "shards", "exact number of shards (default by size)")
	flags.BoolVar(&o.shuffle, "shuffle", false, "put all samples in random order")
	flags.Uint64Var(&o.seed, "seed", 0, "what --shuffle, --sample and --split draw from")
	flags.BoolVar(&o.exact, "exact", false, "have all parts here first and cut shards at samples (default for local sources)")
	flags.BoolVar(&o.wholeParts, "whole-parts", false, "cut shards between parts, by their sizes, so that each is fetched once and when it is needed (default for remote sources)")
	flags.BoolVar(&o.dryRun, "dry-run", false, "print the plan and write nothing")
	flags.BoolVar(&o.overwrite, "overwrite", false, "replace another dataset in OUT")
	flags.BoolVar(&o.intoNonempty, "into-nonempty", false, "put the dataset into OUT though files of other programs are there, which stay")
	flags.BoolVar(&o.noVerify, "no-verify", false, "do not re-read the shards")
	flags.BoolVar(&o.verify, "verify", false, "re-read shards that were finished before, too, and write the damaged ones anew")
	o.addRun(flags)
}

// addTo registers the flags that all commands of a conversion have.
func (o *convertOptions) addTo(cmd *cobra.Command) {
	o.add(cmd.Flags())
	cmd.MarkFlagsMutuallyExclusive("exact", "whole-parts")
	cmd.MarkFlagsMutuallyExclusive("verify", "no-verify")
	o.choose.exclude(cmd)
	o.addCache(cmd.Flags())
}

// refuseSeed refuses --seed if nothing is drawn at random.
func (o *convertOptions) refuseSeed(flags *pflag.FlagSet, drawn bool) error {
	if drawn || o.choose.Drawn() || !flags.Changed("seed") {
		return nil
	}
	return fmt.Errorf("--seed %d: nothing is drawn without --shuffle, --sample or --split; add one, or leave --seed out", o.seed)
}

// addRun registers the flags that change neither the plan nor a byte of a shard.
func (o *convertOptions) addRun(flags *pflag.FlagSet) {
	o.workers = runtime.GOMAXPROCS(0)
	jobsFlag(flags, &o.workers, "shards written at once, 1024 at most; by default the CPUs that this process may use")
	flags.Var(&o.backend, "backend", "how shards are re-read: auto, aio or pread")
	flags.Var(queueDepth(&o.depth), "queue-depth", "reads of 1 MiB in flight, all shards being re-read together")
	flags.Var(period{p: &o.grace}, "grace", "after SIGTERM or SIGUSR1, how long the shards under way may take to be finished; no other is begun (0: all stops at once)")
	flags.Var(&o.progress, "progress", progress.Usage)
	sizeFlag(flags, &o.encode.Limits.MaxDecode, "max-decode-size", encode.DefaultMaxDecode, "largest field that --decode takes, text aside")
	o.encode.Limits.MaxDepth = encode.DefaultMaxDepth
	flags.Var(option.Between(&o.encode.Limits.MaxDepth, 4, 65535), "max-decode-depth", "deepest nesting that --decode takes, 4 to 65535")
	help.MarkLimit(flags, "max-decode-depth")
	countFlag(flags, &o.maxNames, "max-names", int64(input.MaxNames), "most inputs that the sources may stand for")
}

// addCache registers the flags of the cache.
func (o *convertOptions) addCache(flags *pflag.FlagSet) {
	flags.StringVar(&o.cacheDir, "cache-dir", "", "where fetched and decompressed inputs are kept (default WDS_CACHE, or inside OUT, removed at the end)")
	flags.Var(&o.cacheSize, "cache-size", "most bytes in --cache-dir; 0 means no limit (WDS_CACHE_SIZE, where it is set, is the default)")
}

// addDecompression registers the limits of decompression. Formats that read directories have none:
// files in a directory are not decompressed.
func (o *convertOptions) addDecompression(flags *pflag.FlagSet) {
	countFlag(flags, &o.maxRatio, "max-ratio", int64(stage.DefaultMaxRatio), "refuse an input that decompresses to more than so many times its size")
	sizeFlag(flags, &o.maxWindow, "max-window", stage.DefaultMaxWindow, "largest window of zstd and xz accepted; each file that is being decompressed holds one or two")
}

// addPlanned registers the flags of run and repair, which write shards from a plan. limits are the
// limits of all formats: a plan does not keep limits, so the user must raise them again.
func (o *convertOptions) addPlanned(flags *pflag.FlagSet) (limits *pflag.FlagSet) {
	o.addRun(flags)
	o.addCache(flags)
	o.addDecompression(flags)
	o.remote.add(flags)
	limits = formatLimits()
	flags.AddFlagSet(limits)
	return limits
}

// input returns the options that the flags give to packages input and input/stage.
func (o *convertOptions) input() stage.Options {
	in := stage.Options{Options: input.Options{MaxNames: o.maxNames}, CacheDir: o.cacheDir, Workers: o.workers, Quota: int64(o.cacheSize), MaxRatio: o.maxRatio, MaxWindow: o.maxWindow, Guarded: true}
	o.remote.apply(&in)
	return in
}
