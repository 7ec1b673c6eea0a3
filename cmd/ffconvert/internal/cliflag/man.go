package cliflag

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// WritePages writes a manual page for cmd and each subcommand into dir, and makes dir if it is missing. The pages do not
// depend on the day: tool is the program and its version.
func WritePages(cmd *cobra.Command, tool, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return writePages(root, cmd, tool)
}

func writePages(dir *os.Root, cmd *cobra.Command, tool string) error {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			if err := writePages(dir, c, tool); err != nil {
				return err
			}
		}
	}
	return dir.WriteFile(pageName(cmd)+".1", []byte(page(cmd, tool)), 0o644)
}

func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// page returns the manual page of a command, in the macros of man(7).
func page(cmd *cobra.Command, tool string) string {
	long, status, _ := strings.Cut(cmd.Long, "EXIT STATUS\n")
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"%s\"\n", roff(strings.ToUpper(pageName(cmd))), roff(tool))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n.SH SYNOPSIS\n\\fB%s\\fP\n", roff(pageName(cmd)), roff(cmd.Short), roff(cmd.UseLine()))
	b.WriteString(".SH DESCRIPTION\n" + paragraphs(long))
	if cmd.HasAvailableLocalFlags() {
		b.WriteString(".SH OPTIONS\n" + flagsOf(cmd.NonInheritedFlags()))
	}
	if cmd.HasAvailableInheritedFlags() {
		b.WriteString(".SH OPTIONS OF ALL COMMANDS\n" + flagsOf(cmd.InheritedFlags()))
	}
	if cmd.Example != "" {
		b.WriteString(".SH EXAMPLES\n" + paragraphs(cmd.Example))
	}
	if status != "" {
		b.WriteString(".SH EXIT STATUS\n" + paragraphs(status))
	}
	var others []string
	if cmd.HasParent() {
		others = append(others, pageName(cmd.Parent()))
	}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			others = append(others, pageName(c))
		}
	}
	if len(others) > 0 {
		b.WriteString(".SH SEE ALSO\n\\fB" + roff(strings.Join(others, "(1), ")) + "(1)\\fP\n")
	}
	return b.String()
}

// flagsOf returns a paragraph for each flag that is shown.
func flagsOf(flags *pflag.FlagSet) string {
	var b strings.Builder
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		name, usage := "--"+f.Name, f.Usage
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		if f.NoOptDefVal == "" {
			name += "=" + f.DefValue
		}
		if v, ok := f.Value.(*merged); ok {
			for _, member := range v.names {
				usage += "; " + member + "=: " + v.flags.Lookup(v.members[member]).Usage
			}
		}
		fmt.Fprintf(&b, ".TP\n\\fB%s\\fP\n%s\n", roff(name), roff(usage))
	})
	return b.String()
}

// paragraphs returns text with its paragraphs. Lines that begin with a space keep their breaks.
func paragraphs(text string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(strings.Trim(text, "\n"), "\n") {
		switch {
		case line == "":
			b.WriteString(".PP\n")
		case line[0] == ' ':
			b.WriteString(".nf\n" + roff(line) + "\n.fi\n")
		default:
			b.WriteString(roff(line) + "\n")
		}
	}
	return strings.ReplaceAll(b.String(), ".fi\n.nf\n", "")
}

var roffEscapes = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n.", "\n\\&.", "\n'", "\n\\&'")

// roff escapes text, which may have several lines.
func roff(text string) string { return strings.TrimPrefix(roffEscapes.Replace("\n"+text), "\n") }
