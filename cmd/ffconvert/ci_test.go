package main

import (
	"fmt"
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
	if err := printFindings(&sarif, report, checkOptions{documents: documents{format: option.Choice{Value: "sarif"}}}); err != nil {
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
