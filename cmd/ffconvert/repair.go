package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/terminal"
	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/verify"
)

type repairOptions struct {
	cliflag.Conversion
	plugin string         // the plugin that made the dataset
	limits *pflag.FlagSet // limits of all formats
}

func newRepairCommand() *cobra.Command {
	opts := repairOptions{Conversion: cliflag.NewConversion()}
	cmd := &cobra.Command{
		Use:   "repair OUT [SOURCE...]",
		Short: "Write damaged and missing shards anew",
		Long: `Re-read all shards and indexes of a dataset as verify does, and write those anew that are
damaged or missing, from the plan that the conversion has kept and its sources. Each
becomes what it was to the byte, or is left as it is: sources that give other bytes are
refused. What an interrupted conversion had not finished is written too.

Sources are found by the names that they had on the command line of the conversion, from
the current directory; SOURCE... names them anew. Where nothing has to be written no source is
looked at. Standard input, and what a plugin reads,
must be named: SOURCE is - then, or the plugin's arguments. So must URLs that were signed,
for no password and no signature is kept. A pipe:COMMAND is run again with --allow-pipe only.

` + exitStatus,
		Example: `  ffconvert repair out/
  ffconvert repair out/ '/archive/shards-<000..009>.tar'
  zstdcat big.tar.zst | ffconvert repair out/ -
  ffconvert repair --plugin idx out/ images.gz labels.gz`,
		Args: cliflag.WantArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if _, err := opts.Load(cmd.Context()); err != nil {
				return err
			}
			return runRepair(cmd.Context(), opts, args[0], args[1:], cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&opts.plugin, "plugin", "", "the plugin that made the dataset, which is run again; a plan alone never runs one")
	opts.limits = opts.AddPlanned(flags)
	return cmd
}

func runRepair(ctx context.Context, opts repairOptions, dir string, sources []string, stdout io.Writer) error {
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) && !convert.IsURL(dir) {
		return cliflag.NotShards(dir, err)
	}
	progress := terminal.NewReporter(opts.Progress, os.Stderr)
	defer progress.Stop()
	c := convert.Conversion{Out: dir, Sources: sources, Limits: cliflag.Changed(opts.limits), Options: opts.Ready(ctx, tool(), progress)}
	if opts.plugin != "" {
		c.Program = func(format string) (*input.Command, error) { return opts.program(format, dir, sources) }
	}
	done, err := c.Repair(ctx, func(problems []verify.Problem) error {
		for _, p := range problems {
			if _, err := fmt.Fprintln(stdout, p); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return cliflag.Hint(err, "repair", dir)
	}
	progress.Say(terminal.RepairDone(dir, done))
	return nil
}

// program returns the plugin that made the dataset. It is run only if --plugin names it.
func (o *repairOptions) program(format, dir string, args []string) (*input.Command, error) {
	if o.plugin != format || !pluginName().MatchString(o.plugin) {
		return nil, convert.ProgramError(dir, format, fmt.Sprintf("not by %q", o.plugin))
	}
	path, err := exec.LookPath(pluginPrefix + o.plugin)
	if err != nil {
		return nil, err
	}
	return pluginProgram(o.plugin, path, args), nil
}
