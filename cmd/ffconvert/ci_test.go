package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/ffconvert/ffconvert/check"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/audit"
	"github.com/ffconvert/ffconvert/convert/option"
	"github.com/ffconvert/ffconvert/findings"
	"github.com/ffconvert/ffconvert/internal/need"
)

// ciScripts returns the steps of the examples that are shell, by the file's name.
func ciScripts(t *testing.T) map[string][]string {
	t.Helper()
	read := func(name string, into any) {
		data, err := os.ReadFile(filepath.Join("..", "..", "examples", "ci", name))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(docsPage(t, "ci.md"), "```yaml\n"+string(data)+"```\n") {
			t.Errorf("docs/ci.md does not show %s as it is", name)
		}
		d := yaml.NewDecoder(bytes.NewReader(data))
		d.KnownFields(true)
		if err := d.Decode(into); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	scripts := make(map[string][]string)
	var github struct {
		Name string
		On   []string
		Jobs map[string]struct {
			RunsOn      string `yaml:"runs-on"`
			Permissions map[string]string
			Steps       []struct {
				Name, Uses, If, Run string
				With                map[string]string
			}
		}
	}
	read("github-actions.yml", &github)
	for _, job := range github.Jobs {
		for _, step := range job.Steps {
			if step.Run != "" {
				scripts["github-actions.yml"] = append(scripts["github-actions.yml"], step.Run)
			}
		}
	}
	var gitlab map[string]struct {
		Image     string
		Script    []string
		Artifacts struct{ Reports struct{ JUnit []string } }
	}
	read("gitlab-ci.yml", &gitlab)
	for _, job := range gitlab {
		scripts["gitlab-ci.yml"] = append(scripts["gitlab-ci.yml"], job.Script...)
	}
	return scripts
}

// The commands of the examples exist, with those flags, and do what the examples mean.
func TestExamplesOfCI(t *testing.T) {
	t.Parallel()
	need.Shell(t)
	for file, script := range ciScripts(t) {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			if len(script) < 4 {
				t.Fatalf("%d steps", len(script))
			}
			dir := t.TempDir()
			data, err := filepath.Abs(filepath.Join("..", "..", "testdata", "shards-000.tar"))
			if err == nil {
				err = os.Mkdir(filepath.Join(dir, "data"), 0o755)
			}
			if err == nil {
				err = os.Symlink(data, filepath.Join(dir, "data", "a.tar"))
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, step := range script {
				if strings.HasPrefix(step, "go install ") {
					continue
				}
				cmd := exec.Command("sh", "-ec", step)
				cmd.Dir = dir
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%s: %v\n%s", step, err, out)
				}
				if _, document, ok := strings.Cut(step, " > "); ok {
					if written, err := os.ReadFile(filepath.Join(dir, document)); err != nil || !bytes.Contains(written, []byte("data/a.tar")) && !bytes.Contains(written, []byte("out/PART_00000.ffr")) {
						t.Errorf("%s: %v: %s", step, err, written)
					}
				}
			}
		})
	}
}

// The page has the rules of check as a report has them, with flags in place of options.
func TestRulesOfCheck(t *testing.T) {
	t.Parallel()
	report := &findings.Report{Rules: check.Rules()}
	var sarif strings.Builder
	if err := printFindings(&sarif, report, checkOptions{format: option.Choice{Value: "sarif"}}); err != nil {
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
	for _, r := range audit.Rules() {
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
