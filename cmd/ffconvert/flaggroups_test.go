package main

import (
	"iter"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/help"
)

// commands calls use with each command.
func commands(use func(*cobra.Command)) {
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		c.InitDefaultHelpFlag()
		use(c)
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRootCommand())
}

// flagsOfAll yields each flag of each command.
func flagsOfAll(t *testing.T) iter.Seq2[*pflag.Flag, *cobra.Command] {
	t.Helper()
	return func(yield func(*pflag.Flag, *cobra.Command) bool) {
		going, n := true, 0
		commands(func(c *cobra.Command) {
			each := func(f *pflag.Flag) {
				n++
				going = going && yield(f, c)
			}
			c.LocalFlags().VisitAll(each)
			c.InheritedFlags().VisitAll(each)
		})
		if n < 500 {
			t.Errorf("%d flags", n)
		}
	}
}

// Every flag of every command is in a group of the help, and none is named twice.
func TestFlagGroups(t *testing.T) {
	t.Parallel()
	used := make(map[string]bool)
	for f, c := range flagsOfAll(t) {
		used[f.Name] = true
		if g, _, _ := help.PlaceOf(f); g.Title == help.Ungrouped {
			t.Errorf("%s --%s has no group: name it in help.Groups", c.CommandPath(), f.Name)
		}
	}
	seen := make(map[string]bool)
	for _, g := range help.Groups {
		for name := range strings.FieldsSeq(g.Flags + " " + g.Rare) {
			if seen[name] {
				t.Errorf("help.Groups names --%s twice", name)
			}
			if !used[name] {
				t.Errorf("help.Groups names --%s, which no command has", name)
			}
			seen[name] = true
		}
	}
}

// No line of any help is wider than a terminal of 80 columns, and --help-all shows every flag.
func TestHelpWidth(t *testing.T) {
	t.Parallel()
	commands(func(c *cobra.Command) {
		short, all := help.Text(c, false), help.Text(c, true)
		for _, text := range []string{short, all} {
			for line := range strings.SplitSeq(text, "\n") {
				if n := utf8.RuneCountInString(line); n > help.Width {
					t.Errorf("%s: %d columns: %s", c.CommandPath(), n, line)
				}
				if strings.TrimRight(line, " ") != line {
					t.Errorf("%s: spaces at the end of %q", c.CommandPath(), line)
				}
			}
		}
		each := func(f *pflag.Flag) {
			if strings.Count(all, "--"+f.Name+" ")+strings.Count(all, "--"+f.Name+"\n") == 0 {
				t.Errorf("%s: --help-all does not show --%s", c.CommandPath(), f.Name)
			}
			if _, _, rare := help.PlaceOf(f); rare == strings.Contains(short, " --"+f.Name+" ") && !strings.Contains(c.Long+c.Example, "--"+f.Name) {
				t.Errorf("%s: --help shows --%s, and it is rare: %t", c.CommandPath(), f.Name, rare)
			}
		}
		c.LocalFlags().VisitAll(each)
		c.InheritedFlags().VisitAll(each)
	})
}
