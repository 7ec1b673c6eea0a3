package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/convert/option"
)

// globalOptions are the flags of all commands.
type globalOptions struct {
	quiet, verbose bool
	color          option.Choice
	helpAll        helpAllValue
}

func addGlobalFlags(root *cobra.Command) {
	opts := globalOptions{color: option.Choice{Value: colorAuto, Words: []string{colorAuto, colorAlways, colorNever}}}
	flags := root.PersistentFlags()
	flags.BoolVarP(&opts.quiet, "quiet", "q", false, "print errors alone, no progress and no closing line")
	flags.BoolVarP(&opts.verbose, "verbose", "v", false, "a line for each phase and each shard, too")
	flags.Var(&opts.color, "color", "colours: auto (on a terminal without NO_COLOR), always, never")
	flags.BoolP("help", "h", false, "show this help")
	flags.VarPF(&opts.helpAll, "help-all", "", "show all flags: limits and those that few need, too").NoOptDefVal = "true"
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if err := opts.apply(cmd); err != nil {
			return err
		}
		stop := stopperOf(cmd.Context())
		stop.telling(signalTeller(progressMode(cmd), os.Stderr))
		stop.tellingLate(func(err interrupted) {
			printError(err, exitCode(err), progressMode(cmd) == "json", paintOf(colorMode(cmd), os.Stderr))
		})
		return nil
	}
	root.SetFlagErrorFunc(flagError)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		fmt.Fprint(cmd.OutOrStdout(), helpText(cmd, bool(opts.helpAll)))
	})
}

// apply hands the flags to the command's progress, where it has one.
func (o *globalOptions) apply(cmd *cobra.Command) error {
	if o.quiet && o.verbose {
		return errors.New("--quiet and --verbose do not go together")
	}
	if err := apart(cmd); err != nil {
		return err
	}
	flag := cmd.Flags().Lookup("progress")
	if flag == nil {
		return nil
	}
	p := flag.Value.(*progressFlag)
	if o.quiet {
		if flag.Changed {
			return errors.New("--quiet and --progress do not go together; --quiet means --progress none")
		}
		p.Value = "none"
	}
	p.verbose, p.color = o.verbose, o.color.Value
	return nil
}

// apart refuses flags of which the command has said that they exclude each other: cobra does so
// later, in other words.
func apart(cmd *cobra.Command) error {
	given := make(map[string]string) // flag by group
	var err error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		for _, group := range f.Annotations["cobra_annotation_mutually_exclusive"] {
			if other := given[group]; other != "" && err == nil {
				err = fmt.Errorf("--%s and --%s do not go together", other, f.Name)
			}
			given[group] = f.Name
		}
	})
	return err
}

// colorMode is the value of --color.
func colorMode(cmd *cobra.Command) string {
	if flag := cmd.Flags().Lookup("color"); flag != nil {
		return flag.Value.String()
	}
	return colorAuto
}

// A helpAllValue ends the parsing of flags with [pflag.ErrHelp], as --help does.
type helpAllValue bool

func (v *helpAllValue) Set(string) error { *v = true; return pflag.ErrHelp }
func (v *helpAllValue) Type() string     { return "bool" }
func (v *helpAllValue) String() string   { return "false" }
