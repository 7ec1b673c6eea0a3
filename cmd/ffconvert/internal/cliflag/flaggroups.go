package cliflag

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/internal/option"
)

// Headings with special rules: Other has every flag that no group names. TestFlagGroups fails if a flag is in Other.
const (
	titleProof = "Proof"
	Ungrouped  = "Other"
)

// Groups are the headings of --help-all and the flags below them, in order.
var Groups = []struct{ Title, Flags string }{
	{"General", "task wait plugin deep strict long recursive by by-key all force format report listen open older-than batch batches duration dry-run overwrite into-nonempty jobs progress color quiet verbose no-descriptions version help help-all aio allow-legacy grace"},
	{"Source", "input-format records nested lists continued list flat group pair classes ext header columns delimiter dtype rows-per-sample key-field require-end on-duplicate-key hidden follow-outside part allow-missing-trailer concatenated"},
	{"Samples", "limit slice sample where keys sort split only-split split-by filter"},
	{"Records", "encode fields rename decode tensor missing damaged"},
	{"Keys and added fields", "key key-prefix add-field table unmatched"},
	{"Shards", "shards shard-size max-count mtime shuffle seed exact whole-parts verify no-verify"},
	{titleProof, "sha256 sign password-file"},
	{"Remote and compressed sources", "cache-dir cache-size order in fetch anonymous s3 allow-pipe rewrite"},
	{"OUT in an object store", "bucket"},
	{"Limits", "max"},
	{Ungrouped, ""},
}

// everyday are the flags that --help shows of a command with more than fewFlags, in order.
const (
	everyday = "task deep strict report format records nested lists continued flat group pair header columns dtype key-field require-end encode fields rename decode where limit split shuffle shards shard-size dry-run overwrite jobs cache-dir help help-all"
	fewFlags = 20
)

// PlaceOf returns the number of the group of a flag, and its position there.
func PlaceOf(f *pflag.Flag) (group, at int) {
	name := f.Name
	if isMember(f) {
		name, _ = option.Member(name)
	}
	proof := f.Annotations[proofMark] != nil
	for i, g := range Groups {
		at = slices.Index(strings.Fields(g.Flags), name)
		if proof && g.Title == titleProof || !proof && at >= 0 {
			return i, at
		}
	}
	return len(Groups) - 1, 0
}

// flagsHelp returns the help of the flags in lines of at most width columns: all by group, or the everyday ones in a line
// each.
func flagsHelp(cmd *cobra.Command, all bool, width int) string {
	var flags []*pflag.Flag
	add := func(f *pflag.Flag) {
		if all && isMember(f) || !f.Hidden {
			flags = append(flags, f)
		}
	}
	cmd.LocalFlags().VisitAll(add)
	cmd.InheritedFlags().VisitAll(add)
	byPlace := func(f *pflag.Flag) int {
		g, at := PlaceOf(f)
		return g<<10 + at
	}
	slices.SortStableFunc(flags, func(a, b *pflag.Flag) int {
		return cmp.Or(cmp.Compare(byPlace(a), byPlace(b)), strings.Compare(fmt.Sprint(a.Hidden), fmt.Sprint(b.Hidden)))
	})
	if !all {
		if common := strings.Fields(everyday); len(flags) > fewFlags {
			flags = slices.DeleteFunc(flags, func(f *pflag.Flag) bool { return !slices.Contains(common, f.Name) })
			slices.SortStableFunc(flags, func(a, b *pflag.Flag) int {
				return cmp.Compare(slices.Index(common, a.Name), slices.Index(common, b.Name))
			})
		}
		return "\nFlags:\n" + usages(flags, 0, width)
	}
	text := ""
	for len(flags) > 0 {
		g, _ := PlaceOf(flags[0])
		n := slices.IndexFunc(flags, func(f *pflag.Flag) bool { other, _ := PlaceOf(f); return other != g })
		if n < 0 {
			n = len(flags)
		}
		text += "\n" + Groups[g].Title + ":\n" + usages(flags[:n], width, width)
		flags = flags[n:]
	}
	return text
}

// usages returns the help of flags, wrapped at some column, or each cut to a line of width columns. Those of a merged flag
// are below it, as NAME=VALUE.
func usages(flags []*pflag.Flag, wrap, width int) string {
	shown := pflag.NewFlagSet("", pflag.ContinueOnError)
	shown.SortFlags = false
	for _, f := range flags {
		f = helpFlag(f)
		f.Hidden = false
		shown.AddFlag(f)
	}
	text := shown.FlagUsagesWrapped(wrap)
	for _, f := range flags {
		if isMember(f) {
			_, name := option.Member(f.Name)
			before, rest, _ := strings.Cut(text, "--"+f.Name+" ")
			typ, rest, _ := strings.Cut(rest, " ")
			text = before + fmt.Sprintf("  %-*s ", len("--"+f.Name+" "+typ)-2, name+"="+typ) + rest
		}
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line = strings.TrimRight(line, " \n"); wrap == 0 {
			line = shorten(line, width)
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// shorten cuts a line to at most width columns: behind a clause, else between words. A list or a clause that is cut ends
// with an ellipsis.
func shorten(line string, width int) string {
	runes := []rune(line)
	if len(runes) <= width {
		return line
	}
	line = string(runes[:width-2])
	if open := strings.LastIndex(line, " ("); open > strings.LastIndex(line, ")") {
		return line[:open]
	}
	usage := strings.LastIndex(line, "   ") + 3 // begins there
	switch end := max(strings.LastIndex(line, ", "), strings.LastIndex(line, "; "), strings.LastIndex(line, ": ")); {
	case end < usage || line[end] == ',' && end < usage+(len(line)-usage)/2:
		return line[:strings.LastIndex(line, " ")] + " …"
	case line[end] == ',':
		return line[:end] + ", …"
	default:
		return line[:end]
	}
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

// proofMark is the annotation of flags of signatures whose names mean something else in other commands.
const proofMark = "ffconvert_proof"

// MarkProof puts a flag into the group of signatures and sums.
func MarkProof(flags *pflag.FlagSet, name string) {
	if err := flags.SetAnnotation(name, proofMark, []string{}); err != nil {
		panic("ffconvert: " + err.Error())
	}
}
