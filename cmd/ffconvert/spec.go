package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/ffconvert/ffconvert/cmd/ffconvert/internal/cliflag"
	"github.com/ffconvert/ffconvert/internal/samples/spec"
)

// newSpecCommand returns the command. adapt, if not nil, may change each conversion before it runs.
func newSpecCommand(adapt func(*conversion)) *cobra.Command {
	opts := cliflag.NewConversion()
	limits := cliflag.Limits()
	cmd := &cobra.Command{
		Use:   "spec FILE OUT",
		Short: "Convert several collections that a YAML file names, mixed",
		Long: `Make one dataset of the collections that FILE names, in their order or shuffled together.
FILE is YAML, in the shape of WebDataset's: a list of collections below dataset:, each with
the patterns of its shards.

  prefix: /data/                  # stands before all patterns
  seed: 7                         # of --shuffle, and of what is drawn
  dataset:
    - shards: photos-{000..099}.tar
    - shards: [drawings.tar, noise/]
      fraction: 0.25              # a drawn quarter of the samples
    - shards: rare.tar
      repeat: 2.5                 # all of them twice, and a drawn half
      rename: {image: jpg;png}    # as --rename, and fields: as --fields
    - format: csv                 # a name of ffconvert formats; default tar
      shards: points/
      options: {header: true}     # the format's own flags

Samples that are not drawn are counted as skipped. What an entry says of fields goes before
--fields and --rename, and --seed and --shuffle before what FILE says. Limits are flags alone.
docs/spec.md has all keys, docs/dataset.schema.json the JSON Schema.

` + outputHelp + "\n\n" + exitStatus,
		Example: `  ffconvert spec dataset.yaml out/
  ffconvert spec --shuffle --seed 7 --encode cbor dataset.yaml out/
  ffconvert spec --dry-run dataset.yaml out/`,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	opts.AddTo(cmd)
	opts.AddDecompression(flags)
	opts.Place.AddSources(flags, true)
	flags.AddFlagSet(limits)
	var file *spec.Spec
	cmd.Args = func(cmd *cobra.Command, args []string) (err error) { // before flags are checked against each other
		if err := cliflag.WantArgs(cmd, args); err != nil {
			return err
		}
		if file, err = spec.Read(args[0]); err != nil {
			return err
		}
		for name, value := range file.Asked {
			if !flags.Changed(name) {
				err = errors.Join(err, flags.Lookup(name).Value.Set(value))
			}
		}
		if file.Drawn() {
			file.Seed, flags.Lookup("seed").Changed = opts.Seed, false // it needs no other flag
		}
		return err
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c := conversion{opts: opts, stdout: cmd.OutOrStdout()}
		c.Spec, c.Limits, c.Sources, c.Out = file, cliflag.Changed(limits), args[:1], args[1]
		if adapt != nil {
			adapt(&c)
		}
		return c.run(cmd.Context())
	}
	return cmd
}
