// Package help prints the help and the manual pages of the commands, completes their flags in a
// shell, and explains mistakes in the arguments.
package help

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// Width is the most columns of a line of help.
const Width = 80

// withoutStatus are the commands that, with their subcommands, list the exit statuses only in their
// manual pages, not in their help.
var withoutStatus = []string{"bench", "cache", "cat", "completion", "formats", "get", "help", "inspect", "ls", "man", "version"}

// Text returns the help of a command. all includes limits and rarely used flags.
func Text(cmd *cobra.Command, all bool) string {
	long, status, _ := strings.Cut(cmd.Long, "\n\nEXIT STATUS\n")
	var b strings.Builder
	b.WriteString(fillText(strings.TrimRight(long, "\n"), Width) + "\n\nUsage:\n")
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s COMMAND\n", cmd.CommandPath())
	}
	if !cmd.HasAvailableSubCommands() || strings.Contains(cmd.Use, " ") {
		fmt.Fprintf(&b, "  %s\n", strings.TrimSuffix(cmd.UseLine(), " [flags]"))
	}
	if cmd.Example != "" {
		b.WriteString("\nExamples:\n" + cmd.Example + "\n")
	}
	b.WriteString(commandsHelp(cmd))
	flags, more := flagsHelp(cmd, all, Width)
	b.WriteString(flags)
	if more {
		fmt.Fprintf(&b, "\nLimits and flags that few need: %s --help-all\n", cmd.CommandPath())
	}
	if status != "" && !leavesStatus(cmd) {
		b.WriteString("\nExit status:\n" + strings.TrimLeft(status, "\n") + "\n")
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\nMore of a command: %s COMMAND --help\n", cmd.CommandPath())
	}
	return b.String()
}

// leavesStatus reports whether withoutStatus has cmd or one of its parents.
func leavesStatus(cmd *cobra.Command) bool {
	for c := cmd; c != nil; c = c.Parent() {
		if slices.Contains(withoutStatus, c.Name()) {
			return true
		}
	}
	return false
}

// commandsHelp lists the subcommands of cmd by group.
func commandsHelp(cmd *cobra.Command) string {
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
			fmt.Fprintf(&b, "  %-*s  %s\n", width, c.Name(), c.Short)
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
