package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/input"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// planOnly plans the conversion, or indexes a slice of its parts, and writes nothing of it.
func (c *conversion) planOnly(ctx context.Context, found []input.Name, in input.Options, whole bool, progress *reporter) error {
	if slices.ContainsFunc(found, func(n input.Name) bool { return n.Name == "-" && n.Path == "" }) {
		return &converters.Error{Where: "-", Off: -1, Err: fmt.Errorf("%w: no task could read standard input again", converters.ErrUnsupported), Hint: "write it to a file first"}
	}
	if c.planning.task != "" {
		return c.indexTask(ctx, found, in, whole, progress)
	}
	out, err := dataset.Open(c.out)
	if err != nil {
		return err
	}
	c.output = out
	sum, err := c.planned(ctx, found, in, whole, out, progress)
	progress.stop()
	if err := closeOutput(out, err); err != nil {
		return err
	}
	c.warn(progress)
	progress.say(sum)
	return nil
}

// planned is begin that also finds out whether the plan was there before.
func (c *conversion) planned(ctx context.Context, found []input.Name, in input.Options, whole bool, out *dataset.Output, progress *reporter) (*planSummary, error) {
	before, err := out.Lookup(dataset.PlanName)
	if err != nil {
		return nil, err
	}
	sum, err := c.begin(ctx, found, in, whole, out, progress)
	if err != nil {
		return nil, err
	}
	after, err := out.Lookup(dataset.PlanName)
	if err != nil {
		return nil, err
	}
	sum.Same = !c.opts.overwrite && before != nil && after != nil && os.SameFile(before, after)
	if sum.Same {
		s, err := out.Status()
		if err != nil {
			return nil, err
		}
		sum.Ready = s.Complete
	}
	return sum, nil
}

// begin puts the plan into the output. What is staged inside the output for it is removed.
func (c *conversion) begin(ctx context.Context, found []input.Name, in input.Options, whole bool, out *dataset.Output, progress *reporter) (*planSummary, error) {
	if err := c.check(out, found); err != nil {
		return nil, err
	}
	var sum *planSummary
	put := func(plan *plan.Plan, parts []converters.Part) error {
		if err := out.Begin(plan, parts, c.named(), c.opts.overwrite); err != nil {
			return err
		}
		digest, err := plan.Digest()
		sum = newPlanSummary(c.out, plan, digest)
		return err
	}
	if whole {
		err := c.stocked(ctx, found, 0, in, progress, func(s *stock) error {
			plan, err := c.planWhole(ctx, s, out, progress)
			if err != nil {
				return err
			}
			return put(plan, s.Parts())
		})
		return sum, err
	}
	if err := c.refuseCache(); err != nil {
		return nil, err
	}
	known, err := c.indexed(found, out.Indexed)
	if err != nil {
		return nil, err
	}
	err = c.survey(ctx, found, in, nil, known, progress, func(s *survey) error {
		how := c.planOptions(s.enc)
		how.Dataset, how.Encodes = s.says, s.each.Options()
		plan, err := plan.New(s.index, how)
		if err != nil {
			return empty(found[0].Name, s.index, err)
		}
		if c.directories(found) == nil {
			all := found
			if c.mix != nil {
				all, _ = c.mix.passes(found)
			}
			if err := fits(plan, all, in.Quota); err != nil {
				return err
			}
		}
		parts := slices.Clone(s.src.Parts())
		for i := range parts {
			parts[i].Size = plan.Parts[i].Size // of one that is not here, what it had where it was indexed
		}
		return put(plan, parts)
	})
	if err := c.tidy(ctx, err); err != nil {
		return nil, err
	}
	sum.Indexed = known.Len()
	if known != nil {
		for _, err := range known.Unused {
			sum.Unused = append(sum.Unused, err.Error())
		}
	}
	return sum, out.DropIndexed()
}

// indexed returns what tasks have indexed, by one of the methods of an output; nil of directories,
// whose parts nobody knows beforehand.
func (c *conversion) indexed(found []input.Name, read func(plan.Options, []dataset.Found) (*dataset.Indexed, error)) (*dataset.Indexed, error) {
	if c.directories(found) != nil {
		return nil, nil
	}
	how, err := c.asked()
	if err != nil {
		return nil, err
	}
	return read(how, c.foundParts(found))
}

// allAtOnce says what helps where all parts were to be here at once, and the cache is too small for it.
func (c *conversion) allAtOnce(found []input.Name, err error) error {
	e, ok := errors.AsType[*input.Error](err)
	if !ok || !errors.Is(err, input.ErrQuota) || c.directories(found) != nil {
		return err
	}
	bySlice := "ffconvert plan " + c.format.name
	if c.opts.exact {
		bySlice += " --exact"
	}
	bySlice += " --task K/N …"
	switch {
	case c.opts.shuffle:
		e.Hint = "raise --cache-size: --shuffle wants all parts here at once"
	case c.planning == nil:
		e.Hint = "raise --cache-size, or plan a slice at a time: " + bySlice + ", for each K, then plan and run without --task"
		if c.opts.exact {
			e.Hint = "raise --cache-size, leave --exact out, or plan a slice at a time: " + bySlice + ", for each K, then plan and run without --task"
		}
	case c.planning.task == "":
		e.Hint = "raise --cache-size, or index a slice at a time: " + bySlice + ", for each K from 0 to N-1, then this command again"
	default:
		e.Hint = "raise --cache-size, or take a larger N: --task K/N"
	}
	return err
}
