package main

import (
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
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
			return doc.GenManTree(root, &doc.GenManHeader{Title: "FFCONVERT", Section: "1", Source: "ffconvert " + version}, args[0])
		},
	}
}
