package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
)

// Groups of commands: headings of the help, in its order.
const (
	groupConvert = "Convert a dataset:"
	groupCheck   = "Check a dataset before converting it:"
	groupTasks   = "Convert on many machines:"
	groupLook    = "Look at shards:"
	groupExport  = "Take samples out of shards:"
	groupPack    = "A folder in one file:"
	groupCache   = "Staged copies:"
)

// A command describes a subcommand, which is made only if it is needed.
type command struct {
	group string // "": none
	name  string // the first word of its usage
	make  func() *cobra.Command
}

// allCommands returns the commands of the program. args are what follows the name of the command.
func allCommands(args []string) []command {
	all := []command{
		{groupConvert, "convert", newDetectCommand},
		{groupConvert, "spec", func() *cobra.Command { return newSpecCommand(nil) }},
		{groupConvert, "formats", newFormatsCommand},
		{groupCheck, "check", func() *cobra.Command { return newCheckCommand(args) }},
		{groupTasks, "plan", func() *cobra.Command { return newPlanCommand(args) }},
		{groupTasks, "run", newRunCommand},
		{groupTasks, "status", newStatusCommand},
		{groupTasks, "finish", newFinishCommand},
		{groupLook, "verify", newVerifyCommand},
		{groupLook, "sign", newSignCommand},
		{groupLook, "repair", newRepairCommand},
		{groupLook, "copy", newCopyCommand},
		{groupLook, "inspect", newInspectCommand},
		{groupLook, "ls", newListCommand},
		{groupLook, "get", newGetCommand},
		{groupLook, "diff", newDiffCommand},
		{groupLook, "browse", newBrowseCommand},
		{groupLook, "bench", newBenchCommand},
		{groupExport, "export", newExportCommand},
		{groupPack, "pack", newPackCommand},
		{groupPack, "unpack", newUnpackCommand},
		{groupPack, "cat", newCatCommand},
		{groupCache, "cache", newCacheCommand},
		{"", "version", newVersionCommand},
		{"", "man", newManCommand},
	}
	for _, f := range formats {
		all = append(all, command{groupConvert, f.Name, func() *cobra.Command { return newConvertCommand(f, nil) }})
	}
	return all
}

// add adds the command that args name to cmd, or all. It reports whether args name one.
func add(cmd *cobra.Command, all []command, args []string) (one bool) {
	if len(args) > 0 {
		if i := slices.IndexFunc(all, func(c command) bool { return c.name == args[0] }); i >= 0 {
			all, one = all[i:i+1], true
		}
	}
	for _, c := range all {
		made := c.make()
		if made.GroupID = c.group; c.group != "" && !cmd.ContainsGroup(c.group) {
			cmd.AddGroup(&cobra.Group{ID: c.group, Title: c.group})
		}
		cmd.AddCommand(made)
	}
	return one
}

// newRootCommand returns the command line of the program. If args name a command it has only that one: flags of all of them
// take longer to make than most commands take.
func newRootCommand(args ...string) *cobra.Command {
	root := &cobra.Command{
		Use:   "ffconvert",
		Short: "Turn datasets into FFRecord shards and prove that nothing was lost",
		Long: `Turn machine-learning datasets into FFRecord shards of even size, each re-read and
checked, with a manifest that accounts for every entry of the input.

` + exitStatus,
		Example: `  ffconvert tar 'shards-<000..009>.tar' out/
  ffconvert folder imagenet/train out/
  ffconvert verify out/
  ffconvert inspect out/`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cliflag.WantCommand,
	}
	// cobra's own --version uses text/template, which would add a quarter to the size of the program.
	version := root.Flags().Bool("version", false, "print the version")
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		if *version {
			return printVersion(cmd)
		}
		return cmd.Help()
	}
	addGlobalFlags(root)
	if len(args) > 1 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd) {
		args = args[1 : len(args)-1] // without the word that is typed
	}
	if add(root, allCommands(args[min(1, len(args)):]), args) {
		root.CompletionOptions.DisableDefaultCmd = true
	} else {
		root.SetHelpCommand(newHelpCommand())
		root.InitDefaultHelpCmd()
		root.InitDefaultCompletionCmd("completion")
		for _, c := range root.Commands() {
			if c.Name() == "completion" {
				documentCompletion(c)
			}
		}
	}
	cliflag.Finish(root)
	return root
}

// documentCompletion adds examples and exit statuses to the commands that cobra generates.
func documentCompletion(c *cobra.Command) {
	c.Long = strings.NewReplacer("#### ", "", "\t", " ").Replace(c.Long) + "\n\n" + exitStatus
	if c.Example == "" {
		c.Example = "  source <(ffconvert completion bash)"
	}
	if c.HasSubCommands() {
		c.Args, c.RunE = cliflag.WantCommand, cliflag.NeedCommand
	}
	for _, shell := range c.Commands() {
		documentCompletion(shell)
	}
}

// newHelpCommand returns the command help. That of cobra ends with status 0 for an unknown command.
func newHelpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND...]",
		Short:   "Show the help of a command",
		Long:    "Show the help of a command, as COMMAND --help does.\n\n" + exitStatus,
		Example: "  ffconvert help tar\n  ffconvert help cache clean",
		RunE: func(cmd *cobra.Command, args []string) error {
			of, rest, err := cmd.Root().Find(args)
			switch {
			case err == nil && len(rest) > 0 && len(of.Commands()) == 0:
				err = fmt.Errorf("help: %q is one argument too many: want ffconvert help %s", rest[0], strings.TrimPrefix(of.CommandPath(), "ffconvert "))
			case err == nil && len(rest) > 0:
				err = cliflag.WantCommand(of, rest)
			}
			if err != nil {
				return err
			}
			return of.Help()
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, typed string) (names []cobra.Completion, how cobra.ShellCompDirective) {
			if of, rest, err := cmd.Root().Find(args); err == nil && len(rest) == 0 {
				for _, c := range of.Commands() {
					if c.IsAvailableCommand() && strings.HasPrefix(c.Name(), typed) {
						names = append(names, cobra.CompletionWithDesc(c.Name(), c.Short))
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

func newManCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "man DIR",
		Short:   "Write the manual pages",
		Long:    "Write a manual page for each command into DIR, which is made where it is not there.\n\n" + exitStatus,
		Example: "  ffconvert man /usr/local/share/man/man1",
		Args:    cliflag.WantArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			return cliflag.WritePages(newRootCommand(), tool(), args[0])
		},
	}
}
