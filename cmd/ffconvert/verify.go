package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/help"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/progress"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/convert/format"
	"github.com/ffconvert/ffconvert/convert/option"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/findings"
	"github.com/ffconvert/ffconvert/input"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard/plan"
	"github.com/ffconvert/ffconvert/verify"
)

type verifyOptions struct {
	backend     aio.Backend
	depth       int
	workers     int
	blockSize   blockSize
	limits      *record.Options
	allowLegacy bool
	format      option.Choice
	progress    progress.Flag
}

func newVerifyCommand() *cobra.Command {
	opts := verifyOptions{
		format:    option.Choice{Value: "text", Words: findings.Formats()},
		progress:  progress.NewFlag(),
		depth:     verify.DefaultDepth,
		blockSize: blockSize{1 << 20},
	}
	cmd := &cobra.Command{
		Use:   "verify OUT|FILE...",
		Short: "Re-read shards and check every CRC",
		Long: `Re-read FFRecord shards, past the page cache, and check the header and every sample of
each. The report says whether they came from the device, or how their file system is called
where that cannot be proven. A directory with a manifest is compared with it too: missing,
extra, swapped and resized shards, and damaged indexes. So are the plan and the journal of the
conversion, which a repair needs. All problems are listed, not the first alone.

` + exitStatus,
		Example: `  ffconvert verify out/
  ffconvert verify --format json out/ | jq .problems
  ffconvert verify --format sarif out/ > verify.sarif
  ffconvert verify a.ffr b.ffr`,
		Args: help.WantArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runVerify(cmd.Context(), opts, args, cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.Var(&opts.format, "format", "output: text, json, junit or sarif")
	flags.Var(&opts.backend, "backend", "how to read: auto, aio or pread")
	flags.Var(queueDepth(&opts.depth), "queue-depth", "reads in flight, all shards together")
	flags.Var(&opts.blockSize, "block-size", "bytes of one read, a multiple of 4096, 64MiB at most")
	jobsFlag(flags, &opts.workers, "shards read at once, 1024 at most (default half the CPUs, 4 at the most)")
	flags.BoolVar(&opts.allowLegacy, "allow-legacy", false, "accept headers without a checksum, as old writers left them")
	opts.limits = recordLimits(flags)
	flags.Var(&opts.progress, "progress", progress.Usage)
	return cmd
}

func formatValue() option.Choice {
	return option.Choice{Value: "text", Words: []string{"text", "json"}}
}

func runVerify(ctx context.Context, opts verifyOptions, args []string, stdout io.Writer) error {
	progress := progress.New(opts.progress, os.Stderr)
	defer progress.Stop()
	work := lookAt(args)
	if len(work.refused) > 0 && opts.format.Value == string(findings.Text) {
		return terminal.Plain(work.refused[0].err) // a report would repeat it
	}
	progress.Start("verify", work.bytes())
	report, err := work.verify(ctx, verify.Options{
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
	all.Problems = append(work.problems(), report.Problems...)
	for i := range all.Problems {
		if p := &all.Problems[i]; p.Text == record.ErrLegacy.Error() {
			p.Text += hintLegacy
		}
	}
	switch findings.Format(opts.format.Value) {
	case findings.Text:
		err = printReport(stdout, &all, work.repairs(), terminal.PaintOf(opts.progress.Color, stdout))
	case findings.JSON:
		err = printReportJSON(stdout, &all, work.repairs())
	default:
		err = findings.Write(stdout, findings.Format(opts.format.Value), findingsOf(&all, work.repairs()))
	}
	errs := []error{err}
	for _, r := range work.refused {
		errs = append(errs, terminal.Plain(r.err))
	}
	err = errors.Join(append(errs, terminal.Plain(work.hint(raise(told(report), "--max-samples"))))...)
	if err == nil {
		progress.SayDone(verifyDone{true, strings.Join(args, " "), report.Shards, report.Samples, report.Bytes, report.Seconds, report.CrossChecked, report.From})
	}
	return err
}

// A verifyDone is the done event. The report is on standard output.
type verifyDone struct {
	Done         bool       `json:"done"`
	Out          string     `json:"out"` // the arguments, separated by spaces
	Shards       int        `json:"shards"`
	Samples      int64      `json:"samples"`
	Bytes        int64      `json:"bytes"`
	Seconds      float64    `json:"seconds"`
	CrossChecked bool       `json:"cross_checked"` // compared with a manifest
	From         aio.Origin `json:"read_from"`
}

// told returns the error of a printed report, with the number of problems as its text.
func told(r *verify.Report) error {
	err := r.Err()
	if err == nil {
		return nil
	}
	text := terminal.Counted(int64(len(r.Problems))+r.More, "problem")
	if errors.Is(err, verify.ErrCorrupt) {
		text = fmt.Sprintf("%v: %s", verify.ErrCorrupt, text)
	}
	return terminal.WithText(err, text)
}

// problems returns a problem for each argument that was refused.
func (w *verifyWork) problems() []verify.Problem {
	problems := []verify.Problem{}
	for _, r := range w.refused {
		p := verify.NewProblem(r.arg, r.arg, r.kind(), r.err)
		p.Text = terminal.ErrorText(r.err)
		problems = append(problems, p)
	}
	return problems
}

// kind returns the rule that an argument broke.
func (r *refusedArg) kind() verify.Kind {
	switch {
	case errors.Is(r.err, input.ErrNotFound):
		return verify.Missing
	case errors.Is(r.err, dataset.ErrManifest), errors.Is(r.err, dataset.ErrManifestVersion):
		return dataset.BadManifest
	case errors.Is(r.err, plan.ErrDamaged):
		return dataset.BadPlan
	case errors.Is(r.err, verify.ErrCorrupt):
		return ruleUnfinished
	case errors.Is(r.err, errNoShards), errors.Is(r.err, format.ErrAnotherKind):
		return ruleNoShards
	}
	return verify.Unreadable
}

// hint adds to an error how to repair a damaged dataset, if a repair is possible.
func (w *verifyWork) hint(err error) error {
	if !errors.Is(err, verify.ErrCorrupt) {
		return err
	}
	for _, r := range w.repairs() {
		if r.Possible {
			return fmt.Errorf("%w (ffconvert repair %s writes damaged files anew)", err, r.Out)
		}
	}
	return err
}

// verifyWork holds the directories and files to verify.
type verifyWork struct {
	dirs    []verifyDir
	files   []verify.Target
	refused []refusedArg
}

// A verifyDir is a directory of shards.
type verifyDir struct {
	path     string
	names    []string // shards in it
	manifest *dataset.Manifest
	repair   *dataset.Repairable // set by verify; nil if the directory has no manifest
}

// A refusedArg is an argument that is not verified: it cannot be read, or is not a dataset.
type refusedArg struct {
	arg string
	err error
}

// lookAt finds the shards of the arguments. A directory, or a single shard, is compared with the
// manifest in its directory, if there is one.
func lookAt(args []string) *verifyWork {
	w := &verifyWork{}
	for _, arg := range args {
		if err := w.add(arg); err != nil {
			w.refused = append(w.refused, refusedArg{arg, err})
		}
	}
	return w
}

func (w *verifyWork) add(arg string) error {
	if err := convert.LocalPath(arg); err != nil {
		return err
	}
	st, err := os.Stat(arg)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: %w", arg, input.ErrNotFound)
	case errors.Is(err, syscall.ENOTDIR):
		return dataset.CheckPath(arg)
	}
	if err != nil {
		return err
	}
	if st.IsDir() {
		dir, err := verifyDirOf(arg)
		if err == nil {
			w.dirs = append(w.dirs, dir)
		}
		return err
	}
	want, err := expectedOf(arg)
	if err == nil && want == nil {
		err = otherFile(arg)
	}
	if err == nil {
		w.files = append(w.files, verify.Target{Path: arg, Want: want})
	}
	return err
}

// otherFile returns an error if a file is certainly of another kind than a shard.
func otherFile(path string) error {
	r, err := record.Open(path, record.Options{AllowLegacy: true})
	if err == nil {
		return r.Close()
	}
	if err = notShards(path, err); errors.Is(err, format.ErrAnotherKind) {
		return err
	}
	return nil
}

var errNoShards = place.New(place.Refused, "holds no shards (*"+record.Ext+")")

func verifyDirOf(dir string) (verifyDir, error) {
	d := verifyDir{path: dir}
	var err error
	d.manifest, err = dataset.ReadManifest(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return d, err
	}
	if d.manifest == nil {
		switch _, err := os.Stat(filepath.Join(dir, dataset.WorkDir)); {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return d, err
		case err == nil:
			if _, err := dataset.ReadStatus(dir); errors.Is(err, plan.ErrDamaged) {
				return d, err
			}
			return d, fmt.Errorf("%s: %w: the conversion was not finished, there is no %s; run it again, or ffconvert repair", dir, verify.ErrCorrupt, dataset.ManifestName)
		}
	}
	d.names, err = verify.Shards(dir)
	if err == nil && d.manifest == nil && len(d.names) == 0 {
		err = fmt.Errorf("%s: %w", dir, errNoShards)
	}
	return d, err
}

// verify verifies the directories one after another, then all the files.
func (w *verifyWork) verify(ctx context.Context, how verify.Options) (*verify.Report, error) {
	var total *verify.Report
	for i := range w.dirs {
		report, err := w.dirs[i].verify(ctx, how)
		if err != nil {
			return nil, err
		}
		total = total.Merge(report)
	}
	if len(w.files) > 0 {
		report, err := verify.Files(ctx, w.files, how)
		if err != nil {
			return nil, err
		}
		total = total.Merge(report)
	}
	if total == nil {
		total = &verify.Report{}
	}
	return total, nil
}

func (d *verifyDir) verify(ctx context.Context, how verify.Options) (*verify.Report, error) {
	if d.manifest == nil {
		return verify.Dataset(ctx, d.path, nil, how)
	}
	report, err := verify.Dataset(ctx, d.path, d.manifest.Expect(), how)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(d.path)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	how.Progress = nil // progress counts shards only
	problems, from, err := verify.Sums(ctx, root, d.manifest.Sums(), how)
	if err != nil {
		return nil, err
	}
	d.repair, err = dataset.CheckKept(d.path, d.manifest)
	if err != nil {
		return nil, err
	}
	report.Problems = append(append(report.Problems, problems...), d.repair.Problems...)
	report.From = report.From.And(from)
	return report, nil
}

// repairs returns for each directory with a manifest whether it can be repaired.
func (w *verifyWork) repairs() []*dataset.Repairable {
	var all []*dataset.Repairable
	for _, d := range w.dirs {
		if d.repair != nil {
			all = append(all, d.repair)
		}
	}
	return all
}

// expectedOf returns the entry of a file in the manifest beside it; nil if there is none.
func expectedOf(path string) (*verify.Expect, error) {
	m, err := dataset.ReadManifest(filepath.Dir(path))
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

// bytes returns the size of all shards. Files that cannot be examined count as empty.
func (w *verifyWork) bytes() int64 {
	total := int64(0)
	add := func(path string) {
		if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() {
			total += st.Size()
		}
	}
	for _, d := range w.dirs {
		for _, name := range d.names {
			add(filepath.Join(d.path, name))
		}
	}
	for _, f := range w.files {
		add(f.Path)
	}
	return total
}
