package main

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/help"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/hint"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/inspect"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/convert/option"
	"github.com/ffconvert/ffconvert/dataset/lookup"
	"github.com/ffconvert/ffconvert/record"
)

type inspectOptions struct {
	inspect.Options
	*views
	format option.Choice
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

` + exitStatus,
		Example: `  ffconvert inspect out/
  ffconvert inspect --deep out/
  ffconvert inspect --keys 100 out/PART_00000.ffr`,
		Args: help.WantArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runInspect(cmd.Context(), opts, args[0], cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.Var(&opts.format, "format", "output: text or json")
	opts.Keys = 5
	flags.Var(option.AtLeast(&opts.Keys, 0), "keys", "number of first keys to show")
	flags.BoolVar(&opts.Deep, "deep", false, "read every sample to count the fields")
	opts.limits = cliflag.RecordLimits(flags)
	cliflag.Size(flags, &opts.MaxSample, "max-sample-size", record.DefaultMaxSample, "largest sample that is read for its key and fields; it is held in memory whole")
	opts.AddPlace(flags)
	return cmd
}

func runInspect(ctx context.Context, opts inspectOptions, path string, stdout io.Writer) error {
	if convert.IsURL(path) {
		return opts.end(inspectRemote(ctx, opts, path, stdout))
	}
	r, err := record.Open(path, record.Options{AllowLegacy: true, MaxSamples: opts.limits.MaxSamples, MaxSample: math.MaxInt64})
	if err != nil {
		return hint.Limit(hint.NotShards(path, err), "--max-samples, --max-sample-size")
	}
	defer r.Close()
	opts.MaxSamples = opts.limits.MaxSamples
	x, err := inspect.Read(ctx, path, r, opts.Options)
	if err != nil {
		return hint.Limit(err, "--max-samples, --max-sample-size")
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
	x, err := inspect.Outline(url, out.Path(""), m)
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
