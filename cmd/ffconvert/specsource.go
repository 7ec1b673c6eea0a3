package main

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/spf13/pflag"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/mix"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/input"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A mixture is an openable of several collections. It finds and stages its own inputs, since
// what a name stands for is a matter of its format.
type mixture struct {
	spec     *specification
	found    []int  // how many inputs each collection has
	parts    []int  // how many parts each has that was opened
	encoding string // of the records of those that were opened
}

// find finds the inputs of all collections, one behind the other.
func (m *mixture) find(ctx context.Context, in input.Options) ([]input.Name, error) {
	var all []input.Name
	m.found = nil
	in.Stdin = noInput{} // of a file, or a plan, nobody knows who should write there
	total := int64(0)
	for i := range m.spec.Collections {
		c := &m.spec.Collections[i]
		in.Directories, in.Match, in.Arrange = c.format.directories, c.format.isPart, nil
		if a, ok := c.data.(arranger); ok {
			in.Arrange = a.arrange
		}
		found, err := input.Find(ctx, c.Shards, in)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.where, err)
		}
		for _, n := range found {
			if n.Name == "-" && n.Path == "" {
				return nil, fmt.Errorf("%s: %w", c.where, &converters.Error{Where: "-", Off: -1, Err: fmt.Errorf("%w: standard input cannot be mixed", converters.ErrUnsupported), Hint: "write it to a file first"})
			}
		}
		m.found = append(m.found, len(found))
		all = append(all, found...)
		total += int64(len(found)) * int64(mix.Collection{Times: c.Times}.Passes())
		if most := cmp.Or(in.MaxNames, input.MaxNames); total > most {
			return nil, fmt.Errorf("%s: with all repetitions there are more than %d inputs (--max-names)", c.where, most)
		}
	}
	return all, nil
}

// passes returns the inputs as they come in the dataset, again for each pass over a
// collection, and which of these is the first of each collection.
func (m *mixture) passes(found []input.Name) (all []input.Name, firsts []int) {
	for i, names := range split(m, found) {
		firsts = append(firsts, len(all))
		for range (mix.Collection{Times: m.spec.Collections[i].Times}).Passes() {
			all = append(all, names...)
		}
	}
	return all, firsts
}

// noInput is standard input where there is none.
type noInput struct{}

func (noInput) Read([]byte) (int, error) {
	return 0, fmt.Errorf("%w: a specification takes nothing from standard input", converters.ErrUnsupported)
}

// split gives each collection its own of the inputs that were found.
func split[T any](m *mixture, all []T) [][]T {
	each := make([][]T, len(m.found))
	for i, n := range m.found {
		each[i], all = all[:n:n], all[n:]
	}
	return each
}

// directories returns those of the inputs that are directories.
func (m *mixture) directories(found []input.Name) []input.Name {
	var dirs []input.Name
	for i, names := range split(m, found) {
		if m.spec.Collections[i].format.directories {
			dirs = append(dirs, names...)
		}
	}
	return dirs
}

// partNames returns the names that the parts will have; nil where directories are among
// them, whose parts are not known yet.
func (m *mixture) partNames(found []input.Name) []string {
	var names []string
	for i, some := range split(m, found) {
		c := &m.spec.Collections[i]
		if c.format.directories {
			return nil
		}
		for range (mix.Collection{Times: c.Times}).Passes() {
			for _, n := range some {
				names = append(names, n.Name)
			}
		}
	}
	return names
}

// stage makes all inputs local files, but for local directories.
func (m *mixture) stage(ctx context.Context, found []input.Name, in input.Options) (*input.Set, error) {
	var files []input.Name
	each := split(m, found)
	local := func(i int, n input.Name) bool { return m.spec.Collections[i].format.directories && n.Tree == nil }
	for i, names := range each {
		for _, n := range names {
			if !local(i, n) {
				files = append(files, n)
			}
		}
	}
	set, err := input.Open(ctx, files, in)
	if err != nil {
		return nil, err
	}
	staged := set.Files
	set.Files = nil
	for i, names := range each {
		for _, n := range names {
			f := input.File{Name: n.Name, Path: n.Path}
			if !local(i, n) {
				f, staged = staged[0], staged[1:]
			}
			set.Files = append(set.Files, f)
		}
	}
	return set, nil
}

// open opens all collections. Records are what the one format makes of them where there is
// one, with the same options for all; else MessagePack, which can hold any sample.
func (m *mixture) open(ctx context.Context, parts []converters.Part, rec encode.Options) (converters.Source, error) {
	src, same, err := m.openAs(ctx, parts, rec)
	if err == nil && rec.Encoding == "" && !same {
		rec.Encoding = "msgpack"
		src, _, err = m.openAs(ctx, parts, rec)
	}
	if err == nil {
		m.encoding = cmp.Or(rec.Encoding, encodingOf(src))
	}
	return src, err
}

// openAs opens all collections for records of one encoding, and reports whether they agree
// on one where none is given.
func (m *mixture) openAs(ctx context.Context, parts []converters.Part, rec encode.Options) (src converters.Source, same bool, err error) {
	var all []mix.Collection
	m.parts = nil
	same = true
	for i, parts := range split(m, parts) {
		c := &m.spec.Collections[i]
		src, err := c.data.open(ctx, parts, c.records(rec))
		if err != nil {
			return nil, false, fmt.Errorf("%s: %w", c.where, err)
		}
		all = append(all, mix.Collection{Name: c.where, Source: src, Times: c.Times})
		m.parts = append(m.parts, len(src.Parts()))
		how := encodingOf(src)
		same = same && how == encodingOf(all[0].Source) && (how == "msgpack" || c.like(&m.spec.Collections[0]))
	}
	if src, err = mix.Open(all, m.spec.Seed); err != nil {
		return nil, false, err
	}
	return src, same && encodingOf(src) == encodingOf(all[0].Source), nil
}

// like reports whether two collections make the same records of the same files.
func (c *collection) like(d *collection) bool {
	return c.Format == d.Format && c.Fields == d.Fields && slices.Equal(c.Rename, d.Rename) && reflect.DeepEqual(c.Options, d.Options)
}

// records returns how the records of the collection are encoded: what it says of fields
// goes before what is said of all.
func (c *collection) records(rec encode.Options) encode.Options {
	if c.Fields != "" {
		rec.Fields = c.Fields
	}
	if c.Rename != nil {
		rec.Rename = c.Rename
	}
	return rec
}

// encodingOf is how a source proposes to encode its records.
func encodingOf(src converters.Source) string {
	d, ok := src.(converters.Describer)
	if !ok {
		return "msgpack"
	}
	return cmp.Or(d.Describe().Encoding, "msgpack")
}

// encodings says how the records of each part are encoded, where all is how those are whose
// collection says nothing of its fields.
func (m *mixture) encodings(all *encode.Spec) (plan.Encodings, error) {
	enc := plan.Encodings{Specs: []*encode.Spec{all}}
	for i := range m.spec.Collections {
		c := &m.spec.Collections[i]
		own, err := encode.Parse(c.records(all.Options()))
		if err != nil {
			return enc, fmt.Errorf("%s: %w", c.where, err)
		}
		n := slices.IndexFunc(enc.Specs, func(s *encode.Spec) bool { return reflect.DeepEqual(s.Options(), own.Options()) })
		if n < 0 {
			n = len(enc.Specs)
			enc.Specs = append(enc.Specs, own)
		}
		for range m.parts[i] * (mix.Collection{Times: c.Times}).Passes() {
			enc.Of = append(enc.Of, n)
		}
	}
	return enc, nil
}

// setLimits sets the limits that were given in all collections whose formats have them.
func (m *mixture) setLimits(limits *pflag.FlagSet) error {
	var own []*pflag.FlagSet
	for i := range m.spec.Collections {
		own = append(own, m.spec.Collections[i].flags)
	}
	return setLimits(limits, own, "the formats of the specification have")
}
