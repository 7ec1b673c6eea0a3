package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard"
	"github.com/ffconvert/ffconvert/verify"
)

type verifyOptions struct {
	backend     aio.Backend
	depth       int
	workers     int
	blockSize   sizeValue
	allowLegacy bool
	format      choiceValue
	progress    choiceValue
}

func newVerifyCommand() *cobra.Command {
	opts := verifyOptions{
		format:    formatValue(),
		progress:  progressValue(),
		blockSize: 1 << 20,
	}
	cmd := &cobra.Command{
		Use:   "verify OUT|FILE...",
		Short: "Re-read shards from the device and check every CRC",
		Long: `Re-read FFRecord shards from the device, past the page cache, and check the header and
every sample of each. A directory with a manifest is compared with it too: missing, extra,
swapped and resized shards. All problems are listed, not the first alone.

` + exitStatus,
		Example: `  ffconvert verify out/
  ffconvert verify --format json out/ | jq .problems
  ffconvert verify a.ffr b.ffr`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runVerify(cmd.Context(), opts, args, cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.Var(&opts.format, "format", "output: text or json")
	flags.Var(&opts.backend, "backend", "how to read: auto, aio or pread")
	flags.IntVar(&opts.depth, "queue-depth", verify.DefaultDepth, "reads in flight, all shards together")
	flags.Var(&opts.blockSize, "block-size", "bytes of one read, a multiple of 4096")
	flags.IntVarP(&opts.workers, "jobs", "j", 0, "shards read at once (default the CPUs, 4 at the most)")
	flags.BoolVar(&opts.allowLegacy, "allow-legacy", false, "accept headers without a checksum, as old writers left them")
	flags.Var(&opts.progress, "progress", "progress on standard error: auto, bar, plain, json or none")
	return cmd
}

func formatValue() choiceValue {
	return choiceValue{value: "text", choices: []string{"text", "json"}}
}

func runVerify(ctx context.Context, opts verifyOptions, args []string, stdout io.Writer) error {
	progress := newReporter(opts.progress.value, os.Stderr)
	defer progress.stop()
	progress.Start("verify", sizeOfShards(args))
	how := verify.Options{
		AIO:      aio.Options{Backend: opts.backend, Depth: opts.depth, BlockSize: int(opts.blockSize)},
		Workers:  opts.workers,
		Record:   record.Options{AllowLegacy: opts.allowLegacy},
		Progress: progress.Add,
	}
	report, err := verifyAll(ctx, args, how)
	progress.stop()
	if err != nil {
		return err
	}
	if opts.format.value == "json" {
		err = printReportJSON(stdout, report)
	} else {
		err = printReport(stdout, report)
	}
	if err != nil {
		return err
	}
	return report.Err()
}

// verifyAll verifies directories and files. A directory's shards are compared with its
// manifest where it has one; so is a single file with the manifest beside it.
func verifyAll(ctx context.Context, args []string, how verify.Options) (*verify.Report, error) {
	var total *verify.Report
	var files []verify.Target
	for _, arg := range args {
		st, err := os.Stat(arg)
		if err != nil {
			return nil, err
		}
		if !st.IsDir() {
			want, err := expectedOf(arg)
			if err != nil {
				return nil, err
			}
			files = append(files, verify.Target{Path: arg, Want: want})
			continue
		}
		report, err := verifyDataset(ctx, arg, how)
		if err != nil {
			return nil, err
		}
		total = total.Merge(report)
	}
	if len(files) == 0 {
		return total, nil
	}
	report, err := verify.Files(ctx, files, how)
	return total.Merge(report), err
}

func verifyDataset(ctx context.Context, dir string, how verify.Options) (*verify.Report, error) {
	m, err := shard.ReadManifest(dir)
	switch {
	case err == nil:
		return verify.Dataset(ctx, dir, m.Expect(), how)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(dir, shard.WorkDir)); err == nil {
		return nil, fmt.Errorf("%s: %w: the conversion was not finished, there is no %s; run it again", dir, verify.ErrCorrupt, shard.ManifestName)
	}
	names, err := verify.Shards(dir)
	if err == nil && len(names) == 0 {
		err = fmt.Errorf("%s holds no shards (*%s)", dir, record.Ext)
	}
	if err != nil {
		return nil, err
	}
	return verify.Dataset(ctx, dir, nil, how)
}

// expectedOf returns what the manifest beside a file says of it, nil where there is none.
func expectedOf(path string) (*verify.Expect, error) {
	m, err := shard.ReadManifest(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, e := range m.Expect() {
		if e.Name == filepath.Base(path) {
			return &e, nil
		}
	}
	return nil, nil
}

// sizeOfShards adds up the sizes of what is going to be read, as well as it can.
func sizeOfShards(args []string) int64 {
	total := int64(0)
	add := func(path string) {
		if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() {
			total += st.Size()
		}
	}
	for _, arg := range args {
		add(arg)
		names, _ := verify.Shards(arg)
		for _, name := range names {
			add(filepath.Join(arg, name))
		}
	}
	return total
}

func printReport(w io.Writer, r *verify.Report) error {
	for _, p := range r.Problems {
		if _, err := fmt.Fprintln(w, p); err != nil {
			return err
		}
	}
	verdict := "sound"
	if n := int64(len(r.Problems)) + r.More; n > 0 {
		verdict = counted(n, "problem")
	}
	manifest := "compared with the manifest"
	if !r.CrossChecked {
		manifest = "no manifest to compare with"
	}
	from := "from the device"
	if r.PageCache {
		from = "from the page cache, O_DIRECT was refused"
	}
	if r.Fallback != "" {
		from += "; no AIO: " + r.Fallback
	}
	_, err := fmt.Fprintf(w, "%s: %s, %s, %s; %s; %.2f s, %.0f MB/s by %s, queue depth %d, %s\n", verdict,
		counted(int64(r.Shards), "shard"), counted(r.Samples, "sample"), humanize.Bytes(uint64(r.Bytes)), manifest,
		r.Seconds, r.MBPerSecond(), r.Backend, r.QueueDepth, from)
	return err
}

func printReportJSON(w io.Writer, r *verify.Report) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(struct {
		Sound bool `json:"sound"`
		*verify.Report
		MBPerSecond float64 `json:"mb_per_second"`
	}{r.Err() == nil, r, r.MBPerSecond()})
}
