package convert

import (
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/samples/choose"
)

// choice returns the choice for a plan; nil: all samples.
func (c *Conversion) choice() *choose.Options {
	if c.planned != nil || c.Choice.IsZero() {
		return nil
	}
	return &c.Choice
}

// chooser returns what chooses the samples of an open dataset; nil: all.
func (c *Conversion) chooser(o *opened) (*choose.Chooser, error) {
	if c.choice() == nil {
		return nil, nil
	}
	chooser, err := choose.New(c.Choice, o.says.Classes)
	if err == nil && c.joins() {
		chooser.Through()
	}
	return chooser, err
}

// checkChoice refuses a choice before anything is read.
func (c *Conversion) checkChoice() error {
	if c.choice() == nil {
		return nil
	}
	switch {
	case c.Choice.Sort != "" && c.Shuffle != nil:
		return place.Options("option sort and option shuffle do not go together: both are an order of all samples")
	case c.Choice.Split != "" && c.Choice.Side == "", c.Choice.SplitBy != "" && c.Choice.Value == "" && !c.tally:
		return place.Options("a split makes a dataset of each side: see Conversion.Sides")
	}
	trial := c.Choice
	if trial.SplitBy != "" {
		trial.Value = "x" // it is not known yet, or found
	}
	_, err := choose.New(trial, nil)
	return err
}

// checkTaskChoice refuses a choice that needs an index of all parts by one process.
func (c *Conversion) checkTaskChoice() error {
	const why = "no task can know that, as each indexes some parts"
	switch {
	case c.Choice.Ordered():
		return place.Options("option limit and option slice count the samples of all parts; %s", why)
	case c.Choice.Sort != "":
		return place.Options("option sort compares the samples of all parts; %s", why)
	case c.Choice.Listed():
		return place.Options("option unknown-keys=error looks for each key in all parts; %s: option unknown-keys=skip", why)
	}
	return nil
}

// oneRead returns an error if the sources cannot be read once for each side of a split.
func (c *Conversion) oneRead() error {
	for _, n := range c.found {
		switch {
		case c.Program != nil || n.Name == "-" && n.Path == "":
			err := fmt.Errorf("%w: a split reads its sources once for each side", converters.ErrUnsupported)
			return &converters.Error{Where: n.Name, Off: -1, Err: err, Hint: "write it to a file first"}
		case n.URL() != "" && c.Input.CacheDir == "":
			return place.Options("a split reads its sources once for each side, and some are remote: option cache-dir says where they are kept, so that each is fetched once")
		}
	}
	return nil
}
