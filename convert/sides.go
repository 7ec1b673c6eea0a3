package convert

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/bucket"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/samples/choose"
	"github.com/ffconvert/ffconvert/internal/stage"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// Sides returns a conversion for each side of Choice.Split or Choice.SplitBy, or for each directory that the format's option split
// names, with a directory of its own in Out; without them, c alone. Each reads the sources again and is resumed by itself. For SplitBy all samples are indexed now.
func (c *Conversion) Sides(ctx context.Context) ([]*Conversion, error) {
	o := &c.Choice
	var dirs []string
	if c.Reader != nil {
		dirs = c.Reader.Splits()
	}
	switch {
	case o.Split == "" && o.SplitBy == "" && dirs == nil:
		return []*Conversion{c}, nil
	case dirs != nil && (o.Split != "" || o.SplitBy != ""):
		return nil, place.Options("directories are split already; convert one of them, DIR/NAME, with option split NAME=FRACTION,… or option split-by")
	case o.Split != "" && o.SplitBy != "":
		return nil, place.Options("option split and option split-by do not go together")
	}
	if c.Filter != nil {
		return nil, place.Options("a split reads its sources once for each side, and option filter would run its program for each; convert without the split, then split the dataset: ffconvert ffr")
	}
	if err := c.checkParent(ctx); err != nil {
		return nil, err
	}
	names := dirs
	if o.Split != "" {
		sides, err := choose.ParseSplit(o.Split)
		if err != nil {
			return nil, fmt.Errorf("split %q: %w", o.Split, err)
		}
		for _, s := range sides {
			names = append(names, s.Name)
		}
	} else if dirs == nil {
		var err error
		if names, err = c.values(ctx); err != nil {
			return nil, err
		}
	}
	var sides []*Conversion
	for _, name := range names {
		side, err := c.side(name, dirs != nil)
		if err != nil {
			return nil, err
		}
		sides = append(sides, side)
	}
	if o.SplitBy == "" && (o.Split != "" || len(sides) > 1) {
		if _, err := sides[0].prepare(ctx); err != nil {
			return nil, err
		}
		return sides, sides[0].oneRead()
	}
	return sides, nil
}

// side returns the conversion of one side; dir means that it is a directory of the source.
func (c *Conversion) side(name string, dir bool) (*Conversion, error) {
	one := *c
	if one.Out = filepath.Join(c.Out, name); IsURL(c.Out) {
		one.Out = bucket.Base(c.Out) + name
	}
	var err error
	switch {
	case dir:
		one.Reader, err = c.Reader.OfSplit(name)
	case one.Choice.Split != "":
		one.Choice.Side = name
	default:
		one.Choice.Value = name
	}
	return &one, err
}

// checkParent refuses a directory for sides that is a dataset itself.
func (c *Conversion) checkParent(ctx context.Context) error {
	if IsURL(c.Out) {
		if err := bucket.Check(c.Out); err != nil {
			return err
		}
		there, err := c.hasDataset(ctx, c.Out)
		if there {
			err = c.parentTaken()
		}
		return err
	}
	if err := dataset.CheckPath(c.Out); err != nil {
		return err
	}
	for _, name := range []string{dataset.ManifestName, dataset.WorkDir} {
		if _, err := os.Lstat(filepath.Join(c.Out, name)); err == nil {
			return c.parentTaken()
		}
	}
	return nil
}

func (c *Conversion) parentTaken() error {
	return fmt.Errorf("%s: here is a dataset, and a split makes one in each of its directories", c.Out)
}

// values returns the values of Choice.SplitBy that the samples have. It writes nothing.
func (c *Conversion) values(ctx context.Context) ([]string, error) {
	all := *c
	all.tally = true
	all.Choice.Slice, all.Choice.Limit, all.Choice.Sort = "", 0, "" // which apply to each side
	if _, err := all.prepare(ctx); err != nil {
		return nil, err
	}
	if err := all.oneRead(); err != nil {
		return nil, err
	}
	in := all.inputOptions()
	if in.CacheDir = c.Input.CacheDir; in.CacheDir == "" {
		remove := TemporaryCache(&in)
		defer remove()
	}
	in.Progress = all.staging(all.found)
	set, err := all.stage(ctx, all.found, in)
	if err != nil {
		return nil, err
	}
	names, err := all.tallied(ctx, set)
	return names, errors.Join(err, set.Release())
}

func (c *Conversion) tallied(ctx context.Context, set *stage.Set) ([]string, error) {
	o, err := c.open(ctx, set.Parts)
	if err != nil {
		return nil, err
	}
	chooser, err := c.chooser(o)
	if err != nil {
		return nil, err
	}
	index, err := plan.Index(ctx, o.Source, plan.IndexOptions{Encodings: o.each, Workers: Indexers(c.Workers), Progress: c.Progress, Choose: chooser})
	if err != nil {
		return nil, err
	}
	if err := chooser.Finish(); err != nil {
		return nil, err
	}
	if chooser.Values() == nil {
		return nil, empty(set.Parts[0].Name, index, plan.ErrEmpty)
	}
	return chooser.Values(), nil
}
