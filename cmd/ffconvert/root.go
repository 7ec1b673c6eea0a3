package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
)

// Groups of commands in the help.
const (
	groupConvert = "convert"
	groupCheck   = "check"
	groupTasks   = "tasks"
	groupLook    = "look"
	groupPack    = "pack"
	groupCache   = "cache"
	groupExport  = "export"
)

func newRootCommand() *cobra.Command {
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
	for _, g := range []cobra.Group{
		{ID: groupConvert, Title: "Convert a dataset:"}, {ID: groupCheck, Title: "Check a dataset before converting it:"},
		{ID: groupTasks, Title: "Convert on many machines:"}, {ID: groupLook, Title: "Look at shards:"},
		{ID: groupExport, Title: "Take samples out of shards:"}, {ID: groupPack, Title: "A folder in one file:"}, {ID: groupCache, Title: "Staged copies:"},
	} {
		root.AddGroup(&g)
	}
	for _, f := range formats {
		root.AddCommand(newConvertCommand(f, nil))
	}
	detect := newDetectCommand()
	detect.GroupID = groupConvert
	root.AddCommand(detect)
	grouped := func(id string, commands ...*cobra.Command) {
		for _, c := range commands {
			c.GroupID = id
			root.AddCommand(c)
		}
	}
	root.AddCommand(newSpecCommand(nil))
	grouped(groupTasks, newPlanCommand(), newRunCommand(), newStatusCommand(), newFinishCommand())
	grouped(groupConvert, newFormatsCommand())
	grouped(groupCheck, newCheckCommand())
	grouped(groupLook, newVerifyCommand(), newSignCommand(), newRepairCommand(), newCopyCommand(), newInspectCommand(), newListCommand(), newGetCommand(), newDiffCommand(), newBrowseCommand(), newBenchCommand())
	grouped(groupExport, newExportCommand())
	grouped(groupPack, newPackCommand(), newUnpackCommand(), newCatCommand())
	grouped(groupCache, newCacheCommand())
	root.AddCommand(newVersionCommand(), newManCommand())
	root.SetHelpCommand(newHelpCommand())
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd("completion")
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			documentCompletion(c)
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
		RunE: func(cmd *cobra.Command, args []string) error {
			return cliflag.WritePages(cmd.Root(), tool(), args[0])
		},
	}
}
