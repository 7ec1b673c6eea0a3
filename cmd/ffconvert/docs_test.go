package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// docsPage returns a page of docs/.
func docsPage(t *testing.T, name string) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// commandOnPage is a command at the begin of an indented line, in backquotes, or behind another one.
var commandOnPage = regexp.MustCompile("(?m)(?:^    (?:\\$ )?|`|/|\\| |&& )(ffconvert [a-z][^`\n#>…|&]*)")

// notCommands are words that follow "ffconvert" on pages and are none: in sentences, first lines of digests, and plugins that pages make or have.
var notCommands = map[string]bool{"never": true, "dataset": true, "subset": true, "concatenation": true, "stream": true, "idx": true}

// The commands of all pages exist, with those flags.
func TestCommandsOfDocs(t *testing.T) {
	t.Parallel()
	top := filepath.Join("..", "..")
	names, err := filepath.Glob(filepath.Join(top, "docs", "*.md"))
	if err != nil || len(names) < 25 {
		t.Fatal(names, err)
	}
	names = append(names, filepath.Join(top, "README.md"), filepath.Join(top, "CONTRIBUTING.md"), filepath.Join(top, "SECURITY.md"))
	seen := make(map[string]bool)
	for _, name := range names {
		page, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range commandOnPage.FindAllStringSubmatch(string(page), -1) {
			args := strings.Fields(strings.NewReplacer("K/N", "3/40", "{}", "3", "'./relabel labels.db'", "cat", "'", "", `"`, "").Replace(c[1]))[1:]
			if seen[c[1]] || notCommands[args[0]] {
				continue
			}
			seen[c[1]] = true
			if err := checkCommand(args); err != nil {
				t.Errorf("%s: %s: %v", filepath.Base(name), c[1], err)
			}
		}
	}
	if len(seen) < 250 {
		t.Errorf("%d commands", len(seen))
	}
}

// checkCommand asks for the help of a command with arguments; a flag at their end may lack its value.
func checkCommand(args []string) error {
	root := newRootCommand()
	root.SetOut(io.Discard)
	root.SetErr(io.Discard)
	named, _, err := root.Find(args)
	if err != nil || named == root {
		return errors.Join(err, errors.New("no such command"))
	}
	if last := len(args) - 1; strings.HasPrefix(args[last], "--") && !strings.Contains(args[last], "=") {
		if named.Flags().Lookup(args[last][2:]) == nil {
			return fmt.Errorf("no such flag: %s", args[last])
		}
		args = args[:last]
	}
	root.SetArgs(append(args, "--help"))
	return root.Execute()
}

// The flags of docs/coverage.md are flags of some command.
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
