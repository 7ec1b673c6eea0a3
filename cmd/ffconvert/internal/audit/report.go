package audit

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/dustin/go-humanize"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/findings"
	"github.com/ffconvert/ffconvert/internal/text"
	"github.com/ffconvert/ffconvert/verify"
)

// Rules of verify that concern a whole argument, not a shard.
const (
	ruleUnfinished verify.Kind = "unfinished"
	ruleNoShards   verify.Kind = "no-shards"
	ruleSignature  verify.Kind = "signature"
	ruleUnsigned   verify.Kind = "unsigned"
)

// Rules are the rules of verify, one for each kind of problem.
func Rules() []findings.Rule {
	const again = "Write it anew from its source with ffconvert repair, or fetch it again from where it is sound."
	kind := func(k verify.Kind, short, help string) findings.Rule {
		return findings.Rule{ID: string(k), Level: findings.Error, Short: short, Help: help}
	}
	return []findings.Rule{
		kind(verify.Missing, "A shard or another file of the dataset is not there, or what was named is not", again),
		kind(verify.Extra, "A file that readers take for a shard is no part of the dataset", "Remove it, or move it to another directory."),
		kind(verify.Resized, "A file has another size than the dataset's", again),
		kind(verify.Swapped, "A shard is sound, but it is another shard of the dataset", "Give the shards their names back."),
		kind(verify.Changed, "A file is sound by itself, but it is not the dataset's", again),
		kind(verify.Header, "The header of a shard is damaged, cut, or not finished", again),
		kind(verify.Checksum, "The bytes of a sample differ from its checksum", again),
		kind(verify.Unreadable, "The file could not be read: nothing is known of its bytes", "Look after the device, the path and the permissions; then verify again."),
		kind(verify.Limit, "A shard has more samples than are allowed; it may be sound", "Allow more with --max samples, if you trust where the shard is from."),
		kind(ruleUnfinished, "The conversion into this directory was not finished", "Run the same command again: it goes on where it stopped; if it was planned for tasks, ffconvert run and finish."),
		kind(dataset.BadManifest, "The manifest of the dataset is damaged, or contradicts its plan", "Let ffconvert repair write it anew, or fetch it again from where it is sound."),
		kind(dataset.BadPlan, "The plan or the journal, which a repair needs, is damaged", "Run the command of the conversion again: it writes the plan anew and keeps the shards. ffconvert repair mends the journal."),
		kind(ruleSignature, "The signature is not one of the manifest by the wanted key", "Do not use the dataset. Fetch it again, and the public key from whom you trust."),
		kind(ruleUnsigned, "The dataset has no signature, or its manifest has no SHA-256", "Let the maker of the dataset sign it with ffconvert sign."),
		kind(ruleNoShards, "The directory holds no shards, or the file is none", "Name the directory that the conversion wrote."),
	}
}

// Findings converts a report of verify to findings, for JUnit and SARIF.
func Findings(r *verify.Report, repairs []*dataset.Repairable, version string) *findings.Report {
	f := &findings.Report{Tool: "ffconvert verify", Version: version, Rules: Rules(), Seconds: r.Seconds, Facts: factsOf(r)}
	if len(repairs) > 0 {
		impossible := slices.ContainsFunc(repairs, func(r *dataset.Repairable) bool { return !r.Possible })
		f.Facts = append(f.Facts, findings.Fact{Name: "repair_possible", Value: !impossible})
	}
	if r.Proof != nil {
		verdict, shards := readText(r)
		f.Verdict, f.Scope = verdict, shards+" compared with the manifest"+proofText(r.Proof)
	}
	for _, l := range r.Examined {
		f.Files = append(f.Files, findings.File{Name: l.Path, Samples: l.Samples, Bytes: l.Bytes})
	}
	for _, p := range r.Problems {
		found := findings.Finding{Rule: string(p.Kind), Place: findings.Place{File: p.Path, Offset: p.Offset}, Text: p.Text}
		if p.Sample >= 0 {
			found.Place.Entry = fmt.Sprintf("sample %d", p.Sample)
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

// factsOf returns how the shards were read, by the names of verify's JSON.
func factsOf(r *verify.Report) []findings.Fact {
	if r.Shards == 0 {
		return nil
	}
	facts := []findings.Fact{
		{Name: "backend", Value: r.Backend},
		{Name: "queue_depth", Value: r.QueueDepth},
		{Name: "read_from", Value: string(r.From)},
		{Name: "cross_checked", Value: r.CrossChecked},
		{Name: "mb_per_second", Value: math.Round(r.MBPerSecond())},
	}
	if r.Fallback != "" {
		facts = append(facts, findings.Fact{Name: "fallback", Value: r.Fallback})
	}
	if p := r.Proof; p != nil {
		facts = append(facts, findings.Fact{Name: "sha256", Value: p.SHA256}, findings.Fact{Name: "shards_of", Value: p.Of})
		if p.SignedBy != "" {
			facts = append(facts, findings.Fact{Name: "signed_by", Value: p.SignedBy})
		}
		if p.Seed != nil {
			facts = append(facts, findings.Fact{Name: "seed", Value: fmt.Sprint(*p.Seed)})
		}
	}
	return facts
}

// Print writes a report as text.
func Print(w io.Writer, r *verify.Report, repairs []*dataset.Repairable, paint terminal.Paint) error {
	for _, p := range r.Problems {
		if _, err := fmt.Fprintln(w, paint.Head(text.Line(p.String()), paint.Bad)); err != nil {
			return err
		}
	}
	sound, shards := readText(r)
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
	for _, repair := range repairs {
		if err == nil {
			_, err = fmt.Fprintln(w, text.Line(repairText(repair)))
		}
	}
	return err
}

// readText returns the verdict on a report without problems, and which shards were read.
func readText(r *verify.Report) (verdict, shards string) {
	if r.Proof == nil || r.Proof.Complete() {
		return "sound", terminal.Counted(int64(r.Shards), "shard")
	}
	return "sound as far as read", fmt.Sprintf("%d of %s (--seed %d reads them again)", r.Proof.Read, terminal.Counted(int64(r.Proof.Of), "shard"), *r.Proof.Seed)
}

// proofText returns the words of the report about the signature, the SHA-256 and the shards that were read.
func proofText(p *verify.Proof) string {
	switch {
	case p == nil:
		return ""
	case p.SignedBy != "":
		return " and its SHA-256, signed by the key " + p.SignedBy
	}
	return " and its SHA-256, signature not checked"
}

// Err returns the error of a printed report, with the number of problems as its text.
func Err(r *verify.Report) error {
	err := r.Err()
	if err == nil {
		return nil
	}
	text := terminal.Counted(r.Count(), "problem")
	if errors.Is(err, verify.ErrCorrupt) {
		text = fmt.Sprintf("%v: %s", verify.ErrCorrupt, text)
	}
	return terminal.WithText(err, text)
}

// repairText returns whether a dataset can be repaired, and why not.
func repairText(r *dataset.Repairable) string {
	text := r.Out + ": repair possible: no"
	if r.Possible {
		text = r.Out + ": repair possible: yes"
	}
	if r.Reason != "" {
		text += ", " + r.Reason
	}
	return text
}

// PrintJSON writes a report as JSON.
func PrintJSON(w io.Writer, r *verify.Report, repairs []*dataset.Repairable) error {
	return terminal.WriteJSON(w, struct {
		Sound bool `json:"sound"`
		*verify.Report
		MBPerSecond float64               `json:"mb_per_second"`
		Repair      []*dataset.Repairable `json:"repair"` // of each directory with a manifest
	}{r.Err() == nil, r, r.MBPerSecond(), append([]*dataset.Repairable{}, repairs...)})
}
