package help

import (
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
)

// WritePages writes a page for root and each command below it into dir, and makes dir if it is
// missing.
func WritePages(root *cobra.Command, tool, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root.DisableAutoGenTag = true // a page does not depend on the day it is made
	escapePages(root)
	return doc.GenManTree(root, &doc.GenManHeader{Title: "FFCONVERT", Section: "1", Source: tool}, dir)
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
