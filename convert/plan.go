package convert

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/stage"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// check returns an error if the output has another dataset, as far as this is known before the input
// is read.
func (c *Conversion) check() error {
	var names []string // names of the parts; nil for directories, which are listed later
	if c.directories() == nil {
		for _, p := range c.foundParts() {
			names = append(names, p.Name)
		}
	}
	how, err := c.request()
	if err != nil {
		return err
	}
	return c.output.Check(how, names, c.Overwrite)
}

// request returns the options of the plan before anything is read. Its encoding is the caller's, or "".
func (c *Conversion) request() (plan.Options, error) {
	source, err := c.sourceSpec()
	return plan.Options{Source: source, Encode: c.Encode, Sizes: c.Sizes, Shuffle: c.Shuffle, Choice: c.choice()}, err
}

// sourceSpec returns the format and its options for the plan.
func (c *Conversion) sourceSpec() (source plan.SourceSpec, err error) {
	switch {
	case c.planned != nil:
		return *c.planned, nil
	case c.Mixture != nil:
		if source, err = c.Mixture.sourceSpec(); err != nil {
			return source, err
		}
	default:
		source = plan.SourceSpec{Format: c.Reader.Name, Options: c.Reader.Set.Kept()}
	}
	if c.Filter != nil {
		source.Filter = c.Filter.Name
	}
	return source, nil
}

// plan indexes the sources and plans the shards.
func (c *Conversion) plan(ctx context.Context, set *stage.Set) (*plan.Plan, converters.Source, error) {
	o, err := c.open(ctx, c.withOthers(set))
	if err != nil {
		return nil, nil, err
	}
	c.describe(o)
	chooser, err := c.chooser(o)
	if err != nil {
		return nil, nil, err
	}
	index, err := plan.Index(ctx, o.Source, plan.IndexOptions{Encodings: o.each, Workers: Indexers(c.Workers), Progress: c.Progress, Choose: chooser})
	if err := cmp.Or(err, chooser.Finish()); err != nil {
		return nil, nil, err
	}
	if err := check(ctx, o.Source); err != nil {
		return nil, nil, err
	}
	how, err := c.options(o)
	if err != nil {
		return nil, nil, err
	}
	p, err := plan.New(index, how)
	return p, o.Source, empty(set.Parts[0].Name, index, err)
}

// check makes the checks of a source that need all its samples, which were indexed.
func check(ctx context.Context, src converters.Source) error {
	if c, ok := src.(interface{ Check(context.Context) error }); ok {
		return c.Check(ctx)
	}
	return nil
}

// An EmptyError reports that the sources have no samples to convert. It wraps [plan.ErrEmpty].
type EmptyError struct {
	Name      string           // the first of the sources
	LeftOut   int64            // samples that lack a field
	NotChosen map[string]int64 // samples that were not chosen, by the option that left them out
	Skipped   map[string]int64
	Err       error
}

func (e *EmptyError) Error() string { return fmt.Sprintf("%s: %v to convert", e.Name, e.Err) }
func (e *EmptyError) Unwrap() error { return e.Err }

// empty returns an EmptyError with the counts of the index if err is plan.ErrEmpty, else err.
func empty(first string, index []plan.PartIndex, err error) error {
	if !errors.Is(err, plan.ErrEmpty) {
		return err
	}
	e := &EmptyError{Name: first, Skipped: make(map[string]int64), NotChosen: make(map[string]int64), Err: err}
	for i := range index {
		e.LeftOut += index[i].Account.WithoutField()
		for option, n := range index[i].Account.LeftOutBy {
			e.NotChosen[option] += n
		}
		for reason, n := range index[i].Account.Skipped {
			e.Skipped[reason] += n
		}
	}
	return e
}

// Indexing a part that is not in the page cache waits for many small reads, one after another, so more parts
// are indexed at once than there are workers: as many as keep the device busy.
const (
	usualIndexers = 32 // or as many as there are workers
	leastIndexers = 8  // even if few files may be open
)

// Indexers returns the number of parts to index at once. Each has an open file.
func Indexers(workers int) int {
	return min(max(workers, usualIndexers), max(leastIndexers, openFiles()/4))
}
