package cliflag

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// Help returns the help of a command, in lines of at most width columns. all includes every flag, the whole description, and
// the exit statuses.
func Help(cmd *cobra.Command, all bool, width int) string {
	long, status, _ := strings.Cut(cmd.Long, "\n\nEXIT STATUS\n")
	if !all {
		long, _, _ = strings.Cut(long, "\n\n")
	}
	var b strings.Builder
	b.WriteString(fillText(strings.TrimRight(long, "\n"), width) + "\n\nUsage:\n")
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s COMMAND\n", cmd.CommandPath())
	}
	if !cmd.HasAvailableSubCommands() || strings.Contains(cmd.Use, " ") {
		fmt.Fprintf(&b, "  %s\n", strings.TrimSuffix(cmd.UseLine(), " [flags]"))
	}
	if cmd.Example != "" {
		b.WriteString("\nExamples:\n" + cmd.Example + "\n")
	}
	b.WriteString(commandsHelp(cmd, width))
	b.WriteString(flagsHelp(cmd, all, width))
	if all && status != "" {
		b.WriteString("\nExit status:\n" + strings.TrimLeft(status, "\n") + "\n")
	}
	if !all {
		fmt.Fprintf(&b, "\nMore: %s --help-all\n", cmd.CommandPath())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "More of a command: %s COMMAND --help\n", cmd.CommandPath())
	}
	return b.String()
}

// commandsHelp lists the subcommands of cmd by group.
func commandsHelp(cmd *cobra.Command, columns int) string {
	width := 0
	for _, c := range cmd.Commands() {
		width = max(width, len(c.Name()))
	}
	var b strings.Builder
	list := func(title, group string) {
		began := false
		for _, c := range cmd.Commands() {
			if c.GroupID != group || !c.IsAvailableCommand() && c.Name() != "help" {
				continue
			}
			if !began {
				b.WriteString("\n" + title + "\n")
				began = true
			}
			b.WriteString(shorten(fmt.Sprintf("  %-*s  %s", width, c.Name(), c.Short), columns) + "\n")
		}
	}
	for _, g := range cmd.Groups() {
		list(g.Title, g.ID)
	}
	if len(cmd.Groups()) > 0 {
		list("Others:", "")
	} else {
		list("Commands:", "")
	}
	return b.String()
}

// fillText wraps paragraphs at width columns. Lines that begin with a space are not changed.
func fillText(text string, width int) string {
	var lines []string
	room := 0 // columns left in the last line; 0: the next word begins a line
	for line := range strings.SplitSeq(text, "\n") {
		if line == "" || line[0] == ' ' {
			lines, room = append(lines, line), 0
			continue
		}
		for word := range strings.FieldsSeq(line) {
			if n := len([]rune(word)); room > n {
				lines[len(lines)-1] += " " + word
				room -= n + 1
			} else {
				lines, room = append(lines, word), width-n
			}
		}
	}
	return strings.Join(lines, "\n")
}
