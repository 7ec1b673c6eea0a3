package convert

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/ffconvert/ffconvert/convert/format"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/text"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// resolvePlan returns the request that made a dataset, from its plan. named has the sources as the user named them
// then; nil: not known. command is the one that the caller runs. The plan may be hostile, so only programs that the caller names are run.
func (c Conversion) resolvePlan(command string, p *plan.Plan, named []string) (*request, error) {
	r := &request{Conversion: c, command: command, existing: p, renamed: len(c.Sources) > 0}
	if err := r.checkFilter(); err != nil {
		return nil, err
	}
	r.Workers = cmp.Or(max(0, r.Workers), runtime.GOMAXPROCS(0))
	p.Encode.Limits = c.Encode.Limits
	r.Encode = p.Encode
	if p.Source.Format == SpecFormat {
		return r, r.planSpec(named)
	}
	f, known := format.Named(p.Source.Format)
	switch {
	case known && c.Program != nil:
		return nil, r.noProgram()
	case !known && c.Program == nil:
		return nil, ProgramError(c.Out, p.Source.Format, "which no plan alone runs")
	case !known:
		var err error
		if r.program, err = c.Program(p.Source.Format); err != nil {
			return nil, err
		}
		f = format.Program(p.Source.Format)
	}
	if len(r.Sources) == 0 && r.program == nil {
		if r.Sources = named; len(r.Sources) == 0 && !f.Directories {
			for i := range p.Parts {
				r.Sources = append(r.Sources, p.Parts[i].Name)
			}
		}
		if len(r.Sources) == 0 || slices.Contains(r.Sources, "-") || slices.Contains(r.Sources, "@-") {
			return nil, r.nameSources(fmt.Errorf("%s: its sources must be named", c.Out))
		}
	}
	r.Reader = f.Reader()
	for name, value := range p.Source.Options {
		if err := r.Reader.Set.SetKept(name, value); err != nil {
			return nil, r.damaged(fmt.Errorf("option of its plan: %w", err))
		}
	}
	r.collections = []collection{{Reader: r.Reader}}
	return r, setLimits(c.Limits, r.collections)
}

// planSpec sets the specification from the plan. If the caller names a source, it must be a specification of the same
// collections, possibly in other places.
func (r *request) planSpec(named []string) (err error) {
	if r.Spec, err = plannedSpec(r.existing.Source.Options); err == nil {
		r.collections, err = newCollections(r.Spec, nil)
	}
	if err != nil {
		return r.damaged(err)
	}
	switch {
	case r.Program != nil:
		return r.noProgram()
	case len(r.Sources) > 1:
		return fmt.Errorf("%s: it was made of a specification: name the one file that names its collections", r.Out)
	case len(r.Sources) == 1:
		if err := move(r.Spec, r.Sources[0]); err != nil {
			return err
		}
	}
	r.Sources = named
	return setLimits(r.Limits, r.collections)
}

// damaged returns err wrapped as damage of the plan.
func (r *request) damaged(err error) error {
	return fmt.Errorf("%s: %w: %w", r.Out, plan.ErrDamaged, err)
}

// noProgram returns the error for a caller's program if the dataset was not made by a program.
func (r *request) noProgram() error {
	return fmt.Errorf("%s: it was made by ffconvert %s, not by a program", r.Out, r.existing.Source.Format)
}

// checkFilter returns an error if the plan has a filter and the caller names none, or the reverse. It never runs the
// command line in the plan.
func (r *request) checkFilter() error {
	switch planned := r.existing.Source.Filter; {
	case planned != "" && r.Filter == nil:
		return advise(fmt.Errorf("%s: its samples passed through the program %s, which no plan alone runs", r.Out, text.Name(planned)), "give it again with option filter")
	case planned == "" && r.Filter != nil:
		return place.Options("%s: it was made without option filter; leave it out, or plan anew with it", r.Out)
	}
	return nil
}

// adviseNames adds advice to name the sources, if they were looked up by the names in the plan.
func (r *request) adviseNames(err error) error {
	if r.renamed || !errors.Is(err, input.ErrNotFound) {
		return err
	}
	return r.nameSources(err)
}

func (r *request) nameSources(err error) error {
	return advise(err, fmt.Sprintf("run it where the conversion was planned, or name the sources: ffconvert %s %s SOURCE", r.command, text.ShellWord(r.Out)))
}

// ProgramError returns the error for a dataset that a program made if that may not be run; why says so.
func ProgramError(out, program, why string) error {
	return advise(fmt.Errorf("%s: it was made by the program %q, %s", out, program, why),
		"to run a plugin again, name it and its arguments: ffconvert repair --plugin NAME "+text.ShellWord(out)+" ARGS")
}
