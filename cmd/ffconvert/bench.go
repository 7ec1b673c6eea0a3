package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard/plan"
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

type benchReadOptions struct {
	benchOptions
	record record.Options
	format option.Choice
}

// maxBatch bounds the memory of a batch, which is held whole.
const maxBatch = 65536

func newBenchReadCommand() *cobra.Command {
	opts := benchReadOptions{benchOptions: benchOptions{Batch: 128, Jobs: 2}, format: formatValue()}
	opts.record.AIO = aio.Options{Depth: record.BatchDepth, BlockSize: record.BatchBlockSize}
	cmd := &cobra.Command{
		Use:   "read OUT|FILE",
		Short: "Read random batches of samples, as a training job does",
		Long: `Read batches of samples in random order, each sample once before any comes again, every
checksum compared. Samples and bytes a second, and how long a batch took. What the page cache has
comes from there, the rest past it; with --aio backend=aio all comes past it. A sample that is damaged or cannot be read ends the run.
Of a dataset the shards that its manifest names are read; the report says how many of its samples and shards.

` + exitStatus,
		Example: `  ffconvert bench read out/
  ffconvert bench read out/ --batch 32 --jobs 8 --duration 1m
  ffconvert bench read out/ --batches 1000 --format json | jq .bytes_per_second`,
		Args: cliflag.WantArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runBenchRead(cmd.Context(), opts, args[0], cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.Var(option.Between(&opts.Batch, 1, maxBatch), "batch", "samples of a batch, 65536 at most")
	flags.Var(option.AtLeast(&opts.Batches, 1), "batches", "read so many batches, however long it takes")
	flags.Lookup("batches").DefValue = ""
	opts.Duration = 10 * time.Second
	flags.Var(cliflag.PeriodAbove(&opts.Duration), "duration", "begin no batch after so long")
	cliflag.Jobs(flags, &opts.Jobs, "batches read at once, 1024 at most")
	cliflag.AIO(flags, &opts.record.AIO)
	flags.Uint64Var(&opts.Seed, "seed", 0, "of the random order; the same gives the same order")
	flags.BoolVar(&opts.record.AllowLegacy, "allow-legacy", false, "accept headers without a checksum, as old writers left them")
	flags.Var(&opts.format, "format", "output: text or json")
	return cmd
}

func runBenchRead(ctx context.Context, opts benchReadOptions, path string, stdout io.Writer) error {
	if err := convert.LocalPath(path); err != nil {
		return err
	}
	paths, of, err := shardsOf(path)
	if err != nil {
		return err
	}
	var r *record.Reader
	if opts.Of = of; paths != nil {
		r, err = record.OpenFiles(paths, opts.record)
	} else {
		r, err = record.Open(path, opts.record)
	}
	if errors.Is(err, record.ErrLegacy) {
		return terminal.Plain(fmt.Errorf("%w%s", err, cliflag.Legacy))
	}
	if err != nil {
		return terminal.Plain(cliflag.NotShards(path, err))
	}
	defer r.Close()
	if r.Len() == 0 {
		return terminal.Plain(fmt.Errorf("%s: %w to read", path, plan.ErrEmpty))
	}
	report, err := newBenchRun(opts.benchOptions, r).Run(ctx)
	if bad := (*record.FormatError)(nil); err != nil && (ctx.Err() != nil || !errors.As(err, &bad)) {
		return err // no sample was found to be bad: there is nothing to report
	}
	if opts.format.Value == "json" {
		return errors.Join(terminal.NewJSONEncoder(stdout).Encode(report), err)
	}
	return errors.Join(report.Print(stdout), err)
}

// shardsOf returns the shards of a dataset's directory, by its manifest; nil: there is none, or path is a file. of is what the
// dataset has, also where path is one shard of it. A dataset that is not finished, or lacks a shard that its manifest names, is an
// error.
func shardsOf(path string) (paths []string, of benchSize, err error) {
	dir, name := path, ""
	if st, err := os.Stat(path); err == nil && !st.IsDir() {
		dir, name = filepath.Dir(path), filepath.Base(path)
	}
	m, err := dataset.ReadShards(dir)
	if errors.Is(err, fs.ErrNotExist) && name == "" {
		if _, err := os.Lstat(filepath.Join(path, dataset.WorkDir)); err != nil {
			return nil, of, nil // shards of others
		}
		return nil, of, &place.Error{Where: path, Off: -1, Err: dataset.ErrUnfinished, Kind: place.Unfinished}
	}
	if err != nil {
		return nil, of, nil // of a damaged manifest verify tells
	}
	ours := false
	for i := range m.Shards {
		s := &m.Shards[i]
		of.Shards++
		of.Samples += s.Samples
		ours = ours || s.Name == name
		paths = append(paths, filepath.Join(dir, s.Name))
	}
	switch {
	case ours:
		return nil, of, nil
	case name != "":
		return nil, benchSize{}, nil
	}
	for _, path := range paths {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return nil, of, &place.Error{Where: path, Off: -1, Err: dataset.ErrMissing, Hint: "ffconvert repair " + dir}
		}
	}
	return paths, of, nil
}
