package main

import (
	"context"
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
	"github.com/ffconvert/ffconvert/record"
)

type inspectOptions struct {
	inspect.Options
	format option.Choice
	limits *record.Options
}

func newInspectCommand() *cobra.Command {
	opts := inspectOptions{format: formatValue()}
	cmd := &cobra.Command{
		Use:   "inspect OUT|FILE",
		Short: "Say what a dataset or a shard holds",
		Long: `Say what a dataset or a single shard holds: counts, the distribution of record sizes, the
encoding, the fields with counts and sizes, classes or columns, and the first keys, where records hold them.

Fields are counted in up to 1,000 samples, evenly spread, of 256 MiB in all; it says in how
many. --deep reads all samples. Headers are checked, and what is read; verify checks all.

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
	return cmd
}

func runInspect(ctx context.Context, opts inspectOptions, path string, stdout io.Writer) error {
	if err := convert.LocalPath(path); err != nil {
		return err
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
