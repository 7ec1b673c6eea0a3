package convert

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"unicode/utf8"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A Planned is the report of Conversion.Plan.
type Planned struct {
	Plan    *plan.Plan
	Digest  string
	Same    bool    // the output had this plan already
	Ready   bool    // and the dataset is complete
	Indexed int     // parts that tasks had indexed
	Unused  []error // why indexes of tasks were not used
}

// Plan plans the conversion and writes the plan to the output, for [Run]. It writes no shard.
func (c *Conversion) Plan(ctx context.Context) (*Planned, error) {
	aligned, err := c.preparePlan(ctx)
	if err != nil {
		return nil, err
	}
	var done *Planned
	err = c.inOutput(ctx, func(out *dataset.Writing) error {
		before, err := out.Lookup(dataset.PlanName)
		if err != nil {
			return err
		}
		if done, err = c.begin(ctx, out, aligned); err != nil {
			return err
		}
		after, err := out.Lookup(dataset.PlanName)
		if err != nil {
			return err
		}
		done.Same = !c.Overwrite && before != nil && after != nil && os.SameFile(before, after)
		if done.Same {
			s, err := out.Status()
			if err != nil {
				return err
			}
			done.Ready = s.Complete
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	c.tellDoubts()
	return done, nil
}

// preparePlan is prepare for sources that other processes read later.
func (c *Conversion) preparePlan(ctx context.Context) (aligned bool, err error) {
	aligned, err = c.prepare(ctx)
	if err != nil {
		return false, err
	}
	if slices.ContainsFunc(c.found, func(n input.Name) bool { return n.Name == "-" && n.Path == "" }) {
		return false, &converters.Error{Where: "-", Off: -1, Err: fmt.Errorf("%w: no task could read standard input again", converters.ErrUnsupported), Hint: "write it to a file first"}
	}
	for _, n := range c.found {
		if !utf8.ValidString(n.Name) {
			return false, &converters.Error{Where: n.Name, Off: -1, Err: fmt.Errorf("%w: its name is not UTF-8, which a plan is: no task would find it", converters.ErrUnsupported), Hint: "rename it"}
		}
	}
	return aligned, nil
}

// begin makes the plan, writes it to the output and removes the cache in the output.
func (c *Conversion) begin(ctx context.Context, out *dataset.Writing, aligned bool) (*Planned, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	done := &Planned{}
	put := func(p *plan.Plan, parts []converters.Part) error {
		j, err := out.Begin(p, parts, c.named(), c.Overwrite)
		if err != nil {
			return err
		}
		done.Plan, done.Digest = p, j.Plan()
		return errors.Join(j.Changed, j.Close())
	}
	if aligned {
		return done, c.withParts(ctx, 0, func(s *stagedParts) error {
			p, err := c.planAligned(ctx, s, out)
			if err != nil {
				return err
			}
			return put(p, s.Parts())
		})
	}
	if err := c.checkCache(); err != nil {
		return nil, err
	}
	if err := c.trim(ctx, c.inputOptions()); err != nil {
		return nil, errors.Join(err, c.removeCache(ctx, err))
	}
	known, err := c.indexed(out.Indexed)
	if err != nil {
		return nil, err
	}
	err = c.survey(ctx, nil, known, func(s *survey) error {
		how, err := c.options(s.opened)
		if err != nil {
			return err
		}
		p, err := plan.New(s.index, how)
		if err != nil {
			return empty(c.found[0].Name, s.index, err)
		}
		if c.directories() == nil {
			all, _ := passes(c.Mixture, c.found)
			if err := checkQuota(p, all, c.Input.Quota); err != nil {
				return err
			}
		}
		parts := slices.Clone(s.Parts())
		for i := range parts {
			parts[i].Size = p.Parts[i].Size // from the index if the part is not local
		}
		return put(p, parts)
	})
	if err := errors.Join(err, c.removeCache(ctx, err)); err != nil {
		return nil, err
	}
	done.Indexed = known.Len()
	if known != nil {
		done.Unused = known.Unused
	}
	return done, out.DropIndexed()
}

// indexed returns the parts that tasks have indexed, read by a method of the output. It returns nil
// for directories, because their parts are not known beforehand, and where all parts are needed at once.
func (c *Conversion) indexed(read func(plan.Options, []converters.Part) (*dataset.Indexed, error)) (*dataset.Indexed, error) {
	if c.directories() != nil || c.joins() {
		return nil, nil
	}
	how, err := c.request()
	if err != nil {
		return nil, err
	}
	return read(how, c.foundParts())
}
