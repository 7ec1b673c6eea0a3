package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the linker for releases.
var version = "0.1.0-dev"

// Groups of commands in the help.
const (
	groupConvert = "convert"
	groupTasks   = "tasks"
	groupLook    = "look"
	groupPack    = "pack"
)

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "ffconvert",
		Short: "Turn datasets into FFRecord shards and prove that nothing was lost",
		Long: `Turn machine-learning datasets into FFRecord shards of even size, each re-read from
the device and checked, with a manifest that accounts for every entry of the input.

` + exitStatus,
		Example: `  ffconvert tar 'shards-<000..009>.tar' out/
  ffconvert folder imagenet/train out/
  ffconvert verify out/
  ffconvert inspect out/`,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRun: func(cmd *cobra.Command, _ []string) {
			stopperOf(cmd.Context()).telling(signalTeller(progressMode(cmd), os.Stderr))
		},
	}
	root.AddGroup(&cobra.Group{ID: groupConvert, Title: "Convert a dataset:"}, &cobra.Group{ID: groupTasks, Title: "Convert on many machines:"}, &cobra.Group{ID: groupLook, Title: "Look at shards:"},
		&cobra.Group{ID: groupPack, Title: "A folder in one file:"})
	for _, f := range formats {
		root.AddCommand(newConvertCommand(f, nil))
	}
	grouped := func(id string, commands ...*cobra.Command) {
		for _, c := range commands {
			c.GroupID = id
			root.AddCommand(c)
		}
	}
	root.AddCommand(newSpecCommand())
	grouped(groupTasks, newPlanCommand(), newRunCommand(), newStatusCommand(), newFinishCommand())
	grouped(groupConvert, newCheckCommand(), newFormatsCommand(), newCacheCommand())
	grouped(groupLook, newVerifyCommand(), newRepairCommand(), newInspectCommand(), newBenchCommand())
	grouped(groupPack, newPackCommand(), newUnpackCommand(), newListCommand(), newCatCommand())
	root.AddCommand(newVersionCommand(), newManCommand())
	root.InitDefaultCompletionCmd("completion")
	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			documentCompletion(c)
		}
	}
	return root
}

// documentCompletion gives the commands that cobra makes what ours have.
func documentCompletion(c *cobra.Command) {
	c.Long += "\n\n" + exitStatus
	if c.Example == "" {
		c.Example = "  source <(ffconvert completion bash)"
	}
	for _, shell := range c.Commands() {
		documentCompletion(shell)
	}
}

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Long:    "Print the version of the program, of Go, and of the system it was built for.\n\n" + exitStatus,
		Example: "  ffconvert version",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "ffconvert %s%s %s %s/%s\n", version, revision(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}

// revision is the commit that the program was built from, where the build knows it.
func revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return " (" + s.Value[:min(12, len(s.Value))] + ")"
		}
	}
	return ""
}
