package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/internal/need"
	"github.com/ffconvert/ffconvert/internal/python"
)

// codeSpans returns the code in the tables of a page, each once.
func codeSpans(page string) []string {
	var spans []string
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "|") {
			for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(line, -1) {
				spans = append(spans, strings.ReplaceAll(m[1], `\|`, "|"))
			}
		}
	}
	slices.Sort(spans)
	return slices.Compact(spans)
}

// Each command of docs/coverage.md does what it says with the files that it names: it ends with status 0, and has made what it was to make.
func TestDocsCoverage(t *testing.T) {
	t.Parallel()
	need.Time(t, "a folder and a process for each command of a page")
	python.Path(t, "cbor2")
	d := newDocsFolder(t)
	commands := 0
	for _, span := range codeSpans(docsPage(t, "coverage.md")) {
		if !regexp.MustCompile(`(^|[ =])ffconvert [a-z]`).MatchString(span) {
			continue
		}
		commands++
		t.Run(span, func(t *testing.T) {
			t.Parallel()
			dir := d.fresh(t)
			d.run(t, dir, span)
			made, _ := filepath.Glob(filepath.Join(dir, "new*"))
			if strings.Contains(span, " new") && !strings.Contains(span, "--dry-run") && len(made) != 1 {
				t.Errorf("%s has made %q", span, made)
			}
		})
	}
	if commands < 80 {
		t.Errorf("%d commands", commands)
	}
}

// Its flags are flags of some command.
func TestFlagsOfDocsCoverage(t *testing.T) {
	t.Parallel()
	flags := make(map[string]bool)
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		c.InitDefaultHelpFlag()
		c.Flags().VisitAll(func(f *pflag.Flag) { flags["--"+f.Name] = true })
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRootCommand())
	for line := range strings.Lines(docsPage(t, "coverage.md")) {
		_, here, _ := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		for _, m := range regexp.MustCompile("`(--[a-z0-9-]+)").FindAllStringSubmatch(here, -1) {
			if !flags[m[1]] {
				t.Errorf("no command has %s", m[1])
			}
		}
	}
}

// Its Python names are there, and its expressions have values.
func TestPythonOfDocsCoverage(t *testing.T) {
	t.Parallel()
	need.Time(t, "imports PyTorch")
	python3 := python.Path(t, "torch")
	script := "import ffconvert\nfrom ffconvert import DataLoader, Dataset\ndataset = Dataset('out')\n"
	for _, span := range codeSpans(docsPage(t, "coverage.md")) {
		if regexp.MustCompile(`^(Dataset|DataLoader)\(.*[])]$|^ffconvert\.[A-Z]`).MatchString(span) {
			script += span + "\n"
		}
	}
	if n := strings.Count(script, "\n"); n < 25 {
		t.Errorf("%d lines", n)
	}
	dir := t.TempDir()
	for _, args := range [][]string{{"tar", "-q", filepath.Join("..", "..", "testdata", "shards-000.tar"), filepath.Join(dir, "out")}, {"folder", "-q", filepath.Join("..", "..", "testdata", "shapes"), filepath.Join(dir, "more")}} {
		if status := run(args, time.Minute); status != exitOK {
			t.Fatalf("%q: status %d", args, status)
		}
	}
	path, err := filepath.Abs(filepath.Join("..", "..", "python"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python3, "-c", script)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "PYTHONPATH="+path, "PYTHONDONTWRITEBYTECODE=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
