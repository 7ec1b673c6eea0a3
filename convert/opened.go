package convert

import (
	"context"
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// An opened is an open source with its description and the encodings of its parts.
type opened struct {
	converters.Source
	says converters.Description
	each plan.Encodings // of the records of each part
}

// open opens a dataset of parts and decides the encoding of its records: the caller's, else the one
// that the source proposes. Until then c.Encode.Encoding may be "".
func (c *Conversion) open(ctx context.Context, parts []converters.Part) (*opened, error) {
	var o *opened
	var err error
	if c.Filter != nil {
		o, err = c.openFiltered(ctx, parts)
	} else {
		o, err = c.openAs(ctx, parts, c.Encode)
	}
	if err != nil {
		return nil, err
	}
	if shape := o.each.Specs[0].PixelShape(); shape != nil {
		o.says.Shape, o.says.DType = shape, "uint8"
	}
	return o, c.sameTables(o.says)
}

// openAs opens a dataset for records of the options rec.
func (c *Conversion) openAs(ctx context.Context, parts []converters.Part, rec encode.Options) (*opened, error) {
	if c.Mixture != nil {
		return c.Mixture.open(ctx, c.openRequest(parts, rec))
	}
	src, err := c.Reader.Open(ctx, c.openRequest(parts, rec))
	if err != nil {
		return nil, err
	}
	o := &opened{Source: src, says: converters.Describe(src)}
	if rec.Encoding == "" {
		rec.Encoding, rec.Encoded = o.says.Encoding, o.says.Encoded
	}
	spec, err := encode.Parse(rec)
	o.each = plan.OneEncoding(spec)
	return o, err
}

// sameTables returns an error if the tables of added fields differ from the ones of the plan.
func (c *Conversion) sameTables(says converters.Description) error {
	if c.planned == nil {
		return nil
	}
	for i, is := range says.Added {
		if i >= len(c.added) || c.added[i] != is {
			return &converters.Error{Where: is.File, Off: -1, Err: fmt.Errorf("%w: field %s has other values now", converters.ErrChanged, is.Name), Hint: "put the file back, or plan anew with option overwrite"}
		}
	}
	return nil
}

// describe keeps the source and what it says for the result, and reports its doubts.
func (c *Conversion) describe(o *opened) {
	c.src, c.says = o.Source, o.says
	c.tellDoubts()
}

// options returns the options of the plan of an open dataset.
func (c *Conversion) options(o *opened) (plan.Options, error) {
	how, err := c.request()
	how.Encode, how.Encodes, how.EncodeOf = o.each.Specs[0].Options(), o.each.Options(), o.each.Of
	how.Encode.Load = nil
	for i := range how.Encodes {
		how.Encodes[i].Load = nil
	}
	how.Dataset = o.says
	return how, err
}
