package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/signature"
	"github.com/ffconvert/ffconvert/internal/findings"
	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/internal/text"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/verify"
)

type verifyOptions struct {
	cliflag.Place
	aio      aio.Options
	workers  int
	record   *record.Options
	proof    proof
	format   option.Choice
	reports  []string
	progress terminal.Progress
}

func newVerifyCommand() *cobra.Command {
	opts := verifyOptions{
		Place:  cliflag.NewPlace(),
		format: option.Choice{Value: "text", Words: findings.Formats()},
		aio:    aio.Options{Depth: verify.DefaultDepth, BlockSize: 1 << 20},
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
			if err := opts.proof.load(cmd.Flags()); err != nil {
				return err
			}
			return runVerify(cmd.Context(), opts, args, cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.Var(&opts.format, "format", "output: text, json, junit, sarif, github or markdown")
	addReport(flags, &opts.reports)
	cliflag.AIO(flags, &opts.aio)
	cliflag.Jobs(flags, &opts.workers, "shards read at once, 1024 at most (default half the CPUs, 4 at the most; where SHA-256 are compared all, 16 at the most)")
	opts.record = cliflag.RecordLimits(flags)
	flags.BoolVar(&opts.record.AllowLegacy, "allow-legacy", false, "accept headers without a checksum, as old writers left them")
	opts.proof.add(flags)
	opts.progress.Add(flags)
	opts.AddPlace(flags, false)
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
	progress := terminal.NewReporter(opts.progress, os.Stderr)
	defer progress.Stop()
	work := newVerification(ctx, args, &opts.proof, opts.Options(nil))
	defer work.close()
	if len(work.refused) > 0 && opts.format.Value == findings.Text && len(reports) == 0 {
		return work.refused[0] // a report would repeat it
	}
	progress.Start("verify", work.bytes())
	report, err := work.run(ctx, verify.Options{
		AIO:      opts.aio,
		Workers:  opts.workers,
		Record:   *opts.record,
		Progress: progress.Add,
	})
	progress.Stop()
	if err != nil {
		return err
	}
	all := verified{*report, work.repairs}
	all.Problems = append(work.problems, report.Problems...)
	for i := range all.Problems {
		if p := &all.Problems[i]; p.Text == record.ErrLegacy.Error() {
			p.Text += cliflag.Legacy
		}
	}
	document := func(to io.Writer, format string) error {
		switch format {
		case findings.Text:
			return all.print(to, terminal.PaintOf(opts.progress.Color, to))
		case findings.JSON:
			return all.printJSON(to)
		}
		return findings.Write(to, format, all.findings())
	}
	err = errors.Join(document(stdout, opts.format.Value), reports.write(document))
	err = errors.Join(append([]error{err}, append(work.refused, terminal.Plain(work.hint(report.Err(), report.Count())))...)...)
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

// A proof is what verify compares beyond the checksums, and of which shards: the flags that ask for it.
type proof struct {
	keyName string
	key     *signature.PublicKey // of keyName: the manifest must be signed by it; nil: signatures are not looked at
	sha256  bool                 // of every file that is read; implied by the others
	sample  sampleValue          // the shards that are read
}

func (p *proof) add(flags *pflag.FlagSet) {
	flags.Var(cliflag.Name(&p.keyName), "key", "public key of minisign, or its file: the manifest must be signed by it, and the SHA-256 of all files be those of the manifest")
	flags.BoolVar(&p.sha256, "sha256", false, "compare the SHA-256 of all files with the manifest, signed or not")
	flags.Var(&p.sample, "sample", "read a share of the shards, drawn at random, or so many of them: 1%, 20 (default all)")
	flags.Uint64Var(&p.sample.Seed, "seed", 0, "what --sample draws from, to read the same shards again (default random)")
	for _, name := range []string{"key", "sample", "seed"} {
		cliflag.MarkProof(flags, name)
	}
}

// load reads the key, and draws the seed if none is set.
func (p *proof) load(flags *pflag.FlagSet) (err error) {
	if !flags.Changed("seed") {
		p.sample.Seed = uint64(rand.Uint32())
	}
	if p.keyName != "" {
		p.key, err = signature.ReadPublicKey(p.keyName)
	}
	return err
}

// some reports whether a manifest with sums is needed.
func (p *proof) some() bool { return p.key != nil || p.sha256 || p.sample.text != "" }

// manifest reads the manifest of a dataset that arg names, nil if there is none. If a signature is wanted it is read only
// after its bytes, the same, were found to be signed.
func (p *proof) manifest(d *dataset.Dataset, arg string) (*dataset.Manifest, error) {
	if p.key == nil {
		m, err := d.Manifest()
		if err == nil && m != nil && p.some() && m.Root.IsZero() {
			err = fmt.Errorf("%s: %w (ffconvert finish --verify %s adds them)", arg, dataset.ErrNoSums, text.ShellWord(arg))
		}
		return m, err
	}
	data, signed, err := dataset.ReadSigned(d.Path(""))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := p.key.Check(data, signed); err != nil {
		if errors.Is(err, signature.ErrUnsigned) {
			return nil, fmt.Errorf("%s: %w: there is no %s", arg, err, dataset.SignatureName)
		}
		return nil, fmt.Errorf("%s: %w", d.At(dataset.SignatureName), err)
	}
	m, err := dataset.ParseManifest(d.At(dataset.ManifestName), data)
	if err == nil && m.Root.IsZero() {
		err = fmt.Errorf("%s: %w, and so they are not signed (ffconvert sign reads all files, and adds them)", arg, dataset.ErrNoSums)
	}
	return m, err
}

// of describes for the report how a dataset was compared with its SHA-256; nil: it was not.
func (p *proof) of(m *dataset.Manifest, read int) *verify.Proof {
	if !p.some() {
		return nil
	}
	is := &verify.Proof{SHA256: true, Root: m.Root.String(), Read: read, Of: len(m.Shards)}
	if p.key != nil {
		is.SignedBy = p.key.ID()
	}
	if p.sample.text != "" {
		is.Seed = &p.sample.Seed
	}
	return is
}

// A sampleValue is the value of --sample.
type sampleValue struct {
	text string // "": all shards are read
	dataset.Sample
}

func (v *sampleValue) String() string { return v.text }
func (v *sampleValue) Type() string   { return "number|percent" }

func (v *sampleValue) Set(text string) error {
	number, share := strings.CutSuffix(text, "%")
	n, err := strconv.Atoi(text)
	percent := 0.0
	if share {
		n = 0
		percent, err = strconv.ParseFloat(number, 64)
	}
	switch {
	case err != nil, share && (!(percent > 0 && percent <= 100) || strings.ContainsAny(number, "xXpP_")), !share && n < 1:
		return errors.New("want a share above 0%, as in 1%, 100% at most, or a number of shards")
	}
	v.text, v.Percent, v.Shards = text, percent, n
	return nil
}
