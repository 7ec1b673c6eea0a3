package main

import (
	"github.com/spf13/cobra"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/look"
	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/record"
)

func newInspectCommand() *cobra.Command {
	in := look.Inspector{Datasets: look.Datasets{Place: cliflag.NewPlace()}, Format: formatValue(), Keys: 5}
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
			return in.Run(cmd.Context(), args[0], cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.Var(&in.Format, "format", "output: text or json")
	flags.Var(option.AtLeast(&in.Keys, 0), "keys", "number of first keys to show")
	flags.BoolVar(&in.Deep, "deep", false, "read every sample to count the fields")
	flags.BoolVar(&in.Sums, "sha256", false, "print the SHA-256 of all files, for sha256sum -c in OUT")
	in.Lookup.Record.AllowLegacy = true
	cliflag.MaxSamples(flags, &in.Lookup.Record)
	flags.Var(option.MaxSize(&in.Lookup.Record.MaxSample, record.DefaultMaxSample), "max-sample-size", "largest sample that is read for its key and fields; it is held in memory whole")
	in.AddPlace(flags, false)
	return cmd
}
