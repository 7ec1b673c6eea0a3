package convert

import (
	"cmp"
	"context"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// An opened is a dataset whose source is open. From here on its encoding is known.
type opened struct {
	converters.Source
	says converters.Description
	each plan.Encodings // of the records of each part
}

// open opens a dataset of parts, and decides how its records are encoded: as the caller says, else
// as the source proposes. Before that, and only in this package, c.Encode.Encoding may be "".
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

// describe notes what an open dataset says for the result, and tells of what its first rows show
// that may not be meant.
func (c *Conversion) describe(o *opened) {
	c.src, c.columns = o.Source, o.says.Columns
	c.tellDoubts()
}

// options are those of the plan of an open dataset.
func (c *Conversion) options(o *opened) (plan.Options, error) {
	how, err := c.request()
	how.Encode, how.Encodes, how.EncodeOf = o.each.Specs[0].Options(), o.each.Options(), o.each.Of
	how.Dataset = o.says
	return how, err
}
