package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/tar"
)

// A format is one kind of dataset that can be converted. It becomes a command.
type format struct {
	name    string
	source  string // the sources, in a usage line
	short   string // one line of help
	long    string
	example string
	match   func(name string) bool      // which files of a directory are inputs
	flags   func(*pflag.FlagSet) opener // adds the format's own flags
}

// An opener opens the parts of a dataset once the flags are set.
type opener func(parts []converters.Part) (converters.Source, error)

// formats is the one table of source formats. A new format is a package and a row.
var formats = []format{
	{
		name:   "tar",
		source: "TAR...",
		short:  "WebDataset tars",
		long: `Convert WebDataset tars. Consecutive members that share a key, their path up to the
first dot of the base name, are one sample; what follows the dot names the field.`,
		example: `  ffconvert tar 'shards-<000..009>.tar' out/
  ffconvert tar --fields 'jpg;png,cls' --shuffle --seed 7 train/*.tar.gz out/
  ffconvert tar --encode raw:jpg --shard-size 1GiB tars/ out/
  zstdcat big.tar.zst | ffconvert tar - out/`,
		match: isTarName,
		flags: tarFlags,
	},
}

// isTarName tells the tars of a directory, compressed ones too.
func isTarName(name string) bool {
	name = strings.ToLower(name)
	for _, ext := range []string{".tar", ".tgz", ".tzst", ".tbz2", ".txz"} {
		if strings.HasSuffix(name, ext) || ext == ".tar" && strings.Contains(name, ".tar.") {
			return true
		}
	}
	return false
}

func tarFlags(flags *pflag.FlagSet) opener {
	var opts tar.Options
	maxSample := sizeValue(tar.DefaultMaxSample)
	duplicates := choiceValue{value: "error", choices: []string{"error", "keep"}}
	flags.BoolVar(&opts.AllowMissingTrailer, "allow-missing-trailer", false, "accept a tar that ends at a member without the two zero blocks")
	flags.BoolVar(&opts.Concatenated, "concatenated", false, "read on where another tar was appended to a tar")
	flags.Var(&duplicates, "on-duplicate-key", "what to do when a key comes back later in one tar: error or keep")
	flags.Var(&maxSample, "max-sample-size", "largest sample accepted, in bytes or with a unit")
	return func(parts []converters.Part) (converters.Source, error) {
		opts.KeepDuplicates = duplicates.value == "keep"
		opts.MaxSample = int64(maxSample)
		return tar.Open(parts, opts), nil
	}
}

func newFormatsCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "formats",
		Short:   "List the source formats",
		Long:    "List the source formats that this program converts, a line each.\n\n" + exitStatus,
		Example: "  ffconvert formats",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, f := range formats {
				if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%-8s %s\n", f.name, f.short); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
