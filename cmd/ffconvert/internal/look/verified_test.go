package look

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/findings"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/verify"
)

func TestFindingsOfVerify(t *testing.T) {
	t.Parallel()
	place := func(off int64, entry string) findings.Place {
		return findings.Place{File: "out/a.ffr", Offset: off, Entry: entry}
	}
	for _, row := range []struct {
		name    string
		problem verify.Problem
		want    findings.Finding
	}{
		{"a sample", verify.Problem{Kind: verify.Checksum, Sample: 7, Offset: 300, Text: "wrong"},
			findings.Finding{Rule: "checksum", Place: place(300, "sample 7"), Text: "wrong"}},
		{"the first sample", verify.Problem{Kind: verify.Checksum, Sample: 0, Offset: 36, Text: "wrong"},
			findings.Finding{Rule: "checksum", Place: place(36, "sample 0"), Text: "wrong"}},
		{"a shard", verify.Problem{Kind: verify.Missing, Sample: -1, Offset: -1, Text: "gone"},
			findings.Finding{Rule: "missing", Place: place(-1, ""), Text: "gone"}},
		{"transient", verify.Problem{Kind: verify.Header, Sample: -1, Offset: 0, Text: "wrong", Transient: true},
			findings.Finding{Rule: "header", Place: place(0, ""), Text: "wrong", Hint: "transient: sound when read again; suspect the device or the memory"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			row.problem.Path = "out/a.ffr"
			r := (&Verified{Report: verify.Report{Problems: []verify.Problem{row.problem}}}).findings("")
			if len(r.Found) != 1 || r.Found[0] != row.want || r.Count(findings.Error) != 1 {
				t.Errorf("%+v\nwant %+v", r.Found, row.want)
			}
		})
	}
}

// Problems beyond those that verify keeps are counted as errors, and facts are listed.
func TestFindingsOfVerifyMany(t *testing.T) {
	t.Parallel()
	const kept, more = 10_000, 123_456
	in := verify.Report{
		Shards: 1, Backend: "pread", QueueDepth: 32, From: "tmpfs", Fallback: "io_setup: EAGAIN", Seconds: 2, Bytes: 3e6,
		Results:  []verify.Result{{Path: "a.ffr", Summary: record.FileInfo{Samples: 9}, Bytes: 99}},
		Problems: make([]verify.Problem, kept), More: more,
	}
	for i := range in.Problems {
		in.Problems[i] = verify.Problem{Kind: verify.Checksum, Path: "a.ffr", Sample: int64(i)}
	}
	r := (&Verified{Report: in, repairs: []*dataset.Repairable{{Possible: true}, {}}}).findings("")
	if r.Count(findings.Error) != kept+more || len(r.Found)+int(r.More) != kept+more {
		t.Errorf("%d errors, %d kept, %d more", r.Count(findings.Error), len(r.Found), r.More)
	}
	if len(r.Files) != 1 || r.Files[0] != (findings.File{Name: "a.ffr", Samples: 9, Bytes: 99}) || r.Seconds != 2 {
		t.Errorf("files %+v, %v s", r.Files, r.Seconds)
	}
	if want := "[{backend pread} {queue_depth 32} {read_from tmpfs} {cross_checked false} {mb_per_second 2} {fallback io_setup: EAGAIN} {repair_possible false}]"; fmt.Sprint(r.Facts) != want {
		t.Errorf("facts %v", r.Facts)
	}
}

// A shard that is missing makes no sample of a report.
func TestVerdict(t *testing.T) {
	t.Parallel()
	seed := uint64(1)
	for _, row := range []struct {
		proof verify.Proof
		want  string
	}{
		{verify.Proof{Read: 8, Of: 8}, "sound"},
		{verify.Proof{Read: 7, Of: 8}, "sound"},
		{verify.Proof{Read: 8, Of: 8, Seed: &seed}, "sound"},
		{verify.Proof{Read: 7, Of: 8, Seed: &seed}, "sound as far as read"},
	} {
		if got, _ := (&Verified{Report: verify.Report{Proof: &row.proof}}).verdict(); got != row.want {
			t.Errorf("%+v: %v", row.proof, got)
		}
	}
}

// The page has the rules of verify, and the rules all kinds of problems.
func TestRulesOfVerify(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "..", "..")
	source, err := os.ReadFile(filepath.Join(root, "verify", "problem.go"))
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "ci.md"))
	if err != nil {
		t.Fatal(err)
	}
	kinds := regexp.MustCompile(`(?m)^\t[A-Z]\w+ +Kind = "([a-z]+)"`).FindAllSubmatch(source, -1)
	rules := make(map[string]bool)
	var table strings.Builder
	for _, r := range verifyRules() {
		rules[r.ID] = true
		fmt.Fprintf(&table, "| `%s` | %s | %s |\n", r.ID, r.Short, r.Help)
	}
	for _, k := range kinds {
		if !rules[string(k[1])] {
			t.Errorf("no rule for the kind %q", k[1])
		}
	}
	if len(kinds) != 9 || !strings.Contains(string(page), "| --- | --- | --- |\n"+table.String()+"\n") {
		t.Errorf("%d kinds; docs/ci.md should have the table\n%s", len(kinds), &table)
	}
}
