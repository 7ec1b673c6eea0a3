package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
	"github.com/ffconvert/ffconvert/convert"
)

// newPlanCommand returns the command plan, with the subcommand that args name, or all.
func newPlanCommand(args []string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Plan a conversion whose shards many machines write",
		Long: `Plan a conversion, with the flags that the conversion itself would have, and write none of its
shards. What is decided here is decided for all: the tasks that write shards (ffconvert run)
read the plan and the sources, and need no flags of the format.

` + planHelp + "\n\n" + exitStatus,
		Example: `  ffconvert plan tar 'shards-<0000..9999>.tar' out/
  ffconvert run out/ --task 3/40
  ffconvert finish out/`,
	}
	all := []command{{"", convert.SpecFormat, func() *cobra.Command { return newPlanFormatCommand(convert.SpecFormat, newSpecCommand) }}}
	for _, f := range formats {
		convert := func(adapt func(*conversion)) *cobra.Command { return newConvertCommand(f, adapt) }
		all = append(all, command{"", f.Name, func() *cobra.Command { return newPlanFormatCommand(f.Name, convert) }})
	}
	add(cmd, all, args)
	cmd.Args, cmd.RunE = cliflag.WantCommand, cliflag.NeedCommand
	return cmd
}

const planHelp = `OUT receives the plan, .ffconvert/plan. Any machine that sees the sources by the same names can
write any shards by it; ffconvert finish completes the dataset. The same command may be run
again: where the plan is there already, nothing changes. What is fetched or decompressed to be
indexed is removed again, unless --cache-dir says where it is kept.

With --task K/N the K-th of N even slices of the parts, counted from 0, is indexed alone, on as
many machines as there are, and no plan is made. The same command without --task takes what
such tasks have found of parts that are what they were, indexes the others, and plans.`

// notOfPlans are flags of a conversion that only change how shards are written: plan does not have them.
var notOfPlans = []string{"no-verify", "verify", "sign", "password-file", "backend", "queue-depth", "grace"}

// newPlanFormatCommand turns the command of a conversion into the command of its plan.
func newPlanFormatCommand(name string, convert func(adapt func(*conversion)) *cobra.Command) *cobra.Command {
	var task cliflag.Task
	cmd := convert(func(c *conversion) { c.planning = &task })
	cmd.Short = "Plan: " + strings.Replace(cmd.Short, "Convert", "convert", 1)
	cmd.Long = strings.Replace(cmd.Long, outputHelp, planHelp, 1)
	cmd.Long = strings.Replace(cmd.Long, "pipe:COMMAND with --allow-pipe, and - for standard input.", "and pipe:COMMAND with --allow-pipe, which each task runs.", 1)
	cmd.Example = planExample(name, cmd.Example)
	flags := cmd.Flags()
	cmd.ResetFlags()
	cmd.Flags().SortFlags = false
	flags.VisitAll(func(flag *pflag.Flag) {
		if !slices.Contains(notOfPlans, flag.Name) {
			cmd.Flags().AddFlag(flag)
		}
	})
	cmd.Flags().Lookup("jobs").Usage = "parts indexed at once: 32, or this if more; fewer, down to 8, where few files may be open; 1024 at most, by default the CPUs that this process may use"
	cmd.Flags().Var(&task, "task", "index the K-th of N slices of the parts alone, counted from 0")
	return cmd
}

// planExample turns the examples of a conversion into examples of its plan, without the examples that
// read standard input.
func planExample(name, example string) string {
	var lines []string
	for line := range strings.SplitSeq(example, "\n") {
		if rest, ok := strings.CutPrefix(line, "  ffconvert "+name); ok {
			lines = append(lines, "  ffconvert plan "+name+rest)
		}
	}
	return strings.Join(lines, "\n")
}
