package main

import (
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/progress"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/stop"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/internal/option"
)

// globalOptions are the flags that every command has.
type globalOptions struct {
	quiet, verbose bool
	color          option.Choice
	helpAll        helpAllValue
}

func addGlobalFlags(root *cobra.Command) {
	opts := globalOptions{color: option.Choice{Value: terminal.ColorAuto, Words: []string{terminal.ColorAuto, terminal.ColorAlways, terminal.ColorNever}}}
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
		stopper := stop.From(cmd.Context())
		stopper.OnSignal(signalTeller(progressMode(cmd), os.Stderr))
		stopper.OnLate(func(err stop.Interrupted) {
			printError(err, exitCode(err), progressMode(cmd) == "json", terminal.PaintOf(colorMode(cmd), os.Stderr))
		})
		return nil
	}
	root.SetFlagErrorFunc(cliflag.FlagError)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		fmt.Fprint(cmd.OutOrStdout(), cliflag.Help(cmd, bool(opts.helpAll), terminal.Columns(cmd.OutOrStdout())))
	})
}

// apply checks the flags, and passes them to the progress of the command.
func (o *globalOptions) apply(cmd *cobra.Command) error {
	if err := cliflag.Check(cmd); err != nil {
		return err
	}
	flag := cmd.Flags().Lookup("progress")
	if flag == nil {
		return nil
	}
	p := flag.Value.(*progress.Flag)
	if o.quiet {
		p.Value = "none"
	}
	p.Verbose, p.Color = o.verbose, o.color.Value
	return nil
}

// colorMode returns the value of --color.
func colorMode(cmd *cobra.Command) string {
	if flag := cmd.Flags().Lookup("color"); flag != nil {
		return flag.Value.String()
	}
	return terminal.ColorAuto
}

// A helpAllValue is the flag --help-all. It ends the parsing with [pflag.ErrHelp], as --help does.
type helpAllValue bool

func (v *helpAllValue) Set(string) error { *v = true; return pflag.ErrHelp }
func (v *helpAllValue) Type() string     { return "bool" }
func (v *helpAllValue) String() string   { return "false" }

// signalTeller returns the function that reports signals on out; nil if nothing is printed.
func signalTeller(mode string, out io.Writer) func(syscall.Signal, time.Duration) {
	switch mode {
	case "json":
		return func(sig syscall.Signal, grace time.Duration) {
			progress.WriteEvent(out, "signal", progress.SignalEvent{Signal: stop.Signals[sig], Grace: grace.Seconds()})
		}
	case "plain":
		return func(sig syscall.Signal, grace time.Duration) {
			if grace > 0 {
				fmt.Fprintf(out, "%v: no more shards are begun; those under way have %v\n", sig, grace)
			}
		}
	}
	return nil
}

// progressMode returns the value of --progress, with auto replaced by bar or plain; "" for commands
// without that flag.
func progressMode(cmd *cobra.Command) string {
	if flag := cmd.Flags().Lookup("progress"); flag != nil {
		return progress.Mode(flag.Value.String(), os.Stderr)
	}
	return ""
}
