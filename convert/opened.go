package convert

import (
	"cmp"
	"context"

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
	if c.Mixture != nil {
		return c.Mixture.open(ctx, parts, c.Encode)
	}
	src, err := c.Reader.Open(ctx, parts, c.Encode)
	if err != nil {
		return nil, err
	}
	o := &opened{Source: src, says: converters.Describe(src)}
	rec := c.Encode
	rec.Encoding = cmp.Or(rec.Encoding, o.says.Encoding)
	spec, err := encode.Parse(rec)
	o.each = plan.OneEncoding(spec)
	return o, err
}

// describe keeps the source and its columns for the result, and reports its doubts.
func (c *Conversion) describe(o *opened) {
	c.src, c.columns = o.Source, o.says.Columns
	c.tellDoubts()
}

// options returns the options of the plan of an open dataset.
func (c *Conversion) options(o *opened) (plan.Options, error) {
	how, err := c.request()
	how.Encode, how.Encodes, how.EncodeOf = o.each.Specs[0].Options(), o.each.Options(), o.each.Of
	how.Dataset = o.says
	return how, err
}
