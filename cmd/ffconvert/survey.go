package main

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/mix"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/input"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A survey is what was found out about some parts of a dataset.
type survey struct {
	src   converters.Source // over all parts, of which only some are here
	some  []int             // numbers of the parts
	index []plan.PartIndex  // of these
	described
}

// survey indexes some parts, by their numbers; nil: all. Those that known has need not be here.
// Inputs are made local, all others left alone, while use uses what came of it.
func (c *conversion) survey(ctx context.Context, found []input.Name, in input.Options, some []int, known *dataset.Indexed, progress *reporter, use func(*survey) error) error {
	all := c.directories(found) != nil
	for {
		want, again := c.wanted(found, some, known, all), false
		err := c.having(ctx, found, want, in, progress, func(parts []converters.Part) (err error) {
			s := &survey{some: some}
			if s.src, err = c.data.open(ctx, parts, c.opts.encode); err != nil {
				// A format may have to look at more than the first part to see any of its rows.
				again = errors.Is(err, fs.ErrNotExist) && !all
				all = all || again
				return err
			}
			if s.described, err = c.describe(s.src, progress); err != nil {
				return err
			}
			dropped, err := known.Keep(s.says, s.each)
			if err != nil || dropped > 0 {
				again = err == nil
				return err
			}
			if some == nil {
				s.some = upTo(len(s.src.Parts()))
			}
			s.index, err = plan.Index(ctx, s.src, plan.IndexOptions{Encodings: s.each, Only: s.some, Known: known.Get, Workers: max(c.opts.workers, indexedAtOnce), Progress: progress})
			if err != nil {
				return err
			}
			return use(s)
		})
		if !again {
			return err
		}
	}
}

func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// places returns which of n inputs each part of the dataset is: a mixture has one again for each
// pass over its collection. Directories have parts that are not known yet.
func (c *conversion) places(n int) []int {
	if c.mix == nil {
		return upTo(n)
	}
	var all []int
	for i, some := range split(c.mix, upTo(n)) {
		for range (mix.Collection{Times: c.mix.spec.Collections[i].Times}).Passes() {
			all = append(all, some...)
		}
	}
	return all
}

// foundParts returns the parts as they were found.
func (c *conversion) foundParts(found []input.Name) []dataset.Found {
	var parts []dataset.Found
	for _, at := range c.places(len(found)) {
		n := &found[at]
		parts = append(parts, dataset.Found{Name: n.Name, Size: n.Size, Mark: n.Mark()})
	}
	return parts
}

// wanted returns which of the inputs must be here to index some parts of which known has a few.
func (c *conversion) wanted(found []input.Name, some []int, known *dataset.Indexed, all bool) []bool {
	want := make([]bool, len(found))
	if all {
		return slices.Repeat([]bool{true}, len(found))
	}
	places := c.places(len(found))
	if some == nil {
		some = upTo(len(places))
	}
	for _, part := range some {
		want[places[part]] = want[places[part]] || !known.Has(part)
	}
	for _, at := range c.inspected() {
		want[at] = true
	}
	return want
}

// inspected returns which of the inputs a dataset is opened by.
func (c *conversion) inspected() []int {
	var firsts []int
	if c.mix == nil && c.format.inspects {
		firsts = append(firsts, 0)
	}
	if c.mix == nil {
		return firsts
	}
	at := 0
	for i := range c.mix.spec.Collections {
		if c.mix.spec.Collections[i].format.inspects {
			firsts = append(firsts, at)
		}
		at += c.mix.found[i]
	}
	return firsts
}

// having makes some of the inputs local while use uses them. The others are known by name alone.
func (c *conversion) having(ctx context.Context, found []input.Name, want []bool, in input.Options, progress *reporter, use func([]converters.Part) error) error {
	var names []input.Name
	for i, n := range found {
		if want[i] {
			names = append(names, n)
		}
	}
	in.Progress = progress.staging(names)
	stage := input.Open
	if len(names) == len(found) {
		stage = c.stage
	}
	set, err := stage(ctx, names, in)
	if err != nil {
		return c.allAtOnce(found, err)
	}
	here := partsOf(set)
	parts := make([]converters.Part, len(found))
	for i, n := range found {
		if want[i] {
			parts[i], here = here[0], here[1:]
		} else {
			parts[i] = converters.Part{Name: n.Name, Size: n.Size, Copy: &converters.Copy{Mark: n.Mark()}}
		}
	}
	return errors.Join(use(parts), set.Cleanup())
}
