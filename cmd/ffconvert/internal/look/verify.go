package look

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/convert/format"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/bucket"
	"github.com/ffconvert/ffconvert/dataset/signature"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/text"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard/plan"
	"github.com/ffconvert/ffconvert/verify"
)

// A Verifier verifies datasets and shards.
type Verifier struct {
	cliflag.Place // how object stores are reached
	Options       verify.Options
	Progress      *terminal.Reporter
	Key           string      // a public key, or its file: the manifest must be signed by it; "": no signature is read
	SHA256        bool        // compare the SHA-256 of every file that is read; Key implies it, and Sample where the manifest has them
	Sample        sampleValue // the shards that are read

	// Strict: Run returns the error of the first argument that cannot be read or is no dataset, and verifies nothing. Else the
	// report has it as a problem.
	Strict bool

	key      *signature.PublicKey // of Key
	datasets []verifiedDataset
	files    []verify.Target
	refused  []error          // of arguments that cannot be read, or are no dataset
	problems []verify.Problem // one for each of refused
	repairs  []*dataset.Repairable
}

// A verifiedDataset is a dataset, or a directory of shards without a manifest.
type verifiedDataset struct {
	*dataset.Dataset
	shards   []string
	manifest *dataset.Manifest // nil: there is none
	read     map[string]bool   // the shards to read; nil: all
}

// Load reads Key, before Run.
func (v *Verifier) Load() (err error) {
	if v.Key != "" {
		v.key, err = signature.ReadPublicKey(v.Key)
	}
	return err
}

// Run verifies the shards that the arguments name. A directory, or a single shard, is compared with the
// manifest in its directory, if there is one. A URL is a dataset in an object store.
func (v *Verifier) Run(ctx context.Context, args []string) (*Verified, error) {
	v.problems = []verify.Problem{}
	defer func() { // removes the scratch directories of those in object stores
		for _, d := range v.datasets {
			d.Close()
		}
	}()
	for _, arg := range args {
		err := v.add(ctx, arg)
		if convert.IsURL(arg) && perhapsReply(err) && ctx.Err() == nil {
			err = v.add(ctx, arg)
		}
		if err != nil {
			p := verify.NewProblem(arg, arg, ruleOfArgument(err), err)
			p.Text = strings.TrimPrefix(terminal.ErrorText(err), arg+": ") // the report prints arg first
			v.problems, v.refused = append(v.problems, p), append(v.refused, terminal.Plain(err))
		}
	}
	if len(v.refused) > 0 && v.Strict {
		return nil, v.refused[0]
	}
	v.Progress.Start("verify", v.bytes())
	v.Options.Progress = v.Progress.Add
	report, err := v.run(ctx)
	v.Progress.Stop()
	if err != nil {
		return nil, err
	}
	all := &Verified{*report, errors.Join(append(v.refused, terminal.Plain(v.hint(report.Err(), report.Count())))...), v.repairs}
	all.Problems = append(v.problems, report.Problems...)
	for i := range all.Problems {
		if p := &all.Problems[i]; p.Text == record.ErrLegacy.Error() {
			p.Text += cliflag.Legacy
		}
	}
	return all, nil
}

func (v *Verifier) add(ctx context.Context, arg string) error {
	if convert.IsURL(arg) {
		if err := noShard(arg, "verified"); err != nil {
			return err
		}
		d, err := bucket.View(ctx, arg, v.Place.Options(nil))
		if err != nil {
			return cliflag.Hint(err, "verify", arg)
		}
		return v.addDataset(d, arg)
	}
	st, err := os.Stat(arg)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: %w", arg, input.ErrNotFound)
	case errors.Is(err, syscall.ENOTDIR):
		return dataset.CheckPath(arg)
	case err != nil:
		return err
	case st.IsDir():
		d, err := dataset.View(arg)
		if err != nil {
			return err
		}
		return v.addDataset(d, arg)
	case v.proves():
		return fmt.Errorf("%s: --key, --sha256 and --sample are for the directory of a dataset", arg)
	}
	m, err := dataset.ReadManifest(filepath.Dir(arg))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	want := m.ExpectOf(filepath.Base(arg))
	if want == nil { // it may be a file of another kind
		r, err := record.Open(arg, record.Options{AllowLegacy: true})
		if err == nil {
			err = r.Close()
		} else if err = cliflag.NotShards(arg, err); !errors.Is(err, format.ErrAnotherKind) {
			err = nil
		}
		if err != nil {
			return err
		}
	}
	v.files = append(v.files, verify.Target{Path: arg, Want: want})
	return nil
}

// addDataset adds a dataset that arg names, or closes it.
func (v *Verifier) addDataset(d *dataset.Dataset, arg string) error {
	m, err := v.manifest(d, arg)
	if err == nil && m == nil {
		err = v.unfinished(d, arg)
	}
	var shards []string
	if err == nil {
		shards, err = d.Shards()
	}
	if err == nil && m == nil && len(shards) == 0 {
		err = fmt.Errorf("%s: %w", arg, cliflag.ErrNoShards)
	}
	if err != nil {
		d.Close()
		return err
	}
	one := verifiedDataset{d, shards, m, nil}
	if m != nil && v.Sample.text != "" {
		one.read = v.Sample.Choose(m)
	}
	v.datasets = append(v.datasets, one)
	return nil
}

// unfinished refuses a dataset without a manifest if a conversion or a copy was begun there, or if a manifest is needed.
func (v *Verifier) unfinished(d *dataset.Dataset, arg string) error {
	begun, err := false, error(nil)
	if d.InBucket() {
		begun, err = d.Begun()
	} else {
		var work fs.FileInfo
		work, err = d.Lookup(dataset.WorkDir)
		begun = work != nil
	}
	switch {
	case err != nil:
		return err
	case !begun && v.proves():
		return fmt.Errorf("%s: %w: there is no %s", arg, dataset.ErrNoSums, dataset.ManifestName)
	case !begun:
		return nil
	}
	if !d.InBucket() {
		if _, err := d.Status(); errors.Is(err, plan.ErrDamaged) {
			return err
		}
	}
	if copied, _ := d.Lookup(dataset.CopyName); copied != nil {
		return fmt.Errorf("%s: %w: the copy was not finished, there is no %s; run ffconvert copy again", arg, verify.ErrCorrupt, dataset.ManifestName)
	}
	return fmt.Errorf("%s: %w: %v", arg, verify.ErrCorrupt, dataset.ErrUnfinished)
}

// bytes returns the size of all shards that are read. Files that cannot be examined count as empty.
func (v *Verifier) bytes() int64 {
	total := int64(0)
	add := func(path string) {
		if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() {
			total += st.Size()
		}
	}
	for _, d := range v.datasets {
		switch {
		case !d.InBucket():
			for _, name := range d.shards {
				if d.read == nil || d.read[name] {
					add(d.Path(name))
				}
			}
		case d.manifest != nil:
			for _, s := range d.manifest.Shards {
				if d.read == nil || d.read[s.Name] {
					total += s.Bytes
				}
			}
		}
	}
	for _, f := range v.files {
		add(f.Path)
	}
	return total
}

// run verifies the datasets one after another, then all the files.
func (v *Verifier) run(ctx context.Context) (total *verify.Report, err error) {
	for _, d := range v.datasets {
		report, err := v.verify(ctx, d)
		if err != nil {
			return nil, err
		}
		total = total.Merge(report)
	}
	if len(v.files) > 0 {
		report, err := verify.Files(ctx, v.files, v.Options)
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

func (v *Verifier) verify(ctx context.Context, d verifiedDataset) (*verify.Report, error) {
	how := v.Options
	how.SHA256 = d.manifest != nil && v.proves() && d.manifest.Root != ""
	if d.read != nil {
		how.Only = func(shard string) bool { return d.read[shard] }
	}
	if d.InBucket() {
		how.Workers = max(how.Workers, 2) // one is fetched while another is read
	}
	report, repair, err := d.Verify(ctx, d.manifest, how)
	if err != nil || d.manifest == nil {
		return report, err
	}
	repair.Reason = cmp.Or(repair.Reason, mustName(d.manifest.Source.Format, repair.Named))
	v.repairs = append(v.repairs, repair)
	report.Proof = v.proof(d.manifest, report.Shards)
	if v.key != nil {
		err = d.unsigned(report)
	}
	return report, err
}

// mustName returns what the user must name for a repair, with the reason; "": nothing.
func mustName(made string, named []string) string {
	switch f, known := format.Named(made); {
	case made != convert.SpecFormat && !known:
		return fmt.Sprintf("the program %q made it, so name that", made)
	case len(named) == 0 && f.Directories, slices.Contains(named, "-"), slices.Contains(named, "@-"):
		return "not all sources have names, as standard input has none, so name them"
	}
	for _, name := range named {
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) && !strings.Contains(name, "://") && !strings.ContainsAny(name, "*?[{<@\ufffd") {
			return name + " is not here, so name the sources"
		}
	}
	return ""
}

// hint replaces the text of err, the error of a printed report, by the number of problems and the flag or the command that helps.
func (v *Verifier) hint(err error, problems int64) error {
	if err == nil {
		return nil
	}
	corrupt := errors.Is(err, verify.ErrCorrupt)
	counted := terminal.Counted(problems, "problem")
	if corrupt {
		counted = fmt.Sprintf("%v: %s", verify.ErrCorrupt, counted)
	}
	err = cliflag.OverLimit(terminal.WithText(err, counted), "--max samples")
	for _, r := range v.repairs {
		if corrupt && r.Possible {
			return fmt.Errorf("%w (ffconvert repair %s writes damaged files anew)", err, text.ShellWord(r.Out))
		}
	}
	return err
}
