package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/input"
	"github.com/ffconvert/ffconvert/shard"
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
	case c.opts.wholeParts && c.opts.shuffle:
		return false, errors.New("--whole-parts: --shuffle draws from all samples, so all parts must be here first; leave one of the two out")
	case c.opts.wholeParts && unknown != "":
		return false, fmt.Errorf("--whole-parts: the size of %s is not known beforehand; leave the flag out", unknown)
	}
	return c.opts.wholeParts || remote && unknown == "" && !c.opts.exact && !c.opts.shuffle && !c.format.directories, nil
}

// A stock makes the parts of a dataset local as their shards are written.
type stock struct {
	c      *conversion
	stager *input.Stager
	parts  []converters.Part // as they are stored

	mu    sync.Mutex
	like  converters.Divisible // opened from the first part; nil: not yet
	first *input.Set           // that part, until the first shard has it; nil: it has
}

// newStock prepares to make parts local. It makes none so yet.
func (c *conversion) newStock(found []input.Name, in input.Options) (*stock, error) {
	stager, err := input.NewStager(found, in)
	if err != nil {
		return nil, err
	}
	s := &stock{c: c, stager: stager}
	for _, n := range found {
		s.parts = append(s.parts, converters.Part{Name: n.Name, Size: n.Size, Staged: true, Mark: n.Mark()})
	}
	return s, nil
}

// Parts lists all parts.
func (s *stock) Parts() []converters.Part { return s.parts }

// open opens the dataset by its first part, which shows what columns and types it has.
func (s *stock) open(ctx context.Context) (converters.Source, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.like != nil {
		return s.like.(converters.Source), nil
	}
	set, err := s.stager.Take(ctx, 0, 1)
	if err != nil {
		return nil, err
	}
	src, err := s.c.source(ctx, set)
	if err == nil {
		var ok bool
		if s.like, ok = src.(converters.Divisible); !ok {
			err = fmt.Errorf("ffconvert %s cannot make shards of whole parts", s.c.format.name)
		}
	}
	if err != nil {
		return nil, errors.Join(err, set.Release())
	}
	s.first = set
	return src, nil
}

// Take makes parts local and opens them.
func (s *stock) Take(ctx context.Context, first, n int) (converters.Source, func() error, error) {
	if _, err := s.open(ctx); err != nil {
		return nil, nil, err
	}
	if first > 0 { // with the first shard finished before, nobody waits for the first part
		if err := s.letFirstGo(); err != nil {
			return nil, nil, err
		}
	}
	set, err := s.stager.Take(ctx, first, n)
	if err := errors.Join(err, s.letFirstGo()); err != nil {
		if set != nil {
			err = errors.Join(err, set.Release())
		}
		return nil, nil, err
	}
	return s.like.WithParts(first, partsOf(set)), set.Release, nil
}

// letFirstGo ends the use of the first part by the stock itself.
func (s *stock) letFirstGo() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	set := s.first
	s.first = nil
	if set == nil {
		return nil
	}
	return set.Release()
}

func (s *stock) close() error { return errors.Join(s.letFirstGo(), s.stager.Close()) }

// convertWhole plans and writes shards of whole parts.
func (c *conversion) convertWhole(ctx context.Context, found []input.Name, in input.Options, out *shard.Output, progress *reporter) (*shard.Report, error) {
	if err := c.check(out, found); err != nil {
		return nil, err
	}
	var report *shard.Report
	err := c.stocked(ctx, found, in, progress, func(s *stock) error {
		plan, err := c.planWhole(ctx, s, out, progress)
		if err != nil {
			return err
		}
		report, err = shard.WriteStock(ctx, s, plan, out, c.writeOptions(progress))
		return err
	})
	return report, err
}

// stocked makes the inputs local as use wants them.
func (c *conversion) stocked(ctx context.Context, found []input.Name, in input.Options, progress *reporter, use func(*stock) error) error {
	if err := c.refuseCache(in); err != nil {
		return err
	}
	in.Transient = c.opts.cacheDir == ""
	in.Progress = func(_ string, n int64) { progress.Add(0, n) }
	s, err := c.newStock(found, in)
	if err != nil {
		return err
	}
	err = use(s)
	return c.tidy(ctx, in, errors.Join(err, s.close()))
}

// planWhole plans shards of whole parts: by the plan that was begun in the output, where it
// is of the same parts, else by what the first part shows.
func (c *conversion) planWhole(ctx context.Context, s *stock, out *shard.Output, progress *reporter) (*shard.Plan, error) {
	parts := storedParts(s.parts)
	asked, err := encode.Parse(c.opts.encode)
	if err != nil {
		return nil, err
	}
	how := c.planOptions(asked)
	how.Encode.Encoding = c.opts.encode.Encoding
	if !c.opts.overwrite {
		if plan, err := out.Begun(parts, how); err != nil || plan != nil {
			return plan, err
		}
	}
	progress.Start("fetch the first part", parts[0].Size)
	src, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	says, enc, err := c.describe(src)
	if err != nil {
		return nil, err
	}
	index, err := shard.Index(ctx, src, enc, 1, progress)
	if err != nil {
		return nil, err
	}
	how.Encode, how.Dataset = enc.Options(), says
	return shard.NewWholePlan(parts, &index[0], how)
}

func storedParts(parts []converters.Part) []shard.Part {
	stored := make([]shard.Part, len(parts))
	for i, p := range parts {
		stored[i] = shard.Part{Name: p.Name, Size: p.Size}
	}
	return stored
}
