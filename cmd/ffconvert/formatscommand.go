package main

import (
	"fmt"
	"maps"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

func newFormatsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "formats",
		Short: "List the source formats",
		Long: `List the source formats that this program converts, a line each: those built in, then the
executables on PATH whose names begin with ffconvert-.

` + exitStatus,
		Example: "  ffconvert formats",
		Args:    wantArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			t := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			for _, f := range formats {
				fmt.Fprintf(t, "%s\t%s\n", f.Name, f.short)
			}
			plugins := findPlugins(cmd.Root())
			for _, name := range slices.Sorted(maps.Keys(plugins)) {
				fmt.Fprintf(t, "%s\t%s\n", name, plugins[name])
			}
			return t.Flush()
		},
	}
}
