package convert

import (
	"context"
	"errors"
	"slices"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/stage"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// trim finds out how many of the inputs, from the first on, hold all samples that a limit or a slice wants, so that no
// others are fetched or decompressed. It makes 1, 2, 4 … of them local until these are enough; the copies stay in the
// cache. Inputs that are local files already are not looked at.
func (c *Conversion) trim(ctx context.Context, in stage.Options) (err error) {
	if !c.trimmable() {
		return nil
	}
	if err := c.checkCache(); err != nil {
		return err
	}
	in.Progress = c.staging(c.found)
	remote := slices.ContainsFunc(c.found, func(n input.Name) bool { return n.URL() != "" })
	var held *stage.Set
	defer func() { err = errors.Join(err, held.Release()) }()
	for n := 1; n < len(c.found); n *= 2 {
		set, err := c.stage(ctx, c.found[:n], in)
		if err != nil {
			return c.allAtOnce(err)
		}
		err = held.Release()
		if held = set; err != nil {
			return err
		}
		if n == 1 && !remote && set.Parts[0].Copy == nil {
			return nil
		}
		enough, err := c.enough(ctx, set)
		if err != nil {
			return err
		}
		if enough {
			c.local = n
			return nil
		}
	}
	return nil
}

// trimmable reports whether a prefix of the inputs may be enough.
func (c *Conversion) trimmable() bool {
	return c.choice() != nil && c.Choice.Ordered() && c.Mixture == nil && c.Program == nil && c.directories() == nil && !c.joins() && len(c.found) > 1
}

// enough reports whether the inputs of a set hold all samples that are wanted.
func (c *Conversion) enough(ctx context.Context, set *stage.Set) (bool, error) {
	o, err := c.open(ctx, c.withOthers(set))
	if err != nil {
		return false, err
	}
	chooser, err := c.chooser(o)
	if err != nil {
		return false, err
	}
	_, err = plan.Index(ctx, o.Source, plan.IndexOptions{Encodings: o.each, Only: indices(len(set.Parts)), Progress: c.Progress, Choose: chooser})
	return chooser.Done(), err
}

// wanted returns the inputs that must be local.
func (c *Conversion) wanted() []input.Name {
	if c.local > 0 {
		return c.found[:c.local]
	}
	return c.found
}

// withOthers returns the parts of a set of the first inputs, and the other inputs with their stored sizes.
func (c *Conversion) withOthers(set *stage.Set) []converters.Part {
	parts := set.Parts
	if c.Mixture != nil || len(parts) >= len(c.found) || c.directories() != nil {
		return parts
	}
	for _, n := range c.found[len(parts):] {
		parts = append(parts, n.Part())
	}
	return parts
}

// trimTo sets how many inputs a plan of all of them wants.
func (c *Conversion) trimTo(p *plan.Plan) {
	if p.Choice == nil || c.Mixture != nil || c.directories() != nil || len(p.Parts) != len(c.found) {
		return
	}
	n := len(p.Parts)
	for n > 1 && p.Parts[n-1].Account.Unread > 0 {
		n--
	}
	c.local = n
}
