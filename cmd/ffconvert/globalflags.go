package main

import (
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
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
	opts := globalOptions{color: option.Choice{Value: "auto", Words: []string{"auto", "always", "never"}}}
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
		terminal.ReportSignals(cmd.Context(), progressMode(cmd), paintOf(cmd))
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
	p := flag.Value.(*terminal.Progress)
	if o.quiet {
		p.Value = "none"
	}
	p.Verbose, p.Color = o.verbose, o.color.Value
	time.AfterFunc(ballastAfter, func() { ballast() })
	return nil
}

// ballast is memory that is never touched, so it takes none, but the garbage collector counts it. With a heap of a few MiB it
// would run a hundred times a second (S6 in docs/benchmarks.md). Commands without --progress end before that matters.
var ballast = sync.OnceValue(func() []byte { return make([]byte, ballastSize) })

const (
	ballastSize  = 8 << 20               // bytes
	ballastAfter = 30 * time.Millisecond // since it begins with a collection, which would be a third of a command that takes no longer
)

// paintOf returns whether standard error is coloured.
func paintOf(cmd *cobra.Command) terminal.Paint {
	mode := "auto"
	if flag := cmd.Flags().Lookup("color"); flag != nil {
		mode = flag.Value.String()
	}
	return terminal.PaintOf(mode, os.Stderr)
}

// A helpAllValue is the flag --help-all. It ends the parsing with [pflag.ErrHelp], as --help does.
type helpAllValue bool

func (v *helpAllValue) Set(string) error { *v = true; return pflag.ErrHelp }
func (v *helpAllValue) Type() string     { return "bool" }
func (v *helpAllValue) String() string   { return "false" }

// progressMode returns the value of --progress, with auto replaced by bar or plain; "" for commands
// without that flag.
func progressMode(cmd *cobra.Command) string {
	if flag := cmd.Flags().Lookup("progress"); flag != nil {
		return flag.Value.(*terminal.Progress).Mode(os.Stderr)
	}
	return ""
}
