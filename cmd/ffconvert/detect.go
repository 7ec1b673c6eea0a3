package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/convert/format"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/text"
)

func newDetectCommand() *cobra.Command {
	opts := cliflag.NewConversion()
	cmd := &cobra.Command{
		Use:   "convert SRC... OUT",
		Short: "Tell the format of a dataset, and convert it",
		Long: `Tell by content and name which format the sources are of, say it on standard error, and do
what that format's command does. Flags of one format alone are those of its own command.

The first file of each source is looked at; of a URL the name alone. Sources of several
formats, or of none, are refused with what they are.

` + outputHelp + "\n\n" + exitStatus,
		Example: `  ffconvert convert 'shards-<000..009>.tar' out/
  ffconvert convert --shuffle --seed 7 imagenet/train out/`,
		Args: cliflag.WantArgs,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	opts.AddTo(cmd)
	opts.Place.AddSources(flags, false)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		f, err := detect(cmd, args[:len(args)-1], opts.Input.MaxNames)
		if err != nil {
			return err
		}
		return runAs(cmd, newConvertCommand(f.sourceFormat, nil), f, args)
	}
	return cmd
}

// detected is the format that sources were found to have.
type detected struct {
	sourceFormat
	what  string   // "a tar"
	flags []string // that the format needs to read them
}

// detect finds out the one format of the sources, and prints it on standard error.
func detect(cmd *cobra.Command, names []string, maxNames int64) (detected, error) {
	does := cliflag.Purpose(cmd.Name() == "check")
	var all []input.Kind // formats that read all sources so far
	for i, name := range names {
		found, first, err := kindsOf(cmd.Context(), name, maxNames)
		if err != nil {
			return detected{}, err
		}
		readable := slices.DeleteFunc(slices.Clone(found), func(k input.Kind) bool { return k.Format == "" })
		switch {
		case len(found) == 0:
			if fi, err := os.Stat(first); err == nil && fi.Mode().IsRegular() && fi.Size() == 0 {
				return detected{}, undetected(name, "it is an empty file", "")
			}
			return detected{}, undetected(name, "its format is not known", fmt.Sprintf("name it: ffconvert %s", formatNames()))
		case len(readable) == 0:
			return detected{}, undetected(name, fmt.Sprintf("it is %s, which no format reads", found[0].What), does.HowTo(found[0], first))
		case len(readable) < len(found):
			return detected{}, ambiguous(name, first, found, does)
		case i == 0:
			all = readable
			continue
		}
		common := slices.DeleteFunc(slices.Clone(all), func(k input.Kind) bool {
			return !slices.ContainsFunc(readable, func(other input.Kind) bool { return k.Format == other.Format && slices.Equal(k.Flags, other.Flags) })
		})
		if len(common) == 0 {
			return detected{}, undetected(name, fmt.Sprintf("it is %s, %s is %s", readable[0].What, names[0], all[0].What), "convert them apart, or as collections of one ffconvert spec")
		}
		all = common
	}
	if len(all) > 1 {
		return detected{}, ambiguous(names[0], names[0], all, does)
	}
	f, _ := formatNamed(all[0].Format)
	d := detected{sourceFormat: f, what: all[0].What, flags: all[0].Flags}
	d.say(cmd, names[0])
	return d, nil
}

func undetected(name, what, hint string) error {
	return &converters.Error{Where: input.Shown(name), Off: -1, Err: fmt.Errorf("%w: %s", converters.ErrUnsupported, what), Hint: hint}
}

// ambiguous refuses a source of several kinds. The hints are about path.
func ambiguous(name, path string, kinds []input.Kind, does cliflag.Purpose) error {
	var what, hints []string
	for _, k := range kinds {
		what, hints = append(what, k.What), append(hints, does.HowTo(k, path))
	}
	return undetected(name, "it may be "+strings.Join(what, " or "), strings.Join(hints, ", or "))
}

func formatNames() string { return strings.Join(format.Names(), ", ") }

// kindsOf returns the possible kinds of first, the first file that name expands to.
func kindsOf(ctx context.Context, name string, maxNames int64) (found []input.Kind, first string, err error) {
	switch {
	case name == "-":
		return nil, name, undetected(name, "standard input can be read once, so its format cannot be told before", "name it: ffconvert "+formatNames())
	case strings.HasPrefix(name, "@"), strings.HasPrefix(name, "pipe:"):
		return nil, name, undetected(name, "what it stands for is not looked at", "name the format: ffconvert "+formatNames())
	}
	first = name
	if _, err := os.Lstat(name); err != nil {
		for n, err := range input.Expand(name, input.Options{MaxNames: maxNames}) {
			if err != nil {
				return nil, name, err
			}
			first = n
			break
		}
		if globbed, err := filepath.Glob(first); err == nil && len(globbed) > 0 {
			first = globbed[0]
		}
	}
	first = strings.TrimPrefix(first, "file:")
	if convert.IsURL(first) {
		return input.KindOfName(first), first, nil
	}
	if _, err := os.Stat(first); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = input.ErrNotFound
		}
		return nil, first, &place.Error{Where: first, Off: -1, Err: err, Hint: "check the spelling and the directory"}
	}
	return format.Kinds(first), first, ctx.Err()
}

// A formatEvent reports the format that was detected.
type formatEvent struct {
	Source string   `json:"source"`
	Format string   `json:"format"`
	Flags  []string `json:"flags"`
}

// say prints on standard error what the sources are, and which command reads them.
func (d *detected) say(cmd *cobra.Command, name string) {
	words := []string{cmd.CommandPath(), d.Name}
	if cmd.Name() == "convert" {
		words[0] = cmd.Parent().CommandPath()
	}
	flags := strings.Join(text.ShellWords(d.flags), " ")
	if cmd.Name() == "check" {
		flags = strings.Replace(flags, "--format", "--"+cliflag.InputFormatFlag, 1)
	}
	command := strings.TrimSuffix(strings.Join(append(words, flags), " "), " ")
	switch progressMode(cmd) {
	case "none":
	case "json":
		terminal.WriteEvent(os.Stderr, "format", formatEvent{input.Shown(name), d.Name, append([]string{}, d.flags...)})
	default:
		fmt.Fprintf(os.Stderr, "%s is %s: %s\n", text.Name(input.Shown(name)), d.what, command)
	}
}

// runAs runs the command of the detected format, with the flags that were given to cmd and the flags
// that the format needs.
func runAs(cmd, as *cobra.Command, f detected, args []string) error {
	var err error
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		to := as.Flags().Lookup(flag.Name)
		switch list, isList := flag.Value.(pflag.SliceValue); {
		case cmd.InheritedFlags().Lookup(flag.Name) != nil: // a flag of all commands, applied already
		case !cliflag.Given(flag):
		case to == nil:
			err = errors.Join(err, fmt.Errorf("%s is not a flag of %s", option.Flag(flag.Name), f.Name))
		case isList:
			to.Changed = true
			err = errors.Join(err, to.Value.(pflag.SliceValue).Replace(list.GetSlice()))
		default:
			err = errors.Join(err, as.Flags().Set(flag.Name, flag.Value.String()))
		}
	})
	*as.Flags().Lookup("progress").Value.(*terminal.Progress) = *cmd.Flags().Lookup("progress").Value.(*terminal.Progress)
	for i := 0; i < len(f.flags); i++ {
		name, value := strings.TrimPrefix(f.flags[i], "--"), "true"
		if name == "format" && cmd.Name() == "check" {
			name = cliflag.InputFormatFlag
		}
		if as.Flags().Lookup(name).NoOptDefVal == "" {
			i++
			value = f.flags[i]
		}
		err = errors.Join(err, as.Flags().Set(name, value))
	}
	if err != nil {
		return err
	}
	as.SetContext(cmd.Context())
	as.SetOut(cmd.OutOrStdout())
	return as.RunE(as, args)
}
