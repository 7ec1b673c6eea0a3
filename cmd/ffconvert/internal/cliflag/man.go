package cliflag

import (
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
)

// WritePages writes a manual page for root and each subcommand into dir, and makes dir if it is
// missing.
func WritePages(root *cobra.Command, tool, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root.DisableAutoGenTag = true // a page does not depend on the day it is made
	escapePages(root)
	return doc.GenManTree(root, &doc.GenManHeader{Title: "FFCONVERT", Section: "1", Source: tool}, dir)
}

// plainMarkdown escapes the characters that have a meaning in Markdown.
var plainMarkdown = strings.NewReplacer(`\`, `\\`, "<", `\<`, "_", `\_`, "*", `\*`, "`", "\\`")

// escapePages escapes the texts of cmd and its subcommands, which cobra reads as Markdown. Indented
// lines become blocks of code, which keep their line breaks.
func escapePages(cmd *cobra.Command) {
	var lines []string
	for line := range strings.SplitSeq(cmd.Long, "\n") {
		if strings.HasPrefix(line, " ") {
			line = "   " + line // four columns: a block of code
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

func escapeFlag(f *pflag.Flag) {
	if v, ok := f.Value.(*merged); ok {
		for _, name := range v.names {
			f.Usage += "; " + name + "=: " + v.flags.Lookup(v.members[name]).Usage
		}
	}
	f.Usage = plainMarkdown.Replace(f.Usage)
}
