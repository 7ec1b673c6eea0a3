package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
	"github.com/ffconvert/ffconvert/internal/text"
)

// devVersion is the version of a program that is not built from a tag.
const devVersion = "v0.1.0-dev"

var (
	build   = readBuild()
	version = versionOf(build)
)

// tool names the program in manifests.
func tool() string { return "ffconvert " + version }

// readBuild returns what the go command wrote into the program.
func readBuild() *debug.BuildInfo {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info
	}
	return &debug.BuildInfo{}
}

// released matches the tags of releases. The go command also makes up versions: v0.1.1-0.20261123050600-4ab0858c0de1 of a
// commit behind a tag, v0.1.0+dirty of files that are not committed.
var released = text.Pattern(`^v\d+\.\d+\.\d+(-rc\.?\d+)?$`)

// versionOf returns the tag that a program was built from, which the go command finds in the repository or
// in the module's name, or devVersion.
func versionOf(info *debug.BuildInfo) string {
	if released().MatchString(info.Main.Version) {
		return info.Main.Version
	}
	return devVersion
}

// revisionOf returns the commit that a program was built from, in brackets, or "".
func revisionOf(info *debug.BuildInfo) string {
	commit, more := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			more = ", modified"
		}
	}
	if commit == "" {
		return ""
	}
	return " (" + commit + more + ")"
}

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Long:    "Print the version of the program, of Go, and of the system it was built for.\n\n" + exitStatus,
		Example: "  ffconvert version",
		Args:    cliflag.WantArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return printVersion(cmd) },
	}
}

func printVersion(cmd *cobra.Command) error {
	_, err := fmt.Fprint(cmd.OutOrStdout(), versionLine())
	return err
}

func versionLine() string {
	return fmt.Sprintf("ffconvert %s%s %s %s/%s\n", version, revisionOf(build), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
