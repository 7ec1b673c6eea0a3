package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/internal/check"
	"github.com/ffconvert/ffconvert/internal/findings"
	"github.com/ffconvert/ffconvert/internal/option"
)

// checkExit is the end of the help of the check commands.
const checkExit = `Exit status 0 means that nothing would be refused, 3 that something would be (with --strict:
or is suspicious), 4 that files could not be read, and nothing else would be refused.

` + exitStatus

// newCheckCommand returns the command check, with the subcommand that args name, or all.
func newCheckCommand(args []string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check [SRC...]",
		Short: "Look through a dataset before converting it",
		Long: `Look through a dataset and list what a conversion would refuse (errors), what it would
accept though it may not be meant (warnings), and what it would pass over (notes). All files
are looked at, whatever is wrong with one of them. Nothing is written. With --deep payloads
are read and decoded, too; else a check costs what indexing costs.

Where no format is named it is told from the first file of each source, and said on standard
error.

` + checkExit,
		Example: `  ffconvert check imagenet/train
  ffconvert check tar 'shards-<000..009>.tar'
  ffconvert check folder --deep imagenet/train
  ffconvert check csv --format junit data/ > check.xml`,
	}
	var all []command
	for _, f := range formats {
		all = append(all, command{"", f.Name, func() *cobra.Command { return newCheckFormatCommand(f) }})
	}
	add(cmd, all, args)
	opts := checkOptions{convert: cliflag.NewConversion()}
	cmd.Flags().SortFlags = false
	opts.add(cmd.Flags(), sourceFormat{}, &option.Set{})
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fmt.Errorf("check: SRC... is missing: want ffconvert check SRC..., or ffconvert check FORMAT SRC... with one of %s", cliflag.Subcommands(cmd))
		}
		if _, err := os.Lstat(args[0]); err != nil && cliflag.Nearest(args[0], cmd.Commands()) != "" {
			return cliflag.WantCommand(cmd, args)
		}
		f, err := detect(cmd, args, opts.convert.Input.MaxNames)
		if err != nil {
			return notDetected(cmd, opts, err)
		}
		return runAs(cmd, newCheckFormatCommand(f.sourceFormat), f, args)
	}
	return cmd
}

// notDetected ends a check if the format of the sources is not known. With another --format than text
// the error is printed as a finding.
func notDetected(cmd *cobra.Command, opts checkOptions, err error) error {
	if opts.documents.textOnly() || exitCode(err) != exitRefused {
		return err
	}
	if err := opts.documents.create(); err != nil {
		return err
	}
	report, err := check.Source(cmd.Context(), nil, check.Options{Refused: []findings.Finding{check.Refusal(err, "")}})
	if err != nil {
		return err
	}
	report.Tool, report.Version = "ffconvert check", version
	return printFindings(cmd.OutOrStdout(), report, opts)
}

// checkOptions are the flags of the check commands.
type checkOptions struct {
	convert   cliflag.Conversion // flags that check and convert share
	deep      bool
	strict    bool
	documents documents
	workers   int
}

func newCheckFormatCommand(f sourceFormat) *cobra.Command {
	opts := checkOptions{convert: cliflag.NewConversion()}
	cmd := &cobra.Command{
		Use:   f.Name + " " + f.source,
		Short: "Check " + f.short,
		Long: "Check " + f.short + `, without writing anything. Flags of the conversion mean what they mean there;
what they accept is a note.

` + f.sourceHelp() + checkExit,
		Example: fmt.Sprintf(`  ffconvert check %[1]s %[2]s
  ffconvert check %[1]s --deep --strict %[2]s
  ffconvert check %[1]s --format sarif %[2]s > check.sarif`, f.Name, checkedExamples[f.Name]),
		Args: cliflag.WantArgs,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	reader := f.Reader()
	opts.add(flags, f, reader.Set)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if _, err := opts.convert.Load(cmd.Context()); err != nil {
			return err
		}
		c := conversion{purpose: cliflag.Checking, opts: opts.convert, stdout: cmd.OutOrStdout()}
		c.Reader, c.Sources = reader, args
		c.opts.Workers = opts.workers
		return runCheck(cmd.Context(), opts, c)
	}
	return cmd
}

// checkedExamples are the sources in the examples of the check commands.
var checkedExamples = map[string]string{
	"tar":      "'shards-<000..009>.tar'",
	"folder":   "imagenet/train",
	"csv":      "data/",
	"cbor":     "'x-{00..07}.cbors'",
	"jsonl":    "'c4-{00000..01023}.json.gz'",
	"parquet":  "'data/train-*.parquet'",
	"arrow":    "saved/train",
	"tfrecord": "'train-*-of-01024'",
	"ofrecord": "data/",
	"mds":      "mds/train",
	"ffr":      "out/",
}

// add registers the flags of a check: its own, the options of the format, and the flags of the
// conversion that decide which inputs are refused.
func (o *checkOptions) add(flags *pflag.FlagSet, f sourceFormat, set *option.Set) {
	o.documents.add(flags)
	flags.BoolVar(&o.deep, "deep", false, "read every sample; decode images, and the fields that --decode would")
	flags.BoolVar(&o.strict, "strict", false, "exit with status 3 for warnings, too")

	own := pflag.NewFlagSet(f.Name, pflag.ContinueOnError)
	own.SortFlags = false
	cliflag.AddOptions(own, set)
	own.VisitAll(func(flag *pflag.Flag) {
		if flag.Name == "format" { // taken by the report's format
			renamed := *flag
			renamed.Name = cliflag.InputFormatFlag
			flag = &renamed
		}
		flags.AddFlag(flag)
	})
	conversion := pflag.NewFlagSet("convert", pflag.ContinueOnError)
	o.convert.Add(conversion)
	o.convert.AddCache(conversion)
	o.convert.AddDecompression(conversion)
	pick := func(names ...string) {
		for _, name := range names {
			flags.AddFlag(conversion.Lookup(name))
		}
	}
	pick("encode", "fields", "rename", "decode", "tensor", "resize", "missing", "max-pixels")
	flags.Lookup("max-pixels").Usage = "largest image that --deep and --tensor decode, pixels of all its frames"
	o.workers = runtime.GOMAXPROCS(0)
	cliflag.Jobs(flags, &o.workers, "parts looked at, at once: 32, or this if more; fewer, down to 8, where few files may be open; with --deep this; 1024 at most, by default the CPUs that this process may use")
	pick("progress", "max-decode-size", "max-decode-depth", "max-names")
	pick("cache-size", "cache-dir")
	flags.Lookup("cache-dir").Usage = "where fetched and decompressed inputs are kept (default WDS_CACHE, or a temporary directory, removed at the end)"
	if !f.Directories {
		pick("max-ratio", "max-window")
	}
	o.convert.Place.AddSources(flags, !f.Directories)
}

// waivers are flags that make a source accept input that it refuses by default. A check sets them, so
// that one finding does not hide the next; rule is the rule of that finding.
var waivers = []struct{ flag, value, rule string }{
	{"allow-missing-trailer", "true", check.MissingTrailer},
	{"concatenated", "true", check.Concatenated},
	{"on-duplicate-key", "keep", check.DuplicateKey},
}

func runCheck(ctx context.Context, opts checkOptions, c conversion) (err error) {
	if err := opts.documents.create(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opts.documents.close()) }()
	progress := terminal.NewReporter(c.opts.Progress, os.Stderr)
	defer progress.Stop()
	c.Options = c.opts.Ready(ctx, tool(), progress)
	if err := cliflag.CheckEncoding(c.Encode); err != nil {
		return err
	}
	how := check.Options{Encode: c.Encode, Progress: progress, Deep: opts.deep, MaxPixels: c.Encode.Limits.MaxPixels, Workers: opts.workers}
	if !opts.deep {
		how.Workers = convert.Indexers(opts.workers)
	}
	for _, w := range waivers {
		o := c.Reader.Set.Lookup(w.flag)
		switch {
		case o == nil:
		case o.String() == w.value:
			how.Accepted = append(how.Accepted, w.rule)
		default:
			if err := o.Set(w.value); err != nil {
				return err
			}
		}
	}
	if c.Reader.Set.Text("group") == "false" {
		how.Hints = map[string]string{check.DuplicateKey: "--group makes one sample of files that share a key, --on-duplicate-key keep several"}
	}

	report, err := check.Named(ctx, check.Inputs{Names: c.Sources, Format: c.Reader, Stage: c.Input, Explain: c.explain, Warn: progress.Warn}, how)
	progress.Stop()
	if err != nil {
		return c.hint(err)
	}
	cliflag.HintFindings(report, c.purpose, c.Reader)
	if c.Reader.Directories {
		report.Unit = "part" // a directory, usually of one class
	}
	report.Tool, report.Version = "ffconvert check", version
	report.Facts = append(report.Facts, findings.Fact{Name: "source", Value: c.Reader.Name}, findings.Fact{Name: "deep", Value: opts.deep})
	return printFindings(c.stdout, report, opts)
}

// A refusal is the error of a check with findings.
type refusal struct {
	text   string
	status int
}

func (r *refusal) Error() string { return r.text }
func (r *refusal) Status() int   { return r.status }

// printFindings writes all documents of a report, and returns the error that decides the exit status.
func printFindings(w io.Writer, r *findings.Report, opts checkOptions) error {
	for i := range r.Found {
		r.Found[i].Hint = terminal.Flags(r.Found[i].Hint)
	}
	for i := range r.Rules {
		r.Rules[i].Help = terminal.Flags(r.Rules[i].Help)
	}
	err := opts.documents.write(w, func(to io.Writer, format string) error {
		if format != findings.Text || to != w {
			return findings.Write(to, format, r)
		}
		var text strings.Builder
		err := findings.Write(&text, format, r)
		if err == nil {
			_, err = io.WriteString(to, terminal.PaintOf(opts.convert.Progress.Color, to).Levels(text.String()))
		}
		return err
	})
	if err != nil {
		return err
	}
	failed, warned := r.Count(findings.Error), r.Count(findings.Warning)
	unread := int64(0)
	for _, f := range r.Found {
		if f.Rule == check.Unreadable {
			unread++
		}
	}
	switch {
	case failed > 0 && failed == unread:
		return &refusal{"check: found " + terminal.Counted(failed, "error") + " of reading", exitIO}
	case failed > 0:
		return &refusal{"check: found " + terminal.Counted(failed, "error"), exitRefused}
	case opts.strict && warned > 0:
		return &refusal{"check: found " + terminal.Counted(warned, "warning") + ", which --strict refuses", exitRefused}
	}
	return nil
}
