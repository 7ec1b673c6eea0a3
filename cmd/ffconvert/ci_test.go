package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/check"
	"github.com/ffconvert/ffconvert/internal/findings"
	"github.com/ffconvert/ffconvert/internal/option"
)

// The page has the rules of check as a report has them, with flags in place of options.
func TestRulesOfCheck(t *testing.T) {
	t.Parallel()
	report := &findings.Report{Rules: check.Rules()}
	var sarif strings.Builder
	if err := printFindings(&sarif, report, checkOptions{format: option.Choice{Value: "sarif"}}, nil); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(sarif.String(), "accept it by --allow-missing-trailer.") || strings.Contains(sarif.String(), "Options.") {
		t.Errorf("rules that name options, or no flags:\n%s", &sarif)
	}
	_, section, _ := strings.Cut(docsPage(t, "ci.md"), "## What check finds")
	section, _, _ = strings.Cut(section, "## What verify finds")
	for _, r := range report.Rules {
		if row := fmt.Sprintf("| `%s` | %s | %s | %s |\n", r.ID, r.Level, r.Short, r.Help); !strings.Contains(section, row) {
			t.Errorf("the table lacks %s", row)
		}
	}
	if rows := strings.Count(section, "\n| `"); rows != len(report.Rules) {
		t.Errorf("the table has %d rows, there are %d rules", rows, len(report.Rules))
	}
}

// The page has the rules of verify, and the rules all kinds of problems.
func TestRulesOfVerify(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile(filepath.Join("..", "..", "verify", "problem.go"))
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
	if len(kinds) != 9 || !strings.Contains(docsPage(t, "ci.md"), "| --- | --- | --- |\n"+table.String()+"\n") {
		t.Errorf("%d kinds; docs/ci.md should have the table\n%s", len(kinds), &table)
	}
}
