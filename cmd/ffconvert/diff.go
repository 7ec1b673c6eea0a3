package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/look"
	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/internal/text"
)

func newDiffCommand() *cobra.Command {
	diff := look.Differ{Format: formatValue(), By: option.Choice{Words: []string{"key", "number"}}}
	cmd := &cobra.Command{
		Use:   "diff A B",
		Short: "Compare the samples of two datasets",
		Long: `Compare the samples of two datasets, or two shards: which were added, removed or changed, a line
each, and a summary. Samples are told by their keys, wherever they are; those of one key in their
order. Datasets without keys are compared sample by sample.

A sample is changed if the size or the CRC-32 of its record, or its label, is another one: indexes
and headers say so, and no record is read. Where the records are of different encodings, or with
--decode, all records are read, checked and decoded, and their fields compared.

Memory: 48 bytes a sample of A, of 4,194,304 at once, and a bit a sample of B.

` + exitStatus,
		Example: `  ffconvert diff out/ out2/
  ffconvert diff --decode msgpack/ cbor/
  ffconvert diff out/ out2/ --format json | jq -r 'select(.change=="added").key'`,
		Args: cliflag.WantArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			same, err := diff.Run(cmd.Context(), args[0], args[1], cmd.OutOrStdout())
			if err == nil && !same {
				err = &refusal{fmt.Sprintf("%s and %s differ", text.Name(args[0]), text.Name(args[1])), exitDiffers}
			}
			return err
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.Var(&diff.Format, "format", "output: text, or json with an object a line")
	flags.Var(&diff.By, "by", "what tells samples apart: key or number (default: key where there are keys)")
	flags.BoolVar(&diff.Decode, "decode", false, "compare fields, and not the bytes of records")
	diff.Add(flags)
	return cmd
}
