package format

import (
	"context"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/parquet"
	"github.com/ffconvert/ffconvert/internal/option"
)

func parquetOptions(set *option.Set) Opener {
	var opts parquet.Options
	set.AddLimit("max-footer-size", "largest footer of a file accepted", option.MaxSize(&opts.MaxFooter, parquet.DefaultMaxFooter))
	set.AddLimit("max-page-size", "largest page accepted, and all pages and dictionaries held at once", option.MaxSize(&opts.MaxPage, parquet.DefaultMaxPage))
	set.AddLimit("max-value-size", "largest value accepted, and all nested values of a row", option.MaxSize(&opts.MaxValue, parquet.DefaultMaxValue))
	return Opener{Open: func(ctx context.Context, req OpenRequest) (converters.Source, error) {
		rec := &req.Records
		opts.Fields, opts.Load = rec.Needs(), rec.Loads
		opts.Labels = rec.Encoding == ""
		opts.Pack = (rec.Encoding == "" || rec.Encoding == "raw") && !rec.Rewrites() && rec.Load == nil
		return parquet.Open(ctx, req.Parts, opts)
	}}
}
