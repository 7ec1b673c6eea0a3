package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
)

// A command line that names a command has it alone, with the help that it has among all others.
func TestOneCommand(t *testing.T) {
	t.Parallel()
	help := func(args []string) (string, *cobra.Command) {
		root := newRootCommand(args...)
		c, _, err := root.Find(args)
		if err != nil {
			t.Fatal(err)
		}
		return cliflag.Help(c, true, 80), root
	}
	for _, c := range allCommands(nil) {
		if made := c.make(); made.Name() != c.name {
			t.Errorf("the command %s is called %s", c.name, made.Name())
		}
	}
	commands(func(c *cobra.Command) {
		args := strings.Fields(c.CommandPath())[1:]
		if len(args) == 0 || args[0] == "help" || args[0] == "completion" {
			return
		}
		got, root := help(append(args, "x"))
		if want := cliflag.Help(c, true, 80); c.Runnable() && !c.HasSubCommands() && got != want {
			t.Errorf("%q, help:\n%s\nwant\n%s", args, got, want)
		}
		if n := len(root.Commands()); n != 1 {
			t.Errorf("%q makes %d commands", args, n)
		}
	})
}
