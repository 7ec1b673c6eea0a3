package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/look"
	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/record"
)

func newBenchCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "bench",
		Short:   "Measure how fast shards are read",
		Long:    "Measure how fast shards are read from the storage that they lie on.\n\n" + exitStatus,
		Example: "  ffconvert bench read out/",
		Args:    cliflag.WantCommand,
		RunE:    cliflag.NeedCommand,
	}
	cmd.AddCommand(newBenchReadCommand())
	return cmd
}

// maxBatch bounds the memory of a batch, which is held whole.
const maxBatch = 65536

func newBenchReadCommand() *cobra.Command {
	bench := look.Bench{Batch: 128, Duration: 10 * time.Second, Jobs: 2, Format: formatValue()}
	bench.Record.AIO = aio.Options{Depth: record.BatchDepth, BlockSize: record.BatchBlockSize}
	cmd := &cobra.Command{
		Use:   "read OUT|FILE|URL",
		Short: "Read random batches of samples, as a training job does",
		Long: `Read batches of samples in random order, each sample once before any comes again, every
checksum compared. Samples and bytes a second, and how long a batch took. What the page cache has
comes from there, the rest past it; with --aio backend=aio all comes past it. A sample that is damaged or cannot be read ends the run.
Of a dataset the shards that its manifest names are read; the report says how many of its samples and shards.
A dataset in an object store is read through the cache of --cache-dir, as loaders read it.

` + exitStatus,
		Example: `  ffconvert bench read out/
  ffconvert bench read out/ --batch 32 --jobs 8 --duration 1m
  ffconvert bench read s3://bucket/data --cache-dir /nvme/cache
  ffconvert bench read out/ --batches 1000 --format json | jq .bytes_per_second`,
		Args: cliflag.WantArgs,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if bench.Cached.Dir, err = cacheDir(bench.Cached.Dir); err != nil {
				return err
			}
			return cliflag.Hint(bench.Run(cmd.Context(), args[0], cmd.OutOrStdout()), "", args[0])
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.Var(option.Between(&bench.Batch, 1, maxBatch), "batch", "samples of a batch, 65536 at most")
	flags.Var(option.AtLeast(&bench.Batches, 1), "batches", "read so many batches, however long it takes")
	flags.Lookup("batches").DefValue = ""
	flags.Var(cliflag.PeriodAbove(&bench.Duration), "duration", "begin no batch after so long")
	cliflag.Jobs(flags, &bench.Jobs, "batches read at once, 1024 at most")
	cliflag.AIO(flags, &bench.Record.AIO)
	flags.Uint64Var(&bench.Seed, "seed", 0, "of the random order; the same gives the same order")
	flags.BoolVar(&bench.Record.AllowLegacy, "allow-legacy", false, "accept headers without a checksum, as old writers left them")
	flags.Var(&bench.Format, "format", "output: text or json")
	addCacheDir(flags, &bench.Cached.Dir)
	bench.Cached.Add(flags)
	return cmd
}
