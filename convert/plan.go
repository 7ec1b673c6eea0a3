package convert

import (
	"context"
	"errors"
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/input"
	"github.com/ffconvert/ffconvert/shard"
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
// named.
func (c *Conversion) request() (plan.Options, error) {
	enc, err := encode.Parse(c.Encode)
	if err != nil {
		return plan.Options{}, err
	}
	how, err := c.planOptions(enc)
	how.Encode.Encoding = c.Encode.Encoding
	return how, err
}

func (c *Conversion) planOptions(enc *encode.Spec) (plan.Options, error) {
	source, err := c.sourceSpec()
	return plan.Options{Source: source, Encode: enc.Options(), Sizes: c.Sizes, Shuffle: c.Shuffle}, err
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

// A described dataset is one of which its source has said what it is.
type described struct {
	says converters.Description
	enc  *encode.Spec   // of its records
	each plan.Encodings // of the records of each part
}

// describe returns what a source says of its dataset, and how its records are encoded. It tells
// of what the first rows show that may not be meant.
func (c *Conversion) describe(src converters.Source) (d described, err error) {
	c.src = src
	c.tellDoubts()
	records := c.Encode
	if c.Mixture != nil {
		records.Encoding = c.Mixture.encoding
	}
	if d.says, d.enc, err = shard.DescribeSource(src, records); err != nil {
		return d, err
	}
	c.columns = d.says.Columns
	d.each = plan.Encodings{Specs: []*encode.Spec{d.enc}}
	if c.Mixture != nil {
		d.each, err = c.Mixture.encodings(d.enc)
	}
	return d, err
}

// describedOptions are those of the plan of a described dataset.
func (c *Conversion) describedOptions(d described) (plan.Options, error) {
	how, err := c.planOptions(d.enc)
	how.Dataset, how.Encodes, how.EncodeOf = d.says, d.each.Options(), d.each.Of
	return how, err
}

// plan indexes the sources and plans the shards.
func (c *Conversion) plan(ctx context.Context, set *input.Set) (*plan.Plan, converters.Source, error) {
	src, err := c.open(ctx, set.Parts())
	if err != nil {
		return nil, nil, err
	}
	d, err := c.describe(src)
	if err != nil {
		return nil, nil, err
	}
	index, err := plan.Index(ctx, src, plan.IndexOptions{Encodings: d.each, Workers: c.indexers(), Progress: c.Progress})
	if err != nil {
		return nil, nil, err
	}
	how, err := c.describedOptions(d)
	if err != nil {
		return nil, nil, err
	}
	p, err := plan.New(index, how)
	return p, src, empty(set.Files[0].Name, index, err)
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
