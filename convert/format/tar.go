package format

import (
	"context"

	"github.com/ffconvert/ffconvert/convert/option"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/tar"
	"github.com/ffconvert/ffconvert/encode"
)

func tarOptions(set *option.Set) Opener {
	var opts tar.Options
	set.Add("allow-missing-trailer", "accept a tar that ends at a member without the two zero blocks", option.Bool(&opts.AllowMissingTrailer))
	set.Add("concatenated", "read on where another tar was appended to a tar", option.Bool(&opts.Concatenated))
	duplicates := duplicateOption(set, "tar")
	set.AddLimit("max-sample-size", "largest sample accepted", option.MaxSize(&opts.MaxSample, tar.DefaultMaxSample))
	set.AddLimit("max-header-size", "largest PAX header or long name accepted", option.MaxSize(&opts.MaxHeader, tar.DefaultMaxHeader))
	return OpenFunc(func(_ context.Context, parts []converters.Part, rec encode.Options) (converters.Source, error) {
		opts.KeepDuplicates, opts.Load = duplicates.Value == "keep", loaded(rec)
		return tar.Open(parts, opts), nil
	})
}
