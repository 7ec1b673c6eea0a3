package help

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A Group is a heading of the help and the flags below it, in order.
type Group struct {
	Title string
	Flags string // names, separated by spaces
	Rare  string // names of flags that only --help-all shows
}

// Headings with special rules: Limits has every flag for which [IsLimit] is true, Other every flag
// that no group names. TestFlagGroups fails if a flag is in Other.
const (
	titleEveryday = "Everyday"
	titleLimits   = "Limits"
	titleProof    = "Proof"
	Ungrouped     = "Other"
)

// Groups give the place of each flag in the help of every command that has it.
var Groups = []Group{
	{Title: titleEveryday,
		Flags: "task wait plugin deep strict long recursive by by-key all force format report listen open older-than batch batches duration dry-run overwrite into-nonempty jobs progress color quiet verbose no-descriptions version help help-all",
		Rare:  "backend queue-depth block-size allow-legacy grace"},
	{Title: "Source",
		Flags: "input-format records nested lists continued list flat group pair classes ext header columns delimiter dtype rows-per-sample key-field require-end on-duplicate-key",
		Rare:  "hidden follow-outside data-part-num part-name-prefix part-name-suffix-length allow-missing-trailer concatenated"},
	{Title: "Samples", Flags: "limit slice sample where keys drop-keys unknown-keys sort split only-split split-by filter filter-timeout"},
	{Title: "Records", Flags: "encode fields rename decode tensor resize missing damaged"},
	{Title: "Keys and added fields", Flags: "key key-prefix add-field table-columns table-delimiter table-quotes unmatched"},
	{Title: "Shards",
		Flags: "shards shard-size max-count mtime shuffle seed exact whole-parts verify no-verify",
		Rare:  "min-shard-size max-shards"},
	{Title: titleProof, Flags: "sha256 sign password-file"},
	{Title: "Remote and compressed sources",
		Flags: "cache-dir cache-size connections anonymous s3-endpoint s3-region s3-profile allow-pipe",
		Rare:  "s3-path-style rewrite retries fetch-timeout"},
	{Title: "OUT in an object store", Flags: "verify-remote scratch-dir scratch-size"},
	{Title: titleLimits},
	{Title: Ungrouped},
}

// PlaceOf returns the group of a flag, its position there, and whether only --help-all shows it.
func PlaceOf(f *pflag.Flag) (group *Group, at int, rare bool) {
	title := Ungrouped
	switch {
	case IsLimit(f):
		title = titleLimits
	case f.Annotations[proofMark] != nil:
		title = titleProof
	}
	for i := range Groups {
		g := &Groups[i]
		common := strings.Fields(g.Flags)
		names := append(common, strings.Fields(g.Rare)...)
		if at := slices.Index(names, f.Name); at >= 0 && title == Ungrouped {
			return g, at, at >= len(common)
		}
		if g.Title == title {
			group = g
		}
	}
	return group, len(Groups), title == titleLimits
}

// A command with at most fewFlags flags has them in one list, without headings.
const fewFlags = 12

// flagsHelp returns the help of the flags by group, in lines of at most width columns. more reports
// whether flags were left out because all is false.
func flagsHelp(cmd *cobra.Command, all bool, width int) (text string, more bool) {
	type placed struct {
		flag *pflag.Flag
		at   int
	}
	byGroup, n := make(map[*Group][]placed), 0
	add := func(f *pflag.Flag) {
		g, at, rare := PlaceOf(f)
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
	for i := range Groups {
		flags := byGroup[&Groups[i]]
		slices.SortStableFunc(flags, func(a, b placed) int { return a.at - b.at })
		for _, p := range flags {
			shown.AddFlag(helpFlag(p.flag))
		}
		if n > fewFlags && len(flags) > 0 {
			text += "\n" + Groups[i].Title + ":\n" + trimLines(shown.FlagUsagesWrapped(width))
			shown = pflag.NewFlagSet(cmd.Name(), pflag.ContinueOnError)
			shown.SortFlags = false
		}
	}
	if n <= fewFlags {
		text = "\nFlags:\n" + trimLines(shown.FlagUsagesWrapped(width))
	}
	return text, more
}

// helpFlag returns a copy of f with an English word for its type.
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

// typeWords replace the type names of pflag. "bool" has no entry: pflag prints no type for it.
var typeWords = map[string]string{
	"int": "number", "int64": "number", "uint64": "number", "string": "text", "stringArray": "text", "stringSlice": "list",
}

// A wordedValue is a flag value with another type name.
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

// limitMark is the annotation of flags that set a limit on inputs.
const limitMark = "ffconvert_limit"

// proofMark is the annotation of flags of signatures whose names mean something else in other commands.
const proofMark = "ffconvert_proof"

// MarkProof puts a flag into the group of signatures and sums.
func MarkProof(flags *pflag.FlagSet, name string) {
	if err := flags.SetAnnotation(name, proofMark, []string{}); err != nil {
		panic("ffconvert: " + err.Error())
	}
}

func IsLimit(flag *pflag.Flag) bool { return flag.Annotations[limitMark] != nil }

func MarkLimit(flags *pflag.FlagSet, name string) {
	if err := flags.SetAnnotation(name, limitMark, []string{}); err != nil {
		panic("ffconvert: " + err.Error())
	}
}
