package main

import (
	"github.com/spf13/cobra"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/help"
)

func newManCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "man DIR",
		Short:   "Write the manual pages",
		Long:    "Write a manual page for each command into DIR, which is made where it is not there.\n\n" + exitStatus,
		Example: "  ffconvert man /usr/local/share/man/man1",
		Args:    help.WantArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return help.WritePages(cmd.Root(), tool(), args[0])
		},
	}
}
