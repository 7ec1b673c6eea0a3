package main

import (
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
)

func newManCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "man DIR",
		Short:   "Write the manual pages",
		Long:    "Write a manual page for each command into DIR, which is made where it is not there.\n\n" + exitStatus,
		Example: "  ffconvert man /usr/local/share/man/man1",
		Args:    wantArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true // a page does not depend on the day it is made
			escapePages(root)
			return doc.GenManTree(root, &doc.GenManHeader{Title: "FFCONVERT", Section: "1", Source: "ffconvert " + version}, args[0])
		},
	}
}

// plainMarkdown keeps what Markdown would take for more than text.
var plainMarkdown = strings.NewReplacer("<", `\<`, "_", `\_`, "*", `\*`, "`", "\\`")

// escapePages makes the texts of a command, and of those below it, the Markdown of which cobra
// makes its pages: a line that is indented stays a line.
func escapePages(cmd *cobra.Command) {
	var lines []string
	for line := range strings.SplitSeq(cmd.Long, "\n") {
		if strings.HasPrefix(line, " ") {
			line = "   " + line // four columns make a block
		} else {
			line = plainMarkdown.Replace(line)
		}
		lines = append(lines, line)
	}
	cmd.Long = strings.Join(lines, "\n")
	cmd.LocalNonPersistentFlags().VisitAll(escapeFlag)
	cmd.PersistentFlags().VisitAll(escapeFlag)
	for _, c := range cmd.Commands() {
		escapePages(c)
	}
}

func escapeFlag(f *pflag.Flag) { f.Usage = plainMarkdown.Replace(f.Usage) }
