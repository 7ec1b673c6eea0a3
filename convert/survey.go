package convert

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/stage"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A survey is an open dataset with the index of some of its parts.
type survey struct {
	*opened                  // with all parts; only some are local
	some    []int            // numbers of the indexed parts
	index   []plan.PartIndex // index of each part in some
}

// survey indexes the parts with the numbers some, or all if some is nil, and calls use. Parts in known
// are not read. Only inputs that are read are made local.
func (c *Conversion) survey(ctx context.Context, some []int, known *dataset.Indexed, use func(*survey) error) (err error) {
	defer func() { err = errors.Join(err, c.endFilter()) }()
	all := c.directories() != nil
	for {
		need, again := c.need(some, known, all), false
		err := c.withLocal(ctx, need, func(parts []converters.Part) (err error) {
			s := &survey{some: some}
			if s.opened, err = c.open(ctx, parts); err != nil {
				// The first part may have no rows. Then a format looks at the next one.
				again = errors.Is(err, fs.ErrNotExist) && !all
				all = all || again
				return err
			}
			c.describe(s.opened)
			dropped, err := known.Keep(s.says, s.each)
			if err != nil || dropped > 0 {
				again = err == nil
				return err
			}
			if some == nil {
				s.some = indices(len(s.Parts()))
			}
			chooser, err := c.chooser(s.opened)
			if err != nil {
				return err
			}
			s.index, err = plan.Index(ctx, s.Source, plan.IndexOptions{Encodings: s.each, Only: s.some, Known: known.Get, Workers: Indexers(c.Workers), Progress: c.Progress, Choose: chooser})
			if err == nil && some == nil && known.Len() == 0 {
				err = chooser.Finish() // else samples of other parts have not passed
			}
			if err == nil && some == nil {
				err = check(ctx, s.Source)
			}
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

func indices(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// places returns the number of the input of each part: a mixture may read a collection in several
// passes. It is not for directories: their parts are not known yet.
func (c *Conversion) places() []int {
	all, _ := passes(c.Mixture, indices(len(c.found)))
	return all
}

// foundParts returns the parts before staging.
func (c *Conversion) foundParts() []converters.Part {
	all, _ := passes(c.Mixture, c.found)
	parts := make([]converters.Part, len(all))
	for i, n := range all {
		parts[i] = n.Part()
	}
	return parts
}

// need reports for each input whether it must be local to index some parts. Parts in known need not
// be read.
func (c *Conversion) need(some []int, known *dataset.Indexed, all bool) []bool {
	need := make([]bool, len(c.found))
	if all {
		return slices.Repeat([]bool{true}, len(c.found))
	}
	places := c.places()
	switch {
	case some == nil && c.local > 0:
		some = indices(c.local)
	case some == nil:
		some = indices(len(places))
	}
	for _, part := range some {
		need[places[part]] = need[places[part]] || !known.Has(part)
	}
	for _, at := range c.inspected() {
		need[at] = true
	}
	return need
}

// inspected returns the numbers of the inputs that formats inspect to open the dataset.
func (c *Conversion) inspected() []int {
	var firsts []int
	for _, of := range c.collections() {
		if of.Inspects {
			firsts = append(firsts, of.first)
		}
	}
	return firsts
}

// withLocal makes the needed inputs local and calls use with all parts.
func (c *Conversion) withLocal(ctx context.Context, need []bool, use func([]converters.Part) error) error {
	var names []input.Name
	for i, n := range c.found {
		if need[i] {
			names = append(names, n)
		}
	}
	in := c.inputOptions()
	in.Progress = c.staging(names)
	stage := stage.Open
	if len(names) == len(c.found) {
		stage = c.stage
	}
	set, err := stage(ctx, names, in)
	if err != nil {
		return c.allAtOnce(err)
	}
	here := set.Parts
	parts := make([]converters.Part, len(c.found))
	for i, n := range c.found {
		if need[i] {
			parts[i], here = here[0], here[1:]
		} else {
			parts[i] = n.Part()
		}
	}
	return errors.Join(use(parts), set.Release())
}
