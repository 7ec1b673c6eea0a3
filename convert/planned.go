package convert

import (
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"

	"github.com/ffconvert/ffconvert/convert/option"
	"github.com/ffconvert/ffconvert/input"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// PlannedOptions say how shards are written by a plan that is there. Of Options those count that
// decide no byte of a shard: the plan has the others.
type PlannedOptions struct {
	Options
	Sources []string          // where the sources are now; nil: where the plan has them
	Limits  map[string]string // limits of the format's options, by their names

	// Program returns the program that is to be run again, where the sources are what one wrote,
	// by the name of the plan's format: a plan alone runs none. nil: none is known.
	Program func(format string) (*input.Command, error)
}

// A recorded conversion is one that a plan describes.
type recorded struct {
	PlannedOptions
	dir   string   // the output
	named []string // as the sources were named for the conversion
	plan  *plan.Plan
}

// damaged says that a plan cannot be what was written.
func (r *recorded) damaged(err error) error {
	return fmt.Errorf("%s: %w: %w", r.dir, plan.ErrDamaged, err)
}

// conversion returns the one that made the dataset. It comes from a plan, which may be
// hostile: nothing is run for it but what the caller has named.
func (r *recorded) conversion() (*Conversion, error) {
	p := r.plan
	c := &Conversion{Options: r.Options, planned: &p.Source, Sources: r.Sources, Out: r.dir}
	if c.Workers <= 0 {
		c.Workers = runtime.GOMAXPROCS(0)
	}
	p.Encode.Limits = c.Encode.Limits
	c.Encode = p.Encode
	if p.Source.Format == SpecFormat {
		return c, r.mixture(c)
	}
	f, known := FormatNamed(p.Source.Format)
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
		f = ProgramFormat(p.Source.Format)
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

// noProgram refuses a program where none has made the dataset.
func (r *recorded) noProgram() error {
	return fmt.Errorf("%s: it was made by ffconvert %s, not by a program", r.dir, r.plan.Source.Format)
}

// mixture makes c the conversion of the specification that the plan keeps. A source that the
// caller names is another file that names the same collections elsewhere.
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

// advise says that sources can be named anew, where they were not found by the names kept.
func (r *recorded) advise(err error) error {
	if len(r.Sources) > 0 || !errors.Is(err, input.ErrNotFound) {
		return err
	}
	return advise(NamedSources, err)
}

// SetLimits sets limits in all collections whose formats have them.
func (m *Mixture) SetLimits(limits map[string]string) error { return setLimits(limits, m.readers...) }

// setLimits sets limits in all readers that have them: one at least.
func setLimits(limits map[string]string, readers ...*Reader) error {
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

// formatsOf names the formats, each once.
func formatsOf(readers []*Reader) string {
	var names []string
	for _, r := range readers {
		if !slices.Contains(names, r.Name) {
			names = append(names, r.Name)
		}
	}
	return strings.Join(names, ", ")
}
