package main

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
	"github.com/ffconvert/ffconvert/internal/option"
)

var update = flag.Bool("update", false, "write docs/flags.md anew")

const flagsPage = "../../docs/flags.md"

// docs/flags.md has every flag of every command, by the groups of --help-all, and what each old name is now.
func TestFlagsPage(t *testing.T) {
	t.Parallel()
	type row struct {
		group, at          int
		name, value, usage string
	}
	commands, old, everywhere := make(map[row][]string), make(map[string]string), make(map[*cobra.Command]bool)
	for f, c := range flagsOfAll(t) {
		everywhere[c] = true
		g, at := cliflag.PlaceOf(f)
		shown, merged := "--"+f.Name, option.Flag(f.Name)
		if f.Hidden && merged == shown {
			continue
		} else if f.Hidden {
			old[shown], shown = merged, merged
		}
		r := row{g, at, shown, valueOf(f), usageOf(f)}
		if name := strings.TrimPrefix(c.CommandPath(), "ffconvert "); !slices.Contains(commands[r], name) {
			commands[r] = append(commands[r], name)
		}
	}
	var names []string
	for _, f := range formats {
		names = append(names, f.Name)
	}
	var b strings.Builder
	b.WriteString("# Flags\n\nEvery flag of every command, by the groups of `--help-all`. `ffconvert COMMAND --help` shows those of every day.\n" +
		"A flag with NAME=VALUE below it may be repeated: `--max row-size=2GiB --max columns=100`.\n" +
		"This page is written by `go test ./cmd/ffconvert -run TestFlagsPage -update`.\n")
	group := -1
	for _, r := range slices.SortedFunc(maps.Keys(commands), func(a, b row) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.at, b.at), strings.Compare(a.name, b.name), strings.Compare(a.usage, b.usage))
	}) {
		if r.group != group {
			group = r.group
			fmt.Fprintf(&b, "\n## %s\n\n| flag | meaning | commands |\n| --- | --- | --- |\n", cliflag.Groups[group].Title)
		}
		sep := " "
		if strings.Contains(r.name, " ") {
			sep = "="
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", strings.TrimRight(r.name+sep+r.value, " ="), strings.ReplaceAll(r.usage, "|", `\|`), commandList(commands[r], names, len(everywhere)))
	}
	b.WriteString("\n## Old names\n\nThey go on working, without a place in the help.\n\n| old | now |\n| --- | --- |\n")
	for _, name := range slices.Sorted(maps.Keys(old)) {
		fmt.Fprintf(&b, "| `%s` | `%s` |\n", name, old[name])
	}
	if *update {
		if err := os.WriteFile(flagsPage, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if page, err := os.ReadFile(flagsPage); err != nil || string(page) != b.String() {
		t.Errorf("%s is not what the flags are (%v): go test ./cmd/ffconvert -run TestFlagsPage -update", flagsPage, err)
	}
}

// usageOf returns the words of a flag, with its short form, and its default unless they say that.
func usageOf(f *pflag.Flag) (usage string) {
	usage = f.Usage
	if f.Shorthand != "" {
		usage += "; short `-" + f.Shorthand + "`"
	}
	if !slices.Contains([]string{"", "0", "false", "[]"}, f.DefValue) && !strings.Contains(usage, "default ") && !strings.Contains(usage, "default:") {
		usage += " (default " + f.DefValue + ")"
	}
	return usage
}

// valueOf returns a word for what a flag takes; "" for none.
func valueOf(f *pflag.Flag) string {
	if f.Value.Type() == "bool" {
		return ""
	}
	return strings.ReplaceAll(f.Value.Type(), "|", "/")
}

// commandList names commands, of which there are so many everywhere: plan and check of a format are "plan" and "check", all
// formats "every format".
func commandList(list, formats []string, everywhere int) string {
	if len(list) == everywhere {
		return "all"
	}
	var short []string
	all := !slices.ContainsFunc(formats, func(f string) bool { return !slices.Contains(list, f) })
	for _, name := range list {
		switch first, second, _ := strings.Cut(name, " "); {
		case slices.Contains(formats, second) || second == "spec", second == "msgpack":
			name = first
		case all && slices.Contains(formats, name):
			name = "every format"
		}
		if !slices.Contains(short, name) {
			short = append(short, name)
		}
	}
	return strings.Join(short, ", ")
}
