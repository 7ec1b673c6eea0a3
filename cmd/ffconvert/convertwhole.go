package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/input"
	"github.com/ffconvert/ffconvert/shard"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// whole reports whether shards are to be made of whole parts: where a part is remote and the
// user does not say otherwise.
func (c *conversion) whole(found []input.Name) (bool, error) {
	unknown, remote := "", false
	for _, n := range found {
		if n.Size < 0 {
			unknown = n.Name
		}
		remote = remote || n.Object != nil
	}
	switch {
	case c.opts.wholeParts && c.directories(found) != nil:
		return false, errors.New("--whole-parts: a directory is indexed as one; leave the flag out")
	case c.opts.wholeParts && c.opts.shuffle:
		return false, errors.New("--whole-parts: --shuffle draws from all samples, so all parts must be here first; leave one of the two out")
	case c.opts.wholeParts && unknown != "":
		return false, fmt.Errorf("--whole-parts: the size of %s is not known beforehand; leave the flag out", unknown)
	}
	return c.opts.wholeParts || remote && unknown == "" && !c.opts.exact && !c.opts.shuffle && c.directories(found) == nil, nil
}

// convertWhole plans and writes shards of whole parts.
func (c *conversion) convertWhole(ctx context.Context, found []input.Name, in input.Options, out *dataset.Output, progress *reporter) (*shard.Report, error) {
	if err := c.check(out, found); err != nil {
		return nil, err
	}
	var report *shard.Report
	err := c.stocked(ctx, found, 0, in, progress, func(s *stock) error {
		plan, err := c.planWhole(ctx, s, out, progress)
		if err != nil {
			return err
		}
		report, err = shard.Write(ctx, s, plan, out, c.writeOptions(ctx, progress))
		return err
	})
	return report, err
}

// stocked makes the inputs local as use wants them. The first of them are beside the parts
// that it uses, so many as beside says: see stock.
func (c *conversion) stocked(ctx context.Context, found []input.Name, beside int, in input.Options, progress *reporter, use func(*stock) error) error {
	if err := c.refuseCache(); err != nil {
		return err
	}
	in.Transient = c.opts.cacheDir == ""
	in.Progress = func(_ string, n int64) { progress.fetched(n) }
	s, err := c.newStock(found, beside, in)
	if err != nil {
		return err
	}
	err = use(s)
	return c.tidy(ctx, errors.Join(err, s.close()))
}

// planWhole plans shards of whole parts: by the plan that was begun in the output, where it
// is of the same parts, else by what the first part shows.
func (c *conversion) planWhole(ctx context.Context, s *stock, out *dataset.Output, progress *reporter) (*plan.Plan, error) {
	parts := make([]plan.Part, len(s.parts))
	for i, p := range s.parts {
		parts[i] = plan.Part{Name: p.Name, Size: p.Size}
	}
	how, err := c.asked()
	if err != nil {
		return nil, err
	}
	if !c.opts.overwrite {
		plan, err := out.Resumable(parts, how)
		if err == nil && plan != nil {
			err = s.fits(plan)
		}
		if err != nil || plan != nil {
			return plan, err
		}
	}
	// What the first part shows decides no size.
	if plan, err := plan.NewAligned(parts, nil, how); err != nil {
		return nil, empty(parts[0].Name, nil, err)
	} else if err := s.fits(plan); err != nil {
		return nil, err
	}
	shown := int64(0)
	for _, first := range s.firsts {
		shown += parts[first].Size
	}
	progress.Start("fetch the first part", shown)
	src, err := s.open(ctx, false)
	if err != nil {
		return nil, err
	}
	d, err := c.describe(src, progress)
	if err != nil {
		return nil, err
	}
	for i := range d.each.Of {
		parts[i].Encode = d.each.Of[i]
	}
	seen, err := s.index(ctx, d.each, progress)
	if err != nil {
		return nil, err
	}
	how.Encode, how.Encodes, how.Dataset = d.enc.Options(), d.each.Options(), d.says
	plan, err := plan.NewAligned(parts, seen, how)
	return plan, empty(parts[0].Name, seen, err)
}
