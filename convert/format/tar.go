package format

import (
	"context"
	"errors"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/tar"
	"github.com/ffconvert/ffconvert/internal/option"
)

func tarOptions(set *option.Set) Opener {
	var opts tar.Options
	var nested bool
	var classes string
	var maxClasses int64 // bytes
	set.Add("allow-missing-trailer", "accept a tar that ends at a member without the two zero blocks", option.Bool(&opts.AllowMissingTrailer))
	set.Add("concatenated", "read on where another tar was appended to a tar", option.Bool(&opts.Concatenated))
	duplicates := duplicateOption(set, "tar")
	set.Add("nested", "the members are tars, one a class, as in ImageNet's ILSVRC2012_img_train.tar", option.Bool(&nested))
	set.Add("classes", "with nested, number the classes as this file does: one name a line, or the meta.json of another conversion", option.Text(&classes))
	set.AddLimit("max-sample-size", "largest sample accepted", option.MaxSize(&opts.MaxSample, tar.DefaultMaxSample))
	set.AddLimit("max-header-size", "largest PAX header or long name accepted", option.MaxSize(&opts.MaxHeader, tar.DefaultMaxHeader))
	set.AddLimit("max-classes-size", "largest file of --classes accepted", option.MaxSize(&maxClasses, defaultMaxClasses))
	return Opener{numbers: func() bool { return nested }, Open: func(ctx context.Context, req OpenRequest) (converters.Source, error) {
		opts := opts
		opts.Classes, opts.KeepDuplicates, opts.Load = req.Classes, duplicates.Value == "keep", loaded(req.Records)
		if opts.Classes == nil && classes != "" {
			if !nested {
				return nil, &option.Error{Name: "classes", Text: classes, Err: errors.New("a tar has classes with nested alone")}
			}
			var err error
			if opts.Classes, err = readClasses(classes, maxClasses); err != nil {
				return nil, err
			}
		}
		if nested {
			return tar.OpenNested(ctx, req.Parts, opts)
		}
		return tar.Open(req.Parts, opts), nil
	}}
}
