package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/convert/format"
	"github.com/ffconvert/ffconvert/export"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/shard/plan"
)

func newExportCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Take samples out of FFRecord shards again",
		Long: `Take the samples of a dataset out of FFRecord shards again: to WebDataset tars, to a folder
of files, or as a stream to another program. Every record is compared with its checksum.

` + exitStatus,
		Example: `  ffconvert export tar out/ 'train-%06d.tar'
  ffconvert export jsonl out/ - | head -n 1`,
		Args: cliflag.WantCommand,
		RunE: cliflag.NeedCommand,
	}
	cmd.AddCommand(newExportTarCommand(), newExportFolderCommand())
	for _, format := range streams {
		cmd.AddCommand(newExportStreamCommand(format))
	}
	return cmd
}

// exportSources is the help of OUT in the commands of export.
const exportSources = `OUT is a dataset that ffconvert has made. It may also be shards by name, several datasets,
a pattern or URLs, as in ffconvert ffr; what their records are is said by --records where no
manifest is beside them.
`

// exportOptions are the flags that all commands of export have.
type exportOptions struct {
	cliflag.Conversion
	reader  *format.Reader // of the format ffr
	ordinal bool           // keys are numbers
	columns bool           // see convert.Conversion.Columns
	often   bool           // records are read more than once
}

func newExportOptions() *exportOptions {
	f, _ := format.Named("ffr")
	return &exportOptions{Conversion: cliflag.NewConversion(), reader: f.Reader()}
}

// addSource registers the flags of the shards that are read.
func (o *exportOptions) addSource(flags *pflag.FlagSet) {
	o.AddChoice(flags)
	flags.Uint64Var(&o.Seed, "seed", 0, "what --sample is drawn from")
	cliflag.AddOptions(flags, o.reader.Set) // export tar and export folder have --key
	flags.Var(&o.Missing, "missing", "what to do with a sample that lacks a field: error, or skip")
	o.Progress.Add(flags)
	cliflag.DecodeLimits(flags, &o.Encode.Limits, "largest list or map in a record", "deepest nesting in a record")
	flags.Var(option.Count(&o.Input.MaxNames, int64(input.MaxNames)), "max-names", "most inputs that OUT may stand for")
	o.AddCache(flags)
	flags.Lookup("cache-dir").Usage = "where fetched and decompressed inputs are kept, whole (default WDS_CACHE; without it ranges of objects are read, or copies lie in a temporary directory, removed at the end)"
	o.AddDecompression(flags)
	o.Place.AddSources(flags, true)
}

// options returns the options that the flags set.
func (o *exportOptions) options(shown *terminal.Reporter) export.Options {
	return export.Options{
		Encode: o.Encode, Choice: o.Choice, Ordinal: o.ordinal, Sizes: o.Sizes, Workers: o.Workers, NoVerify: o.NoVerify,
		AIO: o.AIO, Progress: shown, Tool: tool(),
	}
}

// addWriting registers the flags of exports that write files.
func (o *exportOptions) addWriting(flags *pflag.FlagSet, what string) {
	o.Workers, o.often = cliflag.CPUs(), true
	cliflag.Jobs(flags, &o.Workers, what+" written at once, 1024 at most; by default the CPUs that this process may use")
	cliflag.AIO(flags, &o.AIO)
	flags.BoolVar(&o.NoVerify, "no-verify", false, "do not read the files again")
	key := o.reader.Set.Lookup("key")
	flags.Var(&exportKey{Option: key, ordinal: &o.ordinal}, "key", key.Usage+"; or ordinal, the number of the sample")
	flags.StringVar(&o.Encode.Fields, "fields", "", "fields to export, in order; ';' means the first that exists: 'jpg;png,cls' (default all)")
	flags.StringArrayVar(&o.Encode.Rename, "rename", nil, "rename a field before --fields: image='jpg;png'; may be repeated")
	o.addSource(flags)
}

// An exportKey is a flag value: ordinal, or what the option key of a format takes.
type exportKey struct {
	*option.Option
	ordinal *bool
}

func (v *exportKey) Set(text string) error {
	if text == "ordinal" {
		*v.ordinal = true
		return nil
	}
	return v.Option.Set(text)
}

// run opens the shards that all arguments but the last name, and calls use, with a reporter of progress.
func (o *exportOptions) run(ctx context.Context, cmd *cobra.Command, args []string, use func(*export.Source, *terminal.Reporter) error) (err error) {
	sources, to := args[:len(args)-1], args[len(args)-1]
	o.Encode.Missing = o.Missing.Value
	if _, err := o.Load(ctx); err != nil {
		return err
	}
	shown := terminal.NewReporter(o.Progress, os.Stderr)
	defer shown.Stop()
	c := convert.Conversion{Reader: o.reader, Sources: sources, Options: convert.Options{Encode: o.Encode, Input: o.Staging(), Listed: shown.Listed}, Columns: o.columns}
	if err := convert.LocalPath(to); err != nil {
		return err
	}
	if o.often && c.Input.CacheDir == "" && !export.ByIndex(&o.Choice) {
		remove := convert.TemporaryCache(&c.Input)
		defer func() { err = errors.Join(err, remove()) }()
	}
	err = c.WithSamples(ctx, o.ordinal, func(s *format.Samples) error {
		return use(&export.Source{
			Samples: s.Source, Whole: s.Whole, Description: s.Description, Dataset: s.Dataset, Sum: s.Sum, Heads: s.Heads,
			Options: []any{s.Options, s.Added}, Changed: s.Changed,
		}, shown)
	})
	if errors.Is(err, plan.ErrEmpty) {
		err = fmt.Errorf("%s: %w to export", input.Shown(sources[0]), err)
		if !o.Choice.IsZero() {
			err = fmt.Errorf("%w: those that it has were not chosen", err)
		}
	}
	return cliflag.Hint(err, cmd.Name(), "OUT")
}
