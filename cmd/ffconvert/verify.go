package main

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/look"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/verify"
)

type verifyOptions struct {
	look.Verifier
	documents documents
	progress  terminal.Progress
}

func newVerifyCommand() *cobra.Command {
	opts := verifyOptions{
		Verifier: look.Verifier{Place: cliflag.NewPlace(), Options: verify.Options{AIO: aio.Options{Depth: verify.DefaultDepth, BlockSize: 1 << 20}}},
	}
	cmd := &cobra.Command{
		Use:   "verify OUT|FILE...",
		Short: "Re-read shards and check every CRC",
		Long: `Re-read FFRecord shards, past the page cache, and check the header and every sample of
each. The report says whether they came from the device, or how their file system is called
where that cannot be proven. A directory with a manifest is compared with it too: missing,
extra, swapped and resized shards, and damaged indexes. So are the plan and the journal of the
conversion, which a repair needs. All problems are listed, not the first alone. A dataset that
is not finished is status 2; ffconvert status says how far it is.

--key compares with what the holder of a key of minisign has signed: the manifest, and by it
the SHA-256 of every file. Checksums find faults, a signature finds what somebody changed.
--sample reads some shards, drawn at random, and says which part that is.

` + exitStatus,
		Example: `  ffconvert verify out/
  ffconvert verify --format json out/ | jq .problems
  ffconvert verify --format sarif out/ > verify.sarif
  ffconvert verify --report sarif=verify.sarif --report junit=verify.xml out/
  ffconvert verify --key minisign.pub out/
  ffconvert verify --key minisign.pub --sample 1% out/
  ffconvert verify a.ffr b.ffr`,
		Args: cliflag.WantArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("seed") {
				opts.Sample.Seed = uint64(rand.Uint32())
			}
			return runVerify(cmd.Context(), opts, args, cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	opts.documents.add(flags)
	cliflag.AIO(flags, &opts.Verifier.Options.AIO)
	cliflag.Jobs(flags, &opts.Verifier.Options.Workers, "shards read at once, 1024 at most (default half the CPUs, 4 at the most; where SHA-256 are compared all, 16 at the most)")
	flags.BoolVar(&opts.Verifier.Options.Record.AllowLegacy, "allow-legacy", false, "accept headers without a checksum, as old writers left them")
	cliflag.MaxSamples(flags, &opts.Verifier.Options.Record)
	flags.Var(cliflag.Name(&opts.Key), "key", "public key of minisign, or its file: the manifest must be signed by it, and the SHA-256 of all files be those of the manifest")
	flags.BoolVar(&opts.SHA256, "sha256", false, "compare the SHA-256 of all files with the manifest, signed or not")
	flags.Var(&opts.Sample, "sample", "read a share of the shards, drawn at random, or so many of them: 1%, 20 (default all)")
	flags.Uint64Var(&opts.Sample.Seed, "seed", 0, "what --sample draws from, to read the same shards again (default random)")
	for _, name := range []string{"key", "sample", "seed"} {
		cliflag.MarkProof(flags, name)
	}
	opts.progress.Add(flags)
	opts.AddPlace(flags, false)
	return cmd
}

func formatValue() option.Choice {
	return option.Choice{Value: "text", Words: []string{"text", "json"}}
}

func runVerify(ctx context.Context, opts verifyOptions, args []string, stdout io.Writer) (err error) {
	if err := opts.Load(); err != nil {
		return err
	}
	if err := opts.documents.create(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opts.documents.close()) }()
	opts.Progress = terminal.NewReporter(opts.progress, os.Stderr)
	defer opts.Progress.Stop()
	opts.Strict = opts.documents.textOnly()
	report, err := opts.Run(ctx, args)
	if err != nil {
		return err
	}
	err = errors.Join(opts.documents.write(stdout, func(to io.Writer, format string) error {
		return report.Write(to, format, version, terminal.PaintOf(opts.progress.Color, to))
	}), report.Failure)
	if err == nil {
		opts.Progress.Say(verifyDone{strings.Join(args, " "), report.Shards, report.Samples, report.Bytes, report.Seconds, report.CrossChecked, report.From, report.Proof})
	}
	return err
}

// A verifyDone is the done event. The report is on standard output.
type verifyDone struct {
	Out          string        `json:"out"` // the arguments, separated by spaces
	Shards       int           `json:"shards"`
	Samples      int64         `json:"samples"`
	Bytes        int64         `json:"bytes"`
	Seconds      float64       `json:"seconds"`
	CrossChecked bool          `json:"cross_checked"` // compared with a manifest
	From         aio.Origin    `json:"read_from"`
	Proof        *verify.Proof `json:"proof,omitempty"` // with --key, --sha256 or --sample: which shards were compared with what
}
