package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A flagGroup is a heading of the help and the flags below it, in their order.
type flagGroup struct {
	title string
	flags string // names, with spaces between
	rare  string // names that only --help-all shows, after the others
}

// The headings with a meaning of their own. Limits take every flag that [isLimit]; a flag that no
// group names stands below Other, where TestFlagGroups finds it.
const (
	titleEveryday = "Everyday"
	titleLimits   = "Limits"
	titleOther    = "Other"
)

// flagGroups say where the help shows a flag, of any command that has one of that name.
var flagGroups = []flagGroup{
	{title: titleEveryday,
		flags: "task wait plugin deep strict recursive keys format older-than batch batches duration dry-run overwrite into-nonempty jobs progress color quiet verbose no-descriptions version help help-all",
		rare:  "backend queue-depth block-size allow-legacy grace"},
	{title: "Source",
		flags: "input-format flat group split classes ext header columns delimiter dtype rows-per-sample on-duplicate-key",
		rare:  "hidden follow-outside data-part-num part-name-prefix part-name-suffix-length allow-missing-trailer concatenated"},
	{title: "Records", flags: "encode fields rename decode missing"},
	{title: "Shards",
		flags: "shards shard-size shuffle seed exact whole-parts verify no-verify",
		rare:  "min-shard-size max-shards"},
	{title: "Remote and compressed sources",
		flags: "cache-dir cache-size connections anonymous s3-endpoint s3-region s3-profile allow-pipe",
		rare:  "s3-path-style rewrite retries fetch-timeout"},
	{title: titleLimits},
	{title: titleOther},
}

// flagPlace returns the group of a flag, its place there, and whether only --help-all shows it.
func flagPlace(f *pflag.Flag) (group *flagGroup, at int, rare bool) {
	title := titleOther
	if isLimit(f) {
		title = titleLimits
	}
	for i := range flagGroups {
		g := &flagGroups[i]
		common := strings.Fields(g.flags)
		names := append(common, strings.Fields(g.rare)...)
		if at := slices.Index(names, f.Name); at >= 0 && title == titleOther {
			return g, at, at >= len(common)
		}
		if g.title == title {
			group = g
		}
	}
	return group, len(flagGroups), title == titleLimits
}

// fewFlags is how many flags need no groups.
const fewFlags = 12

// flagsHelp returns the flags of a command by groups, lines of at most width columns; more tells
// whether there are others, which all would have shown.
func flagsHelp(cmd *cobra.Command, all bool, width int) (text string, more bool) {
	type placed struct {
		flag *pflag.Flag
		at   int
	}
	byGroup, n := make(map[*flagGroup][]placed), 0
	add := func(f *pflag.Flag) {
		g, at, rare := flagPlace(f)
		switch {
		case f.Hidden:
		case rare && !all:
			more = true
		default:
			byGroup[g] = append(byGroup[g], placed{f, at})
			n++
		}
	}
	cmd.LocalFlags().VisitAll(add)
	cmd.InheritedFlags().VisitAll(add)
	shown := pflag.NewFlagSet(cmd.Name(), pflag.ContinueOnError)
	shown.SortFlags = false
	for i := range flagGroups {
		flags := byGroup[&flagGroups[i]]
		slices.SortStableFunc(flags, func(a, b placed) int { return a.at - b.at })
		for _, p := range flags {
			shown.AddFlag(helpFlag(p.flag))
		}
		if n > fewFlags && len(flags) > 0 {
			text += "\n" + flagGroups[i].title + ":\n" + trimLines(shown.FlagUsagesWrapped(width))
			shown = pflag.NewFlagSet(cmd.Name(), pflag.ContinueOnError)
			shown.SortFlags = false
		}
	}
	if n <= fewFlags {
		text = "\nFlags:\n" + trimLines(shown.FlagUsagesWrapped(width))
	}
	return text, more
}

// helpFlag is a flag as the help shows it: its type is a word for people.
func helpFlag(f *pflag.Flag) *pflag.Flag {
	shown := *f
	if name, ok := typeWords[f.Value.Type()]; ok {
		shown.Value = wordedValue{f.Value, name}
	}
	if shown.DefValue == "[]" {
		shown.DefValue = ""
	}
	return &shown
}

// typeWords are the types of pflag in words; "bool" stays, which takes no value.
var typeWords = map[string]string{
	"int": "number", "int64": "number", "uint64": "number", "string": "text", "stringArray": "text", "stringSlice": "list",
}

// A wordedValue is a flag value that shows another type name in the help.
type wordedValue struct {
	pflag.Value
	name string
}

func (v wordedValue) Type() string { return v.name }

func trimLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return b.String()
}
