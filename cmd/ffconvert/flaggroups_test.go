package main

import (
	"bytes"
	"iter"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
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
		if g, _ := cliflag.PlaceOf(f); cliflag.Groups[g].Title == cliflag.Ungrouped {
			t.Errorf("%s --%s has no group: name it in cliflag.Groups", c.CommandPath(), f.Name)
		}
	}
	seen := make(map[string]bool)
	for _, g := range cliflag.Groups {
		for name := range strings.FieldsSeq(g.Flags) {
			if seen[name] {
				t.Errorf("cliflag.Groups names --%s twice", name)
			}
			if !used[name] {
				t.Errorf("cliflag.Groups names --%s, which no command has", name)
			}
			seen[name] = true
		}
	}
}

// isFlag matches the line of a flag.
var isFlag = regexp.MustCompile(`(?m)^ {2,6}(-., )?--[a-z]`)

// --help fits on a screen, --help-all shows every flag, and no line but those of examples is wider than the terminal.
func TestHelpFits(t *testing.T) {
	t.Parallel()
	for _, width := range []int{60, 80, 120} {
		commands(func(c *cobra.Command) {
			short, all := cliflag.Help(c, false, width), cliflag.Help(c, true, width)
			for _, text := range []string{short, all} {
				_, description, _ := strings.Cut(strings.Replace(text, c.Example, "", 1), "\nFlags:\n")
				for line := range strings.SplitSeq(description, "\n") {
					if n := utf8.RuneCountInString(line); n > width {
						t.Errorf("%s: %d columns: %s", c.CommandPath(), n, line)
					}
					if strings.TrimRight(line, " ") != line {
						t.Errorf("%s: spaces at the end of %q", c.CommandPath(), line)
					}
				}
			}
			lines, flags, most := strings.Count(short, "\n"), len(isFlag.FindAllString(short, -1)), len(isFlag.FindAllString(all, -1))
			if c.HasParent() && lines > 45 && width >= 80 || flags > 20 || most > 60 {
				t.Errorf("%s: --help has %d lines and %d flags at %d columns, --help-all %d flags", c.CommandPath(), lines, flags, width, most)
			}
			each := func(f *pflag.Flag) {
				if !f.Hidden && !strings.Contains(all, "--"+f.Name+" ") && !strings.Contains(all, "--"+f.Name+"\n") {
					t.Errorf("%s: --help-all does not show --%s", c.CommandPath(), f.Name)
				}
			}
			c.LocalFlags().VisitAll(each)
			c.InheritedFlags().VisitAll(each)
		})
	}
}

// A flag of several sets what the old flags set, which go on working.
func TestMergedFlags(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ args, flag, want string }{
		{"tar --max sample-size=8MiB", "max-sample-size", "8MiB"},
		{"tar --max-sample-size 8MiB", "max-sample-size", "8MiB"},
		{"tar --keys unknown=skip", "unknown-keys", "skip"},
		{"tar --keys @a --keys not=@b", "drop-keys", "@b"},
		{"tar --keys @a --keys not=@b", "keys", "@a"},
		{"csv --table columns=a,b --table columns=c", "table-columns", "a,b,c"},
		{"csv --part digits=5", "part-name-suffix-length", "5"},
		{"tar --s3 endpoint=http://h:1/?a=b", "s3-endpoint", "http://h:1/?a=b"},
		{"tar --shards 3 --shards max=9", "max-shards", "9"},
		{"run --fetch timeout=30s", "fetch-timeout", "30s"},
	} {
		root := newRootCommand()
		words := strings.Fields(row.args)
		c, args, err := root.Find(words)
		if err == nil {
			err = c.ParseFlags(args)
		}
		if err != nil {
			t.Errorf("%s: %v", row.args, err)
		} else if f := c.Flags().Lookup(row.flag); !f.Changed || f.Value.String() != row.want {
			t.Errorf("%s: --%s is %s", row.args, row.flag, f.Value)
		}
	}
}

// A merged flag completes its names, and the values of each.
func TestMergedCompletion(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"tar --aio ":                "backend= queue-depth= :6",
		"tar --aio backend=":        "backend=auto backend=aio backend=pread :4",
		"tar --keys unknown=":       "unknown=error unknown=skip :4",
		"csv --table quotes=":       "quotes=auto quotes=yes quotes=no :4",
		"tar --bucket verify=":      "verify=checksum verify=read :4",
		"run --s3 path-style=":      "path-style=auto path-style=path path-style=host :4",
		"tar --max nosuch=":         "",
		"tar --sign password-file=": ":0",
	} {
		words := strings.Split("__completeNoDesc "+typed, " ")
		root := newRootCommand()
		var out bytes.Buffer
		root.SetOut(&out)
		root.SetArgs(words)
		if err := root.Execute(); err != nil || want != "" && strings.Join(strings.Fields(out.String()), " ") != want {
			t.Errorf("%s: %s, %v; want %s", typed, out.String(), err, want)
		}
	}
}
