package convert

import (
	"context"
	"errors"
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/input/stage"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// check refuses an output that is taken, as far as that can be told before the input is
// read.
func (c *Conversion) check() error {
	var names []string // of the parts; those of a directory are not known yet
	if c.Mixture != nil {
		names = c.Mixture.partNames(c.found)
	} else if !c.Reader.Directories {
		for _, n := range c.found {
			names = append(names, n.Name)
		}
	}
	how, err := c.request()
	if err != nil {
		return err
	}
	return c.output.Check(how, names, c.Overwrite)
}

// request returns the options of the plan before anything is read, with the encoding that was
// named, or "".
func (c *Conversion) request() (plan.Options, error) {
	source, err := c.sourceSpec()
	return plan.Options{Source: source, Encode: c.Encode, Sizes: c.Sizes, Shuffle: c.Shuffle}, err
}

// sourceSpec is what a plan keeps of the format and its options.
func (c *Conversion) sourceSpec() (plan.SourceSpec, error) {
	switch {
	case c.planned != nil:
		return *c.planned, nil
	case c.Mixture != nil:
		return c.Mixture.sourceSpec()
	}
	return plan.SourceSpec{Format: c.Reader.Name, Options: c.Reader.Set.Kept()}, nil
}

// plan indexes the sources and plans the shards.
func (c *Conversion) plan(ctx context.Context, set *stage.Set) (*plan.Plan, converters.Source, error) {
	o, err := c.open(ctx, set.Parts())
	if err != nil {
		return nil, nil, err
	}
	c.describe(o)
	index, err := plan.Index(ctx, o.Source, plan.IndexOptions{Encodings: o.each, Workers: c.indexers(), Progress: c.Progress})
	if err != nil {
		return nil, nil, err
	}
	how, err := c.options(o)
	if err != nil {
		return nil, nil, err
	}
	p, err := plan.New(index, how)
	return p, o.Source, empty(set.Files[0].Name, index, err)
}

// indexers is how many parts are indexed at once, [MinIndexers] at least.
func (c *Conversion) indexers() int { return max(c.Workers, MinIndexers) }

// MinIndexers is how many parts are indexed at once where there are fewer workers: indexing a
// cold part waits for one small read after another.
const MinIndexers = 8

// An EmptyError is that of sources without any samples to convert. It is [plan.ErrEmpty].
type EmptyError struct {
	Name    string // the first of the sources
	LeftOut int64  // samples without a field
	Skipped map[string]int64
	Err     error
}

func (e *EmptyError) Error() string { return fmt.Sprintf("%s: %v to convert", e.Name, e.Err) }
func (e *EmptyError) Unwrap() error { return e.Err }

// empty says of what there are no samples, and why, where that is the error.
func empty(first string, index []plan.PartIndex, err error) error {
	if !errors.Is(err, plan.ErrEmpty) {
		return err
	}
	e := &EmptyError{Name: first, Skipped: make(map[string]int64), Err: err}
	for i := range index {
		e.LeftOut += index[i].Account.SamplesLeftOut
		for reason, n := range index[i].Account.Skipped {
			e.Skipped[reason] += n
		}
	}
	return e
}
