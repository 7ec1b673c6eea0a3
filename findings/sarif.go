package findings

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/ffconvert/ffconvert/internal/text"
)

const (
	home      = "https://github.com/ffconvert/ffconvert"
	rulesPage = home + "/blob/main/docs/ci.md" // help URI of every rule
)

func writeSARIF(w io.Writer, r *Report) error {
	doc := sarif.NewReport()
	run := sarif.NewRunWithInformationURI(text.Line(r.Tool), home)
	run.Tool.Driver.WithVersion(text.Line(r.Version)).WithRules(sarifRules(r.Rules))
	run.WithColumnKind("unicodeCodePoints")
	run.AddInvocation(sarifInvocation(r))
	for _, f := range r.Files {
		run.AddArtifact(sarif.NewArtifact().
			WithLocation(sarif.NewSimpleArtifactLocation(uri(f.Name))).
			WithRoles([]string{"analysisTarget"}))
	}
	seen := make(map[string]int)
	for i := range r.Found {
		f := &r.Found[i]
		id := identity(f)
		seen[id]++
		run.AddResult(sarifResult(r, f).WithPartialFingerprints(map[string]string{
			// The only fingerprint that GitHub uses. Without it GitHub hashes the text of the
			// line and takes all results of one file for the same.
			"primaryLocationLineHash": fmt.Sprintf("%s:%d", id, seen[id]),
		}))
	}
	doc.AddRun(run)
	return printSARIF(w, doc)
}

// printSARIF writes a document without its empty members: the library writes every list and object
// of SARIF, and -1 for unknown numbers.
func printSARIF(w io.Writer, doc *sarif.Report) error {
	text, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var document any
	if err := dec.Decode(&document); err != nil {
		return err
	}
	enc := json.NewEncoder(terminalSafe{w})
	enc.SetIndent("", "  ")
	return enc.Encode(prune(document))
}

// prune removes members that are empty or -1 from the objects of a document. It keeps an empty
// "results", which means that the dataset is sound.
func prune(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = prune(v[i])
		}
	case map[string]any:
		for name, member := range v {
			if member = prune(member); name != "results" && isEmpty(member) {
				delete(v, name)
			} else {
				v[name] = member
			}
		}
	}
	return v
}

func isEmpty(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case json.Number:
		return v == "-1"
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

func sarifRules(rs []Rule) []*sarif.ReportingDescriptor {
	descriptors := make([]*sarif.ReportingDescriptor, len(rs))
	for i, rule := range rs {
		help := rule.Help
		if help == "" {
			help = rule.Short
		}
		descriptors[i] = sarif.NewRule(rule.ID).
			WithShortDescription(sarif.NewMultiformatMessageString().WithText(rule.Short)).
			WithFullDescription(sarif.NewMultiformatMessageString().WithText(rule.Short)).
			WithHelp(sarif.NewMultiformatMessageString().WithText(help)).
			WithHelpURI(rulesPage).
			WithDefaultConfiguration(sarif.NewReportingConfiguration().WithLevel(string(rule.Level)))
	}
	return descriptors
}

// sarifInvocation returns the facts of the report as properties.
func sarifInvocation(r *Report) *sarif.Invocation {
	facts := sarif.NewPropertyBag()
	for _, f := range r.Facts {
		facts.Add(text.Valid(f.Name), f.value())
	}
	if r.More > 0 {
		facts.Add("not_listed", r.More)
	}
	return sarif.NewInvocation().WithExecutionSuccessful(true).WithProperties(facts)
}

func sarifResult(r *Report, f *Finding) *sarif.Result {
	// Viewers show the message and rarely the offset or the entry, so the message has all three.
	// [text](target) in a message is a link; a name from the data must not become one.
	message := strings.ReplaceAll(clip(f.message()), "](", "] (")
	result := sarif.NewRuleResult(text.Valid(f.Rule)).WithLevel(string(r.level(f.Rule))).WithMessage(sarif.NewTextMessage(message))
	for i := range r.Rules {
		if r.Rules[i].ID == f.Rule {
			result.WithRuleIndex(i)
		}
	}
	if f.Count > 1 {
		result.WithOccurrenceCount(int(f.Count))
	}
	// GitHub refuses a document in which a result has no file, and does not show a result without
	// a line. Other viewers use the byte offset.
	file, region := cmp.Or(f.Place.File, allFiles), sarif.NewRegion().WithStartLine(1)
	if off := int(f.Place.Offset); off >= 0 && int64(off) == f.Place.Offset {
		region.WithByteOffset(off)
	}
	location := sarif.NewLocation().WithPhysicalLocation(sarif.NewPhysicalLocation().
		WithArtifactLocation(sarif.NewSimpleArtifactLocation(uri(file))).
		WithRegion(region))
	if f.Place.Entry != "" {
		location.AddLogicalLocation(sarif.NewLogicalLocation().WithName(clip(text.Valid(f.Place.Entry))))
	}
	return result.AddLocation(location)
}

// identity returns a hash that is the same for the same finding in different runs: of its rule,
// file and entry, or offset if it has no entry. Offsets of entries change when entries are added.
func identity(f *Finding) string {
	where := f.Place.Entry
	if where == "" {
		where = fmt.Sprint(f.Place.Offset)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", f.Rule, uri(f.Place.File), where))
	return hex.EncodeToString(sum[:8])
}

// uri returns a file name as a URI. Relative names stay relative to the working directory of the
// program; absolute names get the scheme file.
func uri(name string) string {
	p := path.Clean(filepath.ToSlash(name))
	if !filepath.IsAbs(name) {
		return (&url.URL{Path: p}).String()
	}
	if !strings.HasPrefix(p, "/") {
		p = "/" + p // C:/x
	}
	return (&url.URL{Scheme: "file", Path: p}).String()
}
