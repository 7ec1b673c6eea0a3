package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/summary"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/lookup"
	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/internal/text"
	"github.com/ffconvert/ffconvert/record"
)

type inspectOptions struct {
	summary.ContentLimits
	*views
	format option.Choice
	sums   bool
	limits *record.Options
}

func newInspectCommand() *cobra.Command {
	opts := inspectOptions{views: newViews(), format: formatValue()}
	cmd := &cobra.Command{
		Use:   "inspect OUT|FILE",
		Short: "Say what a dataset or a shard holds",
		Long: `Say what a dataset or a single shard holds: counts, the distribution of record sizes, the
encoding, the fields with counts and sizes, classes or columns, and the first keys, where records hold them.

Fields are counted in up to 1,000 samples, evenly spread, of 256 MiB in all; it says in how
many. --deep reads all samples. Headers are checked, and what is read; verify checks all.
Of an OUT in an object store the manifest and an index are read, and no shard.

--sha256 prints the SHA-256 of all files of a dataset, as its manifest says, in the form of
sha256sum; the SHA-256 of this text is the root in the manifest. Nothing else is read.

` + exitStatus,
		Example: `  ffconvert inspect out/
  ffconvert inspect --deep out/
  ffconvert inspect --sha256 out/ | (cd out/ && sha256sum -c --quiet)
  ffconvert inspect --keys 100 out/PART_00000.ffr`,
		Args: cliflag.WantArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runInspect(cmd.Context(), opts, args[0], cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.Var(&opts.format, "format", "output: text or json")
	opts.Keys = 5
	flags.Var(option.AtLeast(&opts.Keys, 0), "keys", "number of first keys to show")
	flags.BoolVar(&opts.Deep, "deep", false, "read every sample to count the fields")
	flags.BoolVar(&opts.sums, "sha256", false, "print the SHA-256 of all files, for sha256sum -c in OUT")
	opts.limits = cliflag.RecordLimits(flags)
	flags.Var(option.MaxSize(&opts.MaxSample, record.DefaultMaxSample), "max-sample-size", "largest sample that is read for its key and fields; it is held in memory whole")
	opts.AddPlace(flags, false)
	return cmd
}

func runInspect(ctx context.Context, opts inspectOptions, path string, stdout io.Writer) error {
	if convert.IsURL(path) {
		return opts.end(inspectRemote(ctx, opts, path, stdout))
	}
	if opts.sums {
		if err := dataset.CheckPath(path); err != nil {
			return err
		}
		m, err := dataset.ReadManifest(path)
		if err != nil {
			return cliflag.NotShards(path, err)
		}
		return printSums(path, m, stdout)
	}
	r, err := record.Open(path, record.Options{AllowLegacy: true, MaxSamples: opts.limits.MaxSamples, MaxSample: math.MaxInt64})
	if err != nil {
		return cliflag.OverLimit(cliflag.NotShards(path, err), "--max samples, --max sample-size")
	}
	defer r.Close()
	opts.MaxSamples = opts.limits.MaxSamples
	x, err := summary.Content(ctx, path, r, opts.ContentLimits)
	if err != nil {
		return cliflag.OverLimit(err, "--max samples, --max sample-size")
	}
	if opts.format.Value == "json" {
		return terminal.WriteJSON(stdout, x)
	}
	return x.Print(stdout)
}

// inspectRemote inspects a dataset in an object store, of which it reads the manifest, meta.json and an index.
func inspectRemote(ctx context.Context, opts inspectOptions, url string, stdout io.Writer) error {
	if opts.Deep {
		return fmt.Errorf("%s: --deep reads every sample; bring the dataset here first: ffconvert copy", url)
	}
	out, m, err := opts.view(ctx, url)
	if err != nil {
		return err
	}
	if opts.sums {
		return printSums(url, m, stdout)
	}
	x, err := summary.Outline(url, out.Path(""), m)
	if err != nil {
		return err
	}
	d, err := lookup.Open(out.Path(""), lookup.Options{Open: out.OpenPath})
	if err != nil {
		return err
	}
	for i := range min(int64(opts.Keys), d.Len()) {
		row, err := d.Row(i, true)
		if err != nil {
			return explainLookup(err)
		}
		if row.Key != "" {
			x.Keys = append(x.Keys, row.Key)
		}
	}
	if opts.format.Value == "json" {
		return terminal.WriteJSON(stdout, x)
	}
	return x.Print(stdout)
}

// printSums prints the SHA-256 of the files of a dataset.
func printSums(dir string, m *dataset.Manifest, stdout io.Writer) error {
	w := bufio.NewWriter(stdout)
	if err := m.WriteSums(w); err != nil {
		return fmt.Errorf("%s: %w (ffconvert finish --verify %s adds them)", dir, err, text.ShellWord(dir))
	}
	return w.Flush()
}
