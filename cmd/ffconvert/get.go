package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/look"
	"github.com/ffconvert/ffconvert/internal/option"
)

func newGetCommand() *cobra.Command {
	g := look.Getter{Format: option.Choice{Value: "record", Words: []string{"record", "text", "json"}}}
	cmd := &cobra.Command{
		Use:   "get OUT|FILE KEY|#N [FIELD]",
		Short: "Write one sample, or a field of it, to standard output",
		Long: `Write the record of one sample to standard output, or one of its fields: text as UTF-8, a
number in decimal, lists and maps as JSON. The sample is named by its key, or by its number in
the dataset, from #0 on. Its bytes are compared with their checksum before the first is written, and
its key with the key in the record or, of a record without one, the index with its checksum.

--format text shows the fields, --format json has all of them in a line; bytes are base64 there.
Bytes that are not text are not written to a terminal unless --force is given.

A search for a key reads the keys of all samples, some 10 ms a million samples of a local dataset. It
fetches all indexes of a dataset in an object store.

` + exitStatus,
		Example: `  ffconvert get out/ train/000017 jpg > 17.jpg
  ffconvert get out/ '#17' --format text
  ffconvert get other.ffr '#0' | xxd | head`,
		Args: cliflag.WantArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			for i, name := range []string{"KEY", "FIELD"}[:len(args)-1] {
				if args[i+1] == "" { // as of a variable that is not set; samples without a key have numbers
					return fmt.Errorf("get: %s is empty: want ffconvert %s", name, cmd.Use)
				}
			}
			if g.Out = cmd.OutOrStdout(); len(args) == 3 {
				g.Field = args[2]
			}
			return g.Run(cmd.Context(), args[0], args[1])
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.Var(&g.Format, "format", "output: record (or the field alone), text, or json")
	flags.BoolVar(&g.All, "all", false, "write all samples that have the key, one behind the other")
	flags.BoolVar(&g.ByKey, "by-key", false, "take a word that looks like #N for a key")
	flags.BoolVar(&g.Force, "force", false, "write bytes that are not text to a terminal, too")
	g.Add(flags)
	return cmd
}
