package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/audit"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/help"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/hint"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/progress"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/convert/option"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/signature"
	"github.com/ffconvert/ffconvert/internal/findings"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/verify"
)

type verifyOptions struct {
	cliflag.Place
	backend     aio.Backend
	depth       int
	workers     int
	blockSize   cliflag.BlockSize
	limits      *record.Options
	proof       proofOptions
	allowLegacy bool
	format      option.Choice
	reports     []string
	progress    progress.Flag
}

func newVerifyCommand() *cobra.Command {
	opts := verifyOptions{
		Place:     cliflag.NewPlace(),
		format:    option.Choice{Value: "text", Words: findings.Formats()},
		progress:  progress.NewFlag(),
		depth:     verify.DefaultDepth,
		blockSize: cliflag.BlockSize{Size: 1 << 20},
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
		Args: help.WantArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := opts.proof.check(cmd.Flags()); err != nil {
				return err
			}
			return runVerify(cmd.Context(), opts, args, cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.Var(&opts.format, "format", "output: text, json, junit, sarif, github or markdown")
	addReport(flags, &opts.reports)
	flags.Var(&opts.backend, "backend", "how to read: auto, aio or pread")
	flags.Var(cliflag.QueueDepth(&opts.depth), "queue-depth", "reads in flight, all shards together")
	flags.Var(&opts.blockSize, "block-size", "bytes of one read, a multiple of 4096, 64MiB at most")
	cliflag.Jobs(flags, &opts.workers, "shards read at once, 1024 at most (default half the CPUs, 4 at the most; where SHA-256 are compared all, 16 at the most)")
	flags.BoolVar(&opts.allowLegacy, "allow-legacy", false, "accept headers without a checksum, as old writers left them")
	opts.limits = cliflag.RecordLimits(flags)
	opts.proof.add(flags)
	flags.Var(&opts.progress, "progress", progress.Usage)
	opts.AddPlace(flags)
	return cmd
}

func formatValue() option.Choice {
	return option.Choice{Value: "text", Words: []string{"text", "json"}}
}

func runVerify(ctx context.Context, opts verifyOptions, args []string, stdout io.Writer) (err error) {
	reports, err := createReports(opts.reports)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reports.close()) }()
	progress := progress.New(opts.progress, os.Stderr)
	defer progress.Stop()
	want, err := opts.proof.want()
	if err != nil {
		return err
	}
	work := audit.Look(ctx, args, want, opts.Options(nil))
	defer work.Close()
	if refused := work.Refused(); len(refused) > 0 && opts.format.Value == string(findings.Text) && len(reports) == 0 {
		return terminal.Plain(refused[0]) // a report would repeat it
	}
	progress.Start("verify", work.Bytes())
	report, err := work.Verify(ctx, verify.Options{
		AIO:      aio.Options{Backend: opts.backend, Depth: opts.depth, BlockSize: int(opts.blockSize.Size)},
		Workers:  opts.workers,
		Record:   record.Options{AllowLegacy: opts.allowLegacy, MaxSamples: opts.limits.MaxSamples},
		Progress: progress.Add,
	})
	progress.Stop()
	if err != nil {
		return err
	}
	all := *report
	all.Problems = append(work.Problems(), report.Problems...)
	for i := range all.Problems {
		if p := &all.Problems[i]; p.Text == record.ErrLegacy.Error() {
			p.Text += hint.Legacy
		}
	}
	document := func(to io.Writer, format findings.Format) error {
		switch format {
		case findings.Text:
			return audit.Print(to, &all, work.Repairs(), terminal.PaintOf(opts.progress.Color, to))
		case findings.JSON:
			return audit.PrintJSON(to, &all, work.Repairs())
		}
		return findings.Write(to, format, audit.Findings(&all, work.Repairs(), version))
	}
	err = errors.Join(document(stdout, findings.Format(opts.format.Value)), reports.write(document))
	errs := []error{err}
	for _, refused := range work.Refused() {
		errs = append(errs, terminal.Plain(refused))
	}
	err = errors.Join(append(errs, terminal.Plain(work.Hint(hint.Limit(audit.Err(report), "--max samples"))))...)
	if err == nil {
		progress.SayDone(verifyDone{true, strings.Join(args, " "), report.Shards, report.Samples, report.Bytes, report.Seconds, report.CrossChecked, report.From, report.Proof})
	}
	return err
}

// A verifyDone is the done event. The report is on standard output.
type verifyDone struct {
	Done         bool          `json:"done"`
	Out          string        `json:"out"` // the arguments, separated by spaces
	Shards       int           `json:"shards"`
	Samples      int64         `json:"samples"`
	Bytes        int64         `json:"bytes"`
	Seconds      float64       `json:"seconds"`
	CrossChecked bool          `json:"cross_checked"` // compared with a manifest
	From         aio.Origin    `json:"read_from"`
	Proof        *verify.Proof `json:"proof,omitempty"` // with --key, --sha256 or --sample: which shards were compared with what
}

// proofOptions are the flags of verify that ask for more than checksums.
type proofOptions struct {
	key    cliflag.Name
	sha256 bool
	sample sampleValue
	seed   uint64
	seeded bool
}

func (o *proofOptions) add(flags *pflag.FlagSet) {
	flags.Var(&o.key, "key", "public key of minisign, or its file: the manifest must be signed by it, and the SHA-256 of all files be those of the manifest")
	flags.BoolVar(&o.sha256, "sha256", false, "compare the SHA-256 of all files with the manifest, signed or not")
	flags.Var(&o.sample, "sample", "read a share of the shards, drawn at random, or so many of them: 1%, 20 (default all)")
	flags.Uint64Var(&o.seed, "seed", 0, "what --sample draws from, to read the same shards again (default random)")
	for _, name := range []string{"key", "sample", "seed"} {
		help.MarkProof(flags, name)
	}
}

func (o *proofOptions) check(flags *pflag.FlagSet) error {
	if o.seeded = flags.Changed("seed"); o.seeded && o.sample.text == "" {
		return fmt.Errorf("--seed %d: nothing is drawn without --sample", o.seed)
	}
	return nil
}

// want returns what is compared. It reads the key.
func (o *proofOptions) want() (audit.Want, error) {
	want := audit.Want{SHA256: o.sha256}
	if o.sample.text != "" {
		want.Sample = &dataset.Sample{Percent: o.sample.percent, Shards: o.sample.shards, Seed: o.seed}
		if !o.seeded {
			want.Sample.Seed = uint64(rand.Uint32())
		}
	}
	if o.key == "" {
		return want, nil
	}
	key, err := signature.ReadPublicKey(string(o.key))
	want.Key = key
	return want, err
}

// A sampleValue is the value of --sample.
type sampleValue struct {
	text    string
	percent float64 // 0: shards is set
	shards  int
}

func (v *sampleValue) String() string { return v.text }
func (v *sampleValue) Type() string   { return "number|percent" }

func (v *sampleValue) Set(text string) error {
	if number, ok := strings.CutSuffix(text, "%"); ok {
		percent, err := strconv.ParseFloat(number, 64)
		if err != nil || !(percent > 0 && percent <= 100) || strings.ContainsAny(number, "xXpP_") {
			return errSample
		}
		*v = sampleValue{text: text, percent: percent}
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return errSample
	}
	*v = sampleValue{text: text, shards: n}
	return nil
}

var errSample = errors.New("want a share above 0%, as in 1%, 100% at most, or a number of shards")
