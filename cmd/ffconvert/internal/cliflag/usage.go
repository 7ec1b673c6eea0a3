package cliflag

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/decode"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// WantArgs checks the number of arguments against the command's Use line, where [NAME] is optional
// and NAME... repeats.
func WantArgs(cmd *cobra.Command, args []string) error {
	names := strings.Fields(cmd.Use)[1:]
	var needed []string
	most := len(names)
	for _, name := range names {
		if !strings.HasPrefix(name, "[") {
			needed = append(needed, name)
		}
		if strings.HasSuffix(strings.TrimSuffix(name, "]"), "...") {
			most = len(args)
		}
	}
	switch {
	case len(args) == len(needed)-1:
		return fmt.Errorf("%s: %s is missing: want %s", cmd.Name(), needed[len(needed)-1], usageLine(cmd))
	case len(args) < len(needed):
		return fmt.Errorf("%s: %s are missing: want %s", cmd.Name(), strings.Join(needed[len(args):], " and "), usageLine(cmd))
	case len(args) > most:
		return fmt.Errorf("%s: %q is one argument too many: want %s", cmd.Name(), args[most], usageLine(cmd))
	}
	return nil
}

func usageLine(cmd *cobra.Command) string {
	return strings.TrimSuffix(cmd.UseLine(), " [flags]")
}

// WantCommand checks the arguments of a command that only has subcommands: any argument is the name
// of an unknown subcommand.
func WantCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	how := cmd.CommandPath() + " --help lists the commands"
	if near := Nearest(args[0], cmd.Commands()); near != "" {
		how = "did you mean " + near + "?"
	} else if cmd.HasParent() {
		how = "want one of " + Subcommands(cmd)
	}
	return fmt.Errorf("unknown command %q; %s", strings.TrimPrefix(cmd.CommandPath()+" "+args[0], "ffconvert "), how)
}

// NeedCommand is the RunE of a command that only has subcommands: it asks for one.
func NeedCommand(cmd *cobra.Command, _ []string) error {
	return fmt.Errorf("%s: want one of %s", cmd.Name(), Subcommands(cmd))
}

func Subcommands(cmd *cobra.Command) string {
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	return strings.Join(names, ", ")
}

// Nearest returns the command name that a mistyped one probably means, or "". A name with two
// adjacent letters swapped comes first, then cobra's suggestions in the order of their edit
// distance; among names that begin with typed, the shortest is returned.
func Nearest(typed string, among []*cobra.Command) string {
	if len(typed) < 2 {
		return ""
	}
	all := &cobra.Command{}
	for _, c := range among {
		if swapped(typed, c.Name()) {
			return c.Name()
		}
		all.AddCommand(&cobra.Command{Use: c.Name(), SuggestFor: c.SuggestFor, Run: func(*cobra.Command, []string) {}})
	}
	for all.SuggestionsMinimumDistance = 1; all.SuggestionsMinimumDistance <= max(1, min(3, len(typed)/2)); all.SuggestionsMinimumDistance++ {
		near := all.SuggestionsFor(typed)
		begun := slices.DeleteFunc(slices.Clone(near), func(name string) bool { return !strings.HasPrefix(name, typed) })
		switch {
		case len(begun) > 0:
			return slices.MinFunc(begun, func(a, b string) int { return cmp.Compare(len(a), len(b)) })
		case len(near) > 0:
			return near[0]
		}
	}
	return ""
}

// swapped reports whether swapping two adjacent letters of a gives b.
func swapped(a, b string) bool {
	for i := range len(a) - 1 {
		if a[:i]+a[i+1:i+2]+a[i:i+1]+a[i+2:] == b {
			return true
		}
	}
	return false
}

// CheckEncoding checks the options of records, and suggests a name for a mistyped encoding.
func CheckEncoding(opts encode.Options) error {
	_, err := encode.Parse(opts)
	unknown, ok := errors.AsType[*decode.UnknownError](err)
	if !ok {
		return err
	}
	var names []string
	var known []*cobra.Command
	for _, line := range encode.Names() {
		name, _, _ := strings.Cut(line, ":")
		names, known = append(names, name), append(known, &cobra.Command{Use: name})
	}
	if near := Nearest(unknown.Encoding, known); near != "" {
		return fmt.Errorf("--encode %.40q: did you mean %s?", unknown.Encoding, near)
	}
	return fmt.Errorf("--encode %.40q: want one of %s, raw:FIELD, pickle:FIELD,FIELD", unknown.Encoding, strings.Join(names, ", "))
}

// otherNames are the names of our flags in other programs.
var otherNames = map[string][]string{
	"jobs":        {"workers", "threads", "parallel", "num-workers"},
	"overwrite":   {"force"},
	"max-shards":  {"max-files"},
	"shard-size":  {"size", "maxsize", "chunk-size"},
	"dry-run":     {"simulate"},
	"shards":      {"num-shards"},
	"no-verify":   {"skip-verify"},
	"s3-endpoint": {"endpoint", "endpoint-url"},
	"s3-profile":  {"profile"},
	"s3-region":   {"region"},
	"anonymous":   {"no-sign-request"},
}

// nearestFlag returns the flag name that a mistyped one probably means, or "".
func nearestFlag(cmd *cobra.Command, typed string) string {
	var flags []*cobra.Command
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		flags = append(flags, &cobra.Command{Use: f.Name, SuggestFor: otherNames[f.Name]})
	})
	return Nearest(typed, flags)
}

// elsewhere describes where a command has what other programs have in the flag name; "" for other flags.
func elsewhere(cmd *cobra.Command, name string) string {
	switch name {
	case "o", "out", "output", "output-dir":
		args := strings.Fields(cmd.Use)
		if last := args[len(args)-1]; len(args) > 2 && slices.Contains(outputs, last) {
			return fmt.Sprintf("%s is the last argument: %s %s", last, cmd.CommandPath(), strings.Join(args[1:], " "))
		}
	case "p", "port", "P":
		if cmd.Flags().Lookup("listen") != nil {
			return "the port is in --listen, as in --listen 127.0.0.1:8000"
		}
	}
	return ""
}

// outputs are the words for what a command writes.
var outputs = []string{"OUT", "OUT2", "DIR", "TAR", "FILE.ffr"}

// FlagError rewrites an error of pflag as one line with the values that the flag accepts, without the words of strconv and
// time. Other errors are returned unchanged.
func FlagError(cmd *cobra.Command, err error) error {
	if errors.Is(err, pflag.ErrHelp) {
		return pflag.ErrHelp // --help-all returns it from Set, and pflag wraps it
	}
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		name := unknown.GetSpecifiedName()
		if where := elsewhere(cmd, name); where != "" {
			dash := "--"
			if unknown.GetSpecifiedShortnames() != "" {
				dash = "-"
			}
			return fmt.Errorf("unknown flag %s%s; %s", dash, name, where)
		}
		if unknown.GetSpecifiedShortnames() != "" {
			return fmt.Errorf("unknown flag -%s; %s --help-all lists all", name, cmd.CommandPath())
		}
		if near := nearestFlag(cmd, name); near != "" {
			return fmt.Errorf("unknown flag --%s; did you mean %s?", name, shownName(cmd.Flag(near)))
		}
		return fmt.Errorf("unknown flag --%s; %s --help-all lists all", name, cmd.CommandPath())
	}
	if needs, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return fmt.Errorf("--%s needs a value: %s", needs.GetFlag().Name, wanted(needs.GetFlag()))
	}
	bad, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	f, value := bad.GetFlag(), bad.GetValue()
	cause := bad.Unwrap()
	if errors.Is(cause, plan.ErrTask) { // its text has the value
		return fmt.Errorf("--%s: %w", f.Name, cause)
	}
	return fmt.Errorf("--%s %q: %w", f.Name, value, reason(f, cause))
}

// reason returns why a flag refused a value, without the words of strconv.
func reason(f *pflag.Flag, cause error) error {
	number, isNumber := errors.AsType[*strconv.NumError](cause)
	switch {
	case isNumber && errors.Is(number, strconv.ErrRange):
		return errors.New("the number is too large")
	case isNumber, f.Value.Type() == "stringSlice", choices(f) != nil:
		return errors.New("want " + wanted(f))
	}
	return cause
}

// wanted describes the values that a flag accepts.
func wanted(f *pflag.Flag) string {
	if words := choices(f); words != nil {
		return "one of " + strings.Join(words, ", ")
	}
	switch f.Value.Type() {
	case "bool":
		return "true or false"
	case "uint64":
		return "a whole number of 0 or more, as in " + shownAs(f, "8")
	case "int", "int64", "number":
		return "a whole number, as in " + shownAs(f, "8")
	case "duration":
		return "a time with a unit, as in " + shownAs(f, "90s or 15m")
	case "size":
		return "a size, as in " + shownAs(f, "256MiB")
	case "stringSlice":
		return "a list with commas, as in " + shownAs(f, "a,b")
	}
	return f.Usage
}

// otherCommands are the names of our commands in other programs.
var otherCommands = map[string][]string{
	"tar":     {"webdataset", "wds"},
	"folder":  {"imagefolder", "image-folder", "directory", "dir"},
	"check":   {"lint", "validate"},
	"verify":  {"test", "fsck"},
	"inspect": {"info", "show", "stat"},
	"repair":  {"fix"},
	"pack":    {"zip"},
	"unpack":  {"extract", "unzip"},
	"diff":    {"cmp", "compare"},
	"ls":      {"list", "dir"},
}

// Finish prepares the command line of root, which has all its commands: it adds the names that commands have in other programs,
// the flags of [option.Merged] and the completion of flag values.
func Finish(root *cobra.Command) {
	for _, c := range root.Commands() {
		c.SuggestFor = otherCommands[c.Name()]
	}
	mergeFlags(root)
	completeFlags(root)
}
