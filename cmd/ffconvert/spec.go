package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/input"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// specFormat is what a plan calls a dataset that is mixed. No format has that name: it is a
// command's.
const specFormat = "spec"

// newSpecCommand returns the command; adapt, which may be nil, is called on each run of it before
// it starts.
func newSpecCommand(adapt func(*conversion)) *cobra.Command {
	opts := newConvertOptions()
	limits := formatLimits()
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
		GroupID: groupConvert,
		Args:    wantArgs,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	opts.add(flags)
	cmd.MarkFlagsMutuallyExclusive("exact", "whole-parts")
	opts.addCache(flags)
	opts.addDecompression(flags)
	opts.remote.add(flags)
	flags.AddFlagSet(limits)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		spec, err := readSpecification(args[0])
		if err != nil {
			return err
		}
		m := &mixture{spec: spec}
		if err := m.setLimits(limits); err != nil {
			return err
		}
		if !flags.Changed("seed") && spec.seed != nil {
			opts.seed = *spec.seed
		}
		if !flags.Changed("shuffle") {
			opts.shuffle = spec.shuffle
		}
		if err := opts.refuseSeed(flags, opts.shuffle || spec.drawn()); err != nil {
			return err
		}
		if spec.drawn() {
			spec.Seed = opts.seed
		}
		text, err := spec.text()
		if err != nil {
			return err
		}
		c := conversion{
			format: format{name: specFormat}, data: m, mix: m, opts: opts,
			spec:  plan.SourceSpec{Format: specFormat, Options: map[string]string{plan.OptionSpec: text}},
			names: args[:1], out: args[1], stdout: cmd.OutOrStdout(),
		}
		if adapt != nil {
			adapt(&c)
		}
		return c.run(cmd.Context())
	}
	return cmd
}

func readSpecification(name string) (*specification, error) {
	refuse := func(err error) error { return &converters.Error{Where: name, Off: -1, Err: err} }
	f, err := os.Open(name)
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, refuse(failed.Err)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.IsDir() {
		return nil, refuse(fmt.Errorf("%w: a directory, where a YAML file is wanted", converters.ErrUnsupported))
	}
	data, err := io.ReadAll(io.LimitReader(f, maxSpecSize+1))
	if err != nil {
		return nil, err
	}
	return parseSpecification(name, data)
}

// text is the specification as a plan keeps it: without the secrets of URLs.
func (s *specification) text() (string, error) {
	kept := *s
	kept.Collections = slices.Clone(s.Collections)
	for i := range kept.Collections {
		c := &kept.Collections[i]
		c.Shards = slices.Clone(c.Shards)
		for j, name := range c.Shards {
			c.Shards[j] = input.Shown(name)
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(&kept)
	return string(bytes.TrimSpace(b.Bytes())), err
}

// keptSpecification reads what a plan keeps. It may be hostile: it is held to what a file is
// held to.
func keptSpecification(options map[string]string) (*specification, error) {
	text, ok := options[plan.OptionSpec]
	if !ok || len(options) != 1 {
		return nil, errors.New("it has no specification alone")
	}
	if len(text) > 8*maxPatterns { // a byte may take six
		return nil, errors.New("its specification is too large")
	}
	dec := json.NewDecoder(bytes.NewReader([]byte(text)))
	dec.DisallowUnknownFields()
	s := &specification{}
	if err := dec.Decode(s); err != nil {
		return nil, err
	}
	if n := len(s.Collections); n == 0 || n > maxCollections || dec.More() {
		return nil, fmt.Errorf("its specification has %d collections", n)
	}
	for i := range s.Collections {
		c := &s.Collections[i]
		c.where = fmt.Sprintf("collection %d", i+1)
		if key, err := c.settle(); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", c.where, key, err)
		}
	}
	return s, nil
}

// setLimits sets the limits that were given in all of the flags that have them. what says
// who has "no such limit" where none has.
func setLimits(limits *pflag.FlagSet, own []*pflag.FlagSet, what string) error {
	var err error
	limits.VisitAll(func(flag *pflag.Flag) {
		if !flag.Changed || err != nil {
			return
		}
		known := false
		for _, flags := range own {
			if err == nil && flags.Lookup(flag.Name) != nil {
				known = true
				err = flags.Set(flag.Name, flagText(flag))
			}
		}
		if !known {
			err = fmt.Errorf("--%s: %s no such limit", flag.Name, what)
		}
	})
	return err
}
