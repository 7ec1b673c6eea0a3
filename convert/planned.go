package convert

import (
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/convert/format"
	"github.com/ffconvert/ffconvert/convert/option"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// PlannedOptions say how to write the shards of an existing plan. Options that decide bytes of shards
// are ignored: the plan has them.
type PlannedOptions struct {
	Options
	Sources []string          // new names of the sources; nil: the names in the plan
	Limits  map[string]string // limits of the format's options, by their names

	// Program returns the program to run again if the plan was made of the output of one; format is
	// the format in the plan. nil: such plans are refused, since a plan may be hostile.
	Program func(format string) (*input.Command, error)
}

// A recorded conversion is described by a plan.
type recorded struct {
	PlannedOptions
	dir   string   // the output
	named []string // the sources as the user named them for the conversion
	plan  *plan.Plan
}

// damaged returns err as an error of a damaged plan.
func (r *recorded) damaged(err error) error {
	return fmt.Errorf("%s: %w: %w", r.dir, plan.ErrDamaged, err)
}

// conversion returns the conversion that made the dataset. The plan may be hostile, so only programs
// that the caller names are run.
func (r *recorded) conversion() (*Conversion, error) {
	p := r.plan
	if err := r.checkFilter(); err != nil {
		return nil, err
	}
	c := &Conversion{Options: r.Options, planned: &p.Source, added: p.Dataset.Added, classes: p.Dataset.Classes, Sources: r.Sources, Out: r.dir}
	if c.Workers <= 0 {
		c.Workers = runtime.GOMAXPROCS(0)
	}
	p.Encode.Limits = c.Encode.Limits
	c.Encode = p.Encode
	if p.Source.Format == SpecFormat {
		return c, r.mixture(c)
	}
	f, known := format.Named(p.Source.Format)
	if known && r.Program != nil {
		return nil, r.noProgram()
	}
	if !known {
		if r.Program == nil {
			return nil, advise(ProgramArguments, fmt.Errorf("%s: it was made by the program %q, which no plan alone runs", r.dir, p.Source.Format))
		}
		var err error
		if c.Program, err = r.Program(p.Source.Format); err != nil {
			return nil, err
		}
		f = format.Program(p.Source.Format)
	}
	if len(c.Sources) == 0 && c.Program == nil {
		if c.Sources = r.named; len(c.Sources) == 0 && !f.Directories {
			for i := range p.Parts {
				c.Sources = append(c.Sources, p.Parts[i].Name)
			}
		}
		if len(c.Sources) == 0 || slices.Contains(c.Sources, "-") || slices.Contains(c.Sources, "@-") {
			return nil, advise(NamedSources, fmt.Errorf("%s: its sources must be named", r.dir))
		}
	}
	c.Reader = f.Reader()
	for name, value := range p.Source.Options {
		if err := c.Reader.Set.SetKept(name, value); err != nil {
			return nil, r.damaged(fmt.Errorf("option of its plan: %w", err))
		}
	}
	return c, setLimits(r.Limits, c.Reader)
}

// noProgram returns the error for a program if the dataset was not made by one.
func (r *recorded) noProgram() error {
	return fmt.Errorf("%s: it was made by ffconvert %s, not by a program", r.dir, r.plan.Source.Format)
}

// mixture sets c.Mixture from the plan. A source that the caller names is a specification of the same
// collections in other places.
func (r *recorded) mixture(c *Conversion) (err error) {
	if c.Mixture, err = plannedMixture(c.planned.Options); err != nil {
		return r.damaged(err)
	}
	switch {
	case r.Program != nil:
		return r.noProgram()
	case len(r.Sources) > 1:
		return fmt.Errorf("%s: it was made of a specification: name the one file that names its collections", r.dir)
	case len(r.Sources) == 1:
		if err := c.Mixture.move(r.Sources[0]); err != nil {
			return err
		}
	}
	c.Sources = r.named
	return c.Mixture.SetLimits(r.Limits)
}

// advise adds the advice to name the sources if they were not found by the names in the plan.
func (r *recorded) advise(err error) error {
	if len(r.Sources) > 0 || !errors.Is(err, input.ErrNotFound) {
		return err
	}
	return advise(NamedSources, err)
}

// SetLimits sets each limit in the collections of formats that have it.
func (m *mixture) SetLimits(limits map[string]string) error { return setLimits(limits, m.readers...) }

// setLimits sets each limit in the readers that have it. At least one must have it.
func setLimits(limits map[string]string, readers ...*format.Reader) error {
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		known := false
		for _, r := range readers {
			if r.Set.Lookup(name) == nil {
				continue
			}
			known = true
			if err := r.Set.Set(name, limits[name]); err != nil {
				return err
			}
		}
		if !known {
			return &option.Error{Name: name, Text: limits[name], Err: fmt.Errorf("%w of %s", option.ErrUnknown, formatsOf(readers))}
		}
	}
	return nil
}

// formatsOf lists the names of the formats.
func formatsOf(readers []*format.Reader) string {
	var names []string
	for _, r := range readers {
		if !slices.Contains(names, r.Name) {
			names = append(names, r.Name)
		}
	}
	return strings.Join(names, ", ")
}
