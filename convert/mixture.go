package convert

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/convert/format"
	"github.com/ffconvert/ffconvert/convert/option"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/samples/spec"
	"github.com/ffconvert/ffconvert/internal/stage"
	"github.com/ffconvert/ffconvert/internal/text"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// SpecFormat is the format of a mixture in a plan. No format has that name.
const SpecFormat = "spec"

// A mixture makes one dataset of several collections. It finds and stages its own inputs, because
// the format of a collection decides how its names are read.
type mixture struct {
	spec    *spec.Spec
	readers []*format.Reader // one for each collection
	found   []int            // number of inputs of each collection
}

// NewMixture looks up the formats of a specification and sets their options. Limits are refused.
// Errors have their place in the specification.
func NewMixture(s *spec.Spec) (*mixture, error) {
	m := &mixture{spec: s}
	for i := range s.Collections {
		c := &s.Collections[i]
		f, known := format.Named(c.Format)
		if !known {
			return nil, c.Error("format", fmt.Errorf("%q is not a format here; there are %s", c.Format, strings.Join(format.Names(), ", ")))
		}
		r := f.Reader()
		for _, name := range slices.Sorted(maps.Keys(c.Options)) {
			if err := setOption(r, c, name); err != nil {
				return nil, c.Error("options."+name, err)
			}
		}
		c.Options = r.Set.Kept()
		m.readers = append(m.readers, r)
	}
	return m, nil
}

// setOption sets an option of a collection.
func setOption(r *format.Reader, c *spec.Collection, name string) error {
	o := r.Set.Lookup(name)
	if o == nil {
		var names []string
		for _, o := range r.Set.All() {
			if !o.Limit {
				names = append(names, o.Name)
			}
		}
		return fmt.Errorf("%s has no such option; it has %s", c.Format, strings.Join(names, ", "))
	}
	if c.IsList(name) && !o.List() {
		return errors.New("a list, where one value is wanted")
	}
	err := r.Set.SetKept(name, c.Options[name])
	if e, ok := errors.AsType[*option.Error](err); ok {
		return fmt.Errorf("%q: %w", e.Text, e.Err) // the place has the name
	}
	return err
}

// sourceSpec returns the entry of a plan.
func (m *mixture) sourceSpec() (plan.SourceSpec, error) {
	text, err := m.spec.Text()
	return plan.SourceSpec{Format: SpecFormat, Options: map[string]string{plan.OptionSpec: text}}, err
}

// plannedMixture reads the entry of a plan. The plan may be hostile, so the limits of a file apply.
func plannedMixture(options map[string]string) (*mixture, error) {
	text, ok := options[plan.OptionSpec]
	if !ok || len(options) != 1 {
		return nil, errors.New("it has no specification alone")
	}
	s, err := spec.FromText(text)
	if err != nil {
		return nil, err
	}
	return NewMixture(s)
}

// move reads a specification that differs only in the places of the shards, and takes these.
func (m *mixture) move(name string) error {
	there, err := spec.Read(name)
	if err != nil {
		return err
	}
	other, err := NewMixture(there)
	if err != nil {
		return err
	}
	if len(other.readers) != len(m.readers) {
		return fmt.Errorf("%s: the dataset was made of %d collections, not %d", name, len(m.readers), len(other.readers))
	}
	for i := range m.spec.Collections {
		c, d := &m.spec.Collections[i], &there.Collections[i]
		if !like(c, d) || c.Times != d.Times {
			return d.Error("", errors.New("the dataset was made otherwise; change shards, buckets and prefix alone"))
		}
	}
	m.spec.Move(there)
	return nil
}

// find finds the inputs of all collections, in order.
func (m *mixture) find(ctx context.Context, in input.Options) ([]input.Name, error) {
	var all []input.Name
	m.found = nil
	in.Stdin = noInput{} // of a file or a plan the user does not expect that it reads there
	total := int64(0)
	for i, r := range m.readers {
		c := &m.spec.Collections[i]
		found, err := input.Find(ctx, c.Shards, r.InputOptions(in))
		if err != nil {
			return nil, c.Error("", err)
		}
		for _, n := range found {
			if n.Name == "-" && n.Path == "" {
				return nil, c.Error("", &converters.Error{Where: "-", Off: -1, Err: fmt.Errorf("%w: standard input cannot be mixed", converters.ErrUnsupported), Hint: "write it to a file first"})
			}
		}
		m.found = append(m.found, len(found))
		all = append(all, found...)
		total += int64(len(found)) * int64(c.Passes())
		if most := cmp.Or(in.MaxNames, input.MaxNames); total > most {
			return nil, advise(FewerInputs, c.Error("", fmt.Errorf("with all repetitions there are more than %s", text.Count(most, "input"))))
		}
	}
	return all, nil
}

// passes returns the inputs, or a value for each, in the order of the parts of the dataset: repeated
// for each pass over a collection. firsts has the index of the first part of each collection. If m is
// nil, there is one collection and one pass.
func passes[T any](m *mixture, found []T) (all []T, firsts []int) {
	if m == nil {
		return found, []int{0}
	}
	for i, some := range split(m, found) {
		firsts = append(firsts, len(all))
		for range m.spec.Collections[i].Passes() {
			all = append(all, some...)
		}
	}
	return all, firsts
}

// split divides the inputs, or a value for each, among the collections.
func split[T any](m *mixture, all []T) [][]T {
	each := make([][]T, len(m.found))
	for i, n := range m.found {
		each[i], all = all[:n:n], all[n:]
	}
	return each
}

// noInput is used in place of standard input, and refuses to be read.
type noInput struct{}

func (noInput) Read([]byte) (int, error) {
	return 0, fmt.Errorf("%w: a specification takes nothing from standard input", converters.ErrUnsupported)
}

// stage makes all inputs local. Local directories need no staging.
func (m *mixture) stage(ctx context.Context, found []input.Name, in stage.Options) (*stage.Set, error) {
	var files []input.Name
	each := split(m, found)
	local := func(i int, n input.Name) bool { return m.readers[i].Directories && n.Tree == nil }
	for i, names := range each {
		for _, n := range names {
			if !local(i, n) {
				files = append(files, n)
			}
		}
	}
	set, err := stage.Open(ctx, files, in)
	if err != nil {
		return nil, err
	}
	staged := set.Parts
	set.Parts = nil
	for i, names := range each {
		for _, n := range names {
			f := converters.Part{Name: n.Name, Path: n.Path}
			if !local(i, n) {
				f, staged = staged[0], staged[1:]
			}
			set.Parts = append(set.Parts, f)
		}
	}
	return set, nil
}
