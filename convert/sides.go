package convert

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset/bucket"
	"github.com/ffconvert/ffconvert/internal/option"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/samples/choose"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// Sides returns one conversion for each side of Choice.Split or Choice.SplitBy, or for each directory in the option
// split of the format, with a directory in Out; without these options, only c. Each conversion reads the sources again
// and is resumed separately. For SplitBy, Sides indexes all samples.
func (c Conversion) Sides(ctx context.Context) ([]Conversion, error) {
	o := &c.Choice
	var dirs []string
	if c.Reader != nil {
		dirs = c.Reader.Splits()
	}
	switch {
	case o.Split == "" && o.SplitBy == "" && dirs == nil:
		return []Conversion{c}, nil
	case dirs != nil && (o.Split != "" || o.SplitBy != ""):
		return nil, place.Options("directories are split already; convert one of them, DIR/NAME, with option split NAME=FRACTION,… or option split-by")
	case o.Split != "" && o.SplitBy != "":
		return nil, place.Options("%s", option.Clash("split", "split-by"))
	}
	if c.Filter != nil {
		return nil, place.Options("a split reads its sources once for each side, and option filter would run its program for each; convert without the split, then split the dataset: ffconvert ffr")
	}
	if err := c.output().checkParent(ctx); err != nil {
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
	var sides []Conversion
	for _, name := range names {
		side, err := c.side(name, dirs != nil)
		if err != nil {
			return nil, err
		}
		sides = append(sides, side)
	}
	if o.SplitBy == "" && (o.Split != "" || len(sides) > 1) {
		in, err := sides[0].begin(ctx)
		if err != nil {
			return nil, err
		}
		return sides, in.oneRead()
	}
	return sides, nil
}

// side returns the conversion of one side; dir means that the side is a directory of the source.
func (c Conversion) side(name string, dir bool) (one Conversion, err error) {
	one = c
	if one.Out = filepath.Join(c.Out, name); IsURL(c.Out) {
		one.Out = bucket.Base(c.Out) + name
	}
	switch {
	case dir:
		one.Reader, err = c.Reader.OfSplit(name)
	case one.Choice.Split != "":
		one.Choice.Side = name
	default:
		one.Choice.Value = name
	}
	return one, err
}

// values returns the values of Choice.SplitBy in the samples. It writes nothing.
func (c Conversion) values(ctx context.Context) (names []string, err error) {
	c.Choice.Slice, c.Choice.Limit, c.Choice.Sort = "", 0, "" // these apply to each side
	c.Doubt, c.Listed = nil, nil                              // each side reports them
	in, err := c.findAll(ctx)
	if err != nil {
		return nil, err
	}
	if err := in.oneRead(); err != nil {
		return nil, err
	}
	err = in.work(ctx, nil, func(w *work) error {
		return w.survey(ctx, selection{}, func(s *survey) error {
			if names = s.chooser.Values(); names == nil {
				return empty(in.names[0].Name, s.index, plan.ErrEmpty)
			}
			return nil
		})
	})
	return names, err
}

// oneRead returns an error if the sources cannot be read again for each side of a split.
func (in *inputs) oneRead() error {
	for _, n := range in.names {
		switch {
		case in.program != nil || isStdin(n):
			err := fmt.Errorf("%w: a split reads its sources once for each side", converters.ErrUnsupported)
			return &converters.Error{Where: n.Name, Off: -1, Err: err, Hint: "write it to a file first"}
		case n.URL() != "" && in.Input.CacheDir == "":
			return place.Options("a split reads its sources once for each side, and some are remote: option cache-dir says where they are kept, so that each is fetched once")
		}
	}
	return nil
}
