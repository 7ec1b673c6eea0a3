package convert

import (
	"context"
	"errors"
	"fmt"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/shard"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// ErrNotAligned says that shards cannot be part-aligned.
var ErrNotAligned = errors.New("shards cannot be part-aligned")

// aligned reports whether shards are part-aligned. By default they are if a part is remote.
func (c *Conversion) aligned() (bool, error) {
	unknown, remote := "", false
	for _, n := range c.found {
		if n.Size < 0 {
			unknown = n.Name
		}
		remote = remote || n.Object != nil
	}
	refuse := func(why string) error {
		return advise(NotAligned, fmt.Errorf("%w: %s", ErrNotAligned, why))
	}
	joins := c.joins()
	switch {
	case c.Cut == CutParts && joins:
		return false, refuse("keys are compared or looked up, classes numbered, or the parts one stream, so all must be indexed first")
	case c.Cut == CutParts && c.directories() != nil:
		return false, refuse("a directory is indexed as one")
	case c.Cut == CutParts && c.Shuffle != nil:
		return false, refuse("a shuffle draws from all samples, so all parts must be here first")
	case c.Cut == CutParts && c.choice() != nil:
		return false, refuse("samples are chosen by an index of all parts, so these must be here first")
	case c.Cut == CutParts && unknown != "":
		return false, refuse(fmt.Sprintf("the size of %s is not known beforehand", unknown))
	}
	return c.Cut == CutParts || remote && unknown == "" && c.Cut == CutAuto && c.Shuffle == nil && c.choice() == nil && !joins && c.directories() == nil, nil
}

// joins reports whether a collection compares the keys of all its samples, or looks them up.
func (c *Conversion) joins() bool {
	parts := c.foundParts()
	for _, of := range c.collections() {
		if of.first < len(parts) && of.Joins(parts[of.first:min(len(parts), of.first+of.n)]) {
			return true
		}
	}
	return false
}

// writeAligned plans part-aligned shards, and writes them.
func (c *Conversion) writeAligned(ctx context.Context, out *dataset.Writing) (*shard.Report, error) {
	var report *shard.Report
	err := c.withParts(ctx, 0, func(s *stagedParts) error {
		p, err := c.planAligned(ctx, s, out)
		if err != nil {
			return err
		}
		report, err = shard.Write(ctx, s, p, out, c.writeOptions())
		return err
	})
	return report, err
}

// withParts calls use with the parts, which become local as use takes them. For skip see stagedParts.
func (c *Conversion) withParts(ctx context.Context, skip int, use func(*stagedParts) error) error {
	if err := c.checkCache(); err != nil {
		return err
	}
	s, err := c.newStagedParts(skip)
	if err != nil {
		return err
	}
	err = use(s)
	closed := errors.Join(c.endFilter(), s.close())
	return errors.Join(err, closed, c.removeCache(ctx, err))
}

// planAligned returns the part-aligned plan that the output has, if it is of the same parts and
// options. Otherwise it makes one, and fetches the first part for its columns.
func (c *Conversion) planAligned(ctx context.Context, s *stagedParts, out *dataset.Writing) (*plan.Plan, error) {
	how, err := c.request()
	if err != nil {
		return nil, err
	}
	if !c.Overwrite {
		p, err := out.Resumable(s.parts, how)
		if err == nil && p != nil {
			err = s.checkQuota(p)
		}
		if err != nil || p != nil {
			return p, err
		}
	}
	// The first part decides no size, so a plan that fails is refused before it is fetched.
	if p, err := plan.NewAligned(s.parts, nil, how); err != nil {
		return nil, empty(s.parts[0].Name, nil, err)
	} else if err := s.checkQuota(p); err != nil {
		return nil, err
	}
	shown := int64(0)
	for _, first := range s.firsts {
		shown += s.parts[first].Size
	}
	if c.Progress != nil {
		c.Progress.Start("fetch the first part", shown)
	}
	o, err := s.open(ctx, false)
	if err != nil {
		return nil, err
	}
	c.describe(o)
	seen, err := s.index(ctx, o.each, c.Progress)
	if err != nil {
		return nil, err
	}
	if how, err = c.options(o); err != nil {
		return nil, err
	}
	p, err := plan.NewAligned(s.parts, seen, how)
	return p, empty(s.parts[0].Name, seen, err)
}
