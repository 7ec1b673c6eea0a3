package look

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/dustin/go-humanize"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/convert/format"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/signature"
	"github.com/ffconvert/ffconvert/internal/findings"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/text"
	"github.com/ffconvert/ffconvert/shard/plan"
	"github.com/ffconvert/ffconvert/verify"
)

// Rules of verify that concern a whole argument, not a shard.
const (
	ruleUnfinished verify.Kind = "unfinished"
	ruleNoShards   verify.Kind = "no-shards"
	ruleSignature  verify.Kind = "signature"
	ruleUnsigned   verify.Kind = "unsigned"
)

// ruleOfArgument returns the rule that the error of an argument broke.
func ruleOfArgument(err error) verify.Kind {
	switch {
	case errors.Is(err, input.ErrNotFound):
		return verify.Missing
	case errors.Is(err, signature.ErrWrong):
		return ruleSignature
	case errors.Is(err, signature.ErrUnsigned), errors.Is(err, dataset.ErrNoSums):
		return ruleUnsigned
	case errors.Is(err, dataset.ErrManifest), errors.Is(err, dataset.ErrManifestVersion):
		return dataset.BadManifest
	case errors.Is(err, plan.ErrDamaged):
		return dataset.BadPlan
	case errors.Is(err, verify.ErrCorrupt):
		return ruleUnfinished
	case errors.Is(err, cliflag.ErrNoShards), errors.Is(err, format.ErrAnotherKind):
		return ruleNoShards
	}
	return verify.Unreadable
}

// verifyRules are the rules of verify, one for each kind of problem.
func verifyRules() (rules []findings.Rule) {
	const again = "Write it anew from its source with ffconvert repair, or fetch it again from where it is sound."
	for _, row := range []struct {
		kind        verify.Kind
		short, help string
	}{
		{verify.Missing, "A shard or another file of the dataset is not there, or what was named is not", again},
		{verify.Extra, "A file that readers take for a shard is no part of the dataset", "Remove it, or move it to another directory."},
		{verify.Resized, "A file has another size than the dataset's", again},
		{verify.Swapped, "A shard is sound, but it is another shard of the dataset", "Give the shards their names back."},
		{verify.Changed, "A file is sound by itself, but it is not the dataset's", again},
		{verify.Header, "The header of a shard is damaged, cut, or not finished", again},
		{verify.Checksum, "The bytes of a sample differ from its checksum", again},
		{verify.Unreadable, "The file could not be read: nothing is known of its bytes", "Look after the device, the path and the permissions; then verify again."},
		{verify.Limit, "A shard has more samples than are allowed; it may be sound", "Allow more with --max samples, if you trust where the shard is from."},
		{ruleUnfinished, "The conversion into this directory was not finished", "Run the same command again: it goes on where it stopped; if it was planned for tasks, ffconvert run and finish."},
		{dataset.BadManifest, "The manifest of the dataset is damaged, or contradicts its plan", "Let ffconvert repair write it anew, or fetch it again from where it is sound."},
		{dataset.BadPlan, "The plan or the journal, which a repair needs, is damaged", "Run the command of the conversion again: it writes the plan anew and keeps the shards. ffconvert repair mends the journal."},
		{ruleSignature, "The signature is not one of the manifest by the wanted key", "Do not use the dataset. Fetch it again, and the public key from whom you trust."},
		{ruleUnsigned, "The dataset has no signature, or its manifest has no SHA-256", "Let the maker of the dataset sign it with ffconvert sign."},
		{ruleNoShards, "The directory holds no shards, or the file is none", "Name the directory that the conversion wrote."},
	} {
		rules = append(rules, findings.Rule{ID: string(row.kind), Level: findings.Error, Short: row.short, Help: row.help})
	}
	return rules
}

// Verified is the report of a verification.
type Verified struct {
	verify.Report
	Failure error                 // the problems, with the flag or the command that helps; nil: there is none
	repairs []*dataset.Repairable // of each directory with a manifest
}

// Write writes the report in a format of package findings. version is that of the program; paint colours text.
func (r *Verified) Write(w io.Writer, format, version string, paint terminal.Paint) error {
	switch format {
	case findings.Text:
		return r.print(w, paint)
	case findings.JSON:
		return r.printJSON(w)
	}
	return findings.Write(w, format, r.findings(version))
}

// findings converts the report for the formats of package findings.
func (r *Verified) findings(version string) *findings.Report {
	f := &findings.Report{Tool: "ffconvert verify", Version: version, Rules: verifyRules(), Seconds: r.Seconds, Facts: r.facts()}
	if r.Proof != nil {
		verdict, shards := r.verdict()
		f.Verdict, f.Scope = verdict, shards+" compared with the manifest"+proofText(r.Proof)
	}
	for i := range r.Results {
		res := &r.Results[i]
		f.Files = append(f.Files, findings.File{Name: res.Path, Samples: res.Summary.Samples, Bytes: res.Bytes})
	}
	for _, p := range r.Problems {
		found := findings.Finding{Rule: string(p.Kind), Place: findings.Place{File: p.Path, Offset: p.Offset}, Text: p.Text}
		if p.Sample >= 0 {
			found.Entry = fmt.Sprintf("sample %d", p.Sample)
		}
		if p.Transient {
			found.Hint = "transient: sound when read again; suspect the device or the memory"
		}
		f.Add(found)
	}
	for range r.More { // Add counts findings beyond the number that it keeps
		f.Add(findings.Finding{Rule: string(verify.Checksum)})
	}
	return f
}

// facts returns how the shards were read, under the names that the JSON report has, and whether a repair is possible.
func (r *Verified) facts() (facts []findings.Fact) {
	fact := func(name string, value any) { facts = append(facts, findings.Fact{Name: name, Value: value}) }
	if r.Shards > 0 {
		fact("backend", r.Backend)
		fact("queue_depth", r.QueueDepth)
		fact("read_from", string(r.From))
		fact("cross_checked", r.CrossChecked)
		fact("mb_per_second", math.Round(r.MBPerSecond()))
		if r.Fallback != "" {
			fact("fallback", r.Fallback)
		}
		if p := r.Proof; p != nil {
			fact("sha256", p.SHA256)
			fact("shards_of", p.Of)
			if p.SignedBy != "" {
				fact("signed_by", p.SignedBy)
			}
			if p.Seed != nil {
				fact("seed", fmt.Sprint(*p.Seed))
			}
		}
	}
	if len(r.repairs) > 0 {
		fact("repair_possible", !slices.ContainsFunc(r.repairs, func(r *dataset.Repairable) bool { return !r.Possible }))
	}
	return facts
}

// print writes the report as text.
func (r *Verified) print(w io.Writer, paint terminal.Paint) error {
	for _, p := range r.Problems {
		if _, err := fmt.Fprintln(w, paint.Head(text.Line(p.String()), paint.Bad)); err != nil {
			return err
		}
	}
	sound, shards := r.verdict()
	verdict := paint.Good(sound + ":")
	if n := r.Count(); n > 0 {
		verdict = paint.Bad(terminal.Counted(n, "problem") + ":")
	}
	if r.Backend == "" {
		_, err := fmt.Fprintln(w, verdict, "no shard was read")
		return err
	}
	manifest := "compared with the manifest" + proofText(r.Proof)
	if !r.CrossChecked {
		manifest = "no manifest to compare with"
	}
	from := ""
	if r.From != "" {
		from = ", " + r.From.String()
	}
	if r.Fallback != "" {
		from += "; no AIO: " + r.Fallback
	}
	if r.Refetched > 0 {
		from += fmt.Sprintf("; %s fetched again, not sound the first time", terminal.Counted(int64(r.Refetched), "file"))
	}
	_, err := fmt.Fprintf(w, "%s %s, %s, %s; %s; %.2f s, %s by %s, queue depth %d%s\n", verdict,
		shards, terminal.Counted(r.Samples, "sample"), humanize.Bytes(uint64(r.Bytes)), manifest,
		r.Seconds, terminal.RateText(1e6*r.MBPerSecond()), r.Backend, r.QueueDepth, from)
	for _, repair := range r.repairs {
		possible := map[bool]string{true: "yes", false: "no"}[repair.Possible]
		if repair.Reason != "" {
			possible += ", " + repair.Reason
		}
		if err == nil {
			_, err = fmt.Fprintln(w, text.Line(repair.Out+": repair possible: "+possible))
		}
	}
	return err
}

// verdict returns the verdict on shards without problems, and how many were read.
func (r *Verified) verdict() (verdict, shards string) {
	p := r.Proof
	if p == nil || p.Seed == nil || p.Read >= p.Of { // p.Read < p.Of without a seed: shards are missing, each of which is a problem
		return "sound", terminal.Counted(int64(r.Shards), "shard")
	}
	return "sound as far as read", fmt.Sprintf("%d of %s (--seed %d reads them again)", p.Read, terminal.Counted(int64(p.Of), "shard"), *p.Seed)
}

// proofText returns the words of the report about the signature and the SHA-256.
func proofText(p *verify.Proof) string {
	switch {
	case p == nil || !p.SHA256:
		return ""
	case p.SignedBy != "":
		return " and its SHA-256, signed by the key " + p.SignedBy
	}
	return " and its SHA-256, signature not checked"
}

// printJSON writes the report as JSON.
func (r *Verified) printJSON(w io.Writer) error {
	return terminal.WriteJSON(w, struct {
		Sound bool `json:"sound"`
		*verify.Report
		MBPerSecond float64               `json:"mb_per_second"`
		Repair      []*dataset.Repairable `json:"repair"`
	}{r.Err() == nil, &r.Report, r.MBPerSecond(), append([]*dataset.Repairable{}, r.repairs...)})
}
