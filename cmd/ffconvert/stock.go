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
	case c.opts.wholeParts && c.directories(found) != nil:
		return false, errors.New("--whole-parts: a directory is indexed as one; leave the flag out")
	case c.opts.wholeParts && c.opts.shuffle:
		return false, errors.New("--whole-parts: --shuffle draws from all samples, so all parts must be here first; leave one of the two out")
	case c.opts.wholeParts && unknown != "":
		return false, fmt.Errorf("--whole-parts: the size of %s is not known beforehand; leave the flag out", unknown)
	}
	return c.opts.wholeParts || remote && unknown == "" && !c.opts.exact && !c.opts.shuffle && c.directories(found) == nil, nil
}

// A stock makes the parts of a dataset local as their shards are written.
type stock struct {
	c      *conversion
	stager *input.Stager
	found  []input.Name      // as found
	firsts []int             // the first part of each collection; of one dataset, 0
	parts  []converters.Part // as they are stored

	mu   sync.Mutex
	like converters.Divisible // opened from the first parts; nil: not yet
	held []*input.Set         // those, until the first shard has its parts; nil: not here
}

// newStock prepares to make parts local. It makes none so yet.
func (c *conversion) newStock(found []input.Name, in input.Options) (*stock, error) {
	s := &stock{c: c, found: found, firsts: []int{0}}
	all := found
	if c.mix != nil {
		all, s.firsts = c.mix.passes(found)
	}
	for _, n := range all {
		s.parts = append(s.parts, converters.Part{Name: n.Name, Size: n.Size, Staged: true, Mark: n.Mark()})
	}
	var err error
	s.stager, err = input.NewStager(all, in)
	return s, err
}

// Parts lists all parts.
func (s *stock) Parts() []converters.Part { return s.parts }

// open opens the dataset by its first part, which shows what columns and types it has; a
// mixture by that of each collection. Where the plan is there already, only formats that
// inspect it need it.
func (s *stock) open(ctx context.Context, planned bool) (converters.Source, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.like != nil {
		return s.like.(converters.Source), nil
	}
	parts := make([]converters.Part, len(s.found)) // that are not here, but for the first ones
	for i, n := range s.found {
		parts[i] = converters.Part{Name: n.Name, Size: n.Size}
	}
	s.held = make([]*input.Set, len(s.firsts))
	at := 0
	for i, first := range s.firsts {
		f := s.c.format
		if s.c.mix != nil {
			f = s.c.mix.spec.Collections[i].format
		}
		if !planned || f.inspects {
			set, err := s.stager.Take(ctx, first, 1)
			if err != nil {
				return nil, err
			}
			set.Last() // there may be others to take before it is let go
			s.held[i] = set
			parts[at] = partsOf(set)[0]
		}
		if s.c.mix != nil {
			at += s.c.mix.found[i]
		}
	}
	src, err := s.c.data.open(ctx, parts, s.c.opts.encode)
	if err != nil {
		return nil, err
	}
	like, ok := src.(converters.Divisible)
	if !ok {
		return nil, fmt.Errorf("ffconvert %s cannot make shards of whole parts; --exact cuts at samples", s.c.format.name)
	}
	s.like = like
	return src, nil
}

// index indexes the first parts.
func (s *stock) index(ctx context.Context, each shard.Encodings, progress *reporter) ([]shard.PartIndex, error) {
	var all []shard.PartIndex
	for i, first := range s.firsts {
		of := shard.Encodings{Specs: each.Specs}
		if each.Of != nil {
			of.Of = each.Of[first : first+1]
		}
		src := s.like.WithParts(first, partsOf(s.held[i]))
		index, err := shard.IndexEach(ctx, src, of, 1, progress)
		if err != nil {
			return nil, err
		}
		all = append(all, index...)
	}
	return all, nil
}

// Take makes parts local and opens them.
func (s *stock) Take(ctx context.Context, first, n int) (converters.Source, func() error, error) {
	if _, err := s.open(ctx, true); err != nil {
		return nil, nil, err
	}
	// Held parts are in the way of others where there is little room, so they are let go, but
	// the first part not before its shard has it.
	if err := s.letGo(first, n); err != nil {
		return nil, nil, err
	}
	set, err := s.stager.Take(ctx, first, n)
	if err := errors.Join(err, s.letGo(0, 0)); err != nil {
		if set != nil {
			err = errors.Join(err, set.Release())
		}
		return nil, nil, err
	}
	return s.like.WithParts(first, partsOf(set)), set.Release, nil
}

// letGo ends the stock's own use of parts, but for those of the n from first on.
func (s *stock) letGo(first, n int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var failed error
	for i, set := range s.held {
		if at := s.firsts[i]; set != nil && (at < first || at >= first+n) {
			failed = errors.Join(failed, set.Release())
			s.held[i] = nil
		}
	}
	return failed
}

func (s *stock) close() error { return errors.Join(s.letGo(0, 0), s.stager.Close()) }

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
	return c.tidy(ctx, errors.Join(err, s.close()))
}

// planWhole plans shards of whole parts: by the plan that was begun in the output, where it
// is of the same parts, else by what the first part shows.
func (c *conversion) planWhole(ctx context.Context, s *stock, out *shard.Output, progress *reporter) (*shard.Plan, error) {
	parts := make([]shard.Part, len(s.parts))
	for i, p := range s.parts {
		parts[i] = shard.Part{Name: p.Name, Size: p.Size}
	}
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
	shown := int64(0)
	for _, first := range s.firsts {
		shown += parts[first].Size
	}
	progress.Start("fetch the first part", shown)
	src, err := s.open(ctx, false)
	if err != nil {
		return nil, err
	}
	says, enc, err := c.describe(src)
	if err != nil {
		return nil, err
	}
	each, err := c.encodings(enc)
	if err != nil {
		return nil, err
	}
	for i := range each.Of {
		parts[i].Encode = each.Of[i]
	}
	seen, err := s.index(ctx, each, progress)
	if err != nil {
		return nil, err
	}
	how.Encode, how.Encodes, how.Dataset = enc.Options(), each.Options(), says
	plan, err := shard.NewWholePlan(parts, seen, how)
	return plan, empty(parts[0].Name, err)
}
