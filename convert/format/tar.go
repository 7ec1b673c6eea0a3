package format

import (
	"context"
	"errors"

	"github.com/ffconvert/ffconvert/convert/option"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/tar"
)

func tarOptions(set *option.Set) Opener {
	o := &tarOpener{}
	set.Add("allow-missing-trailer", "accept a tar that ends at a member without the two zero blocks", option.Bool(&o.opts.AllowMissingTrailer))
	set.Add("concatenated", "read on where another tar was appended to a tar", option.Bool(&o.opts.Concatenated))
	o.duplicates = duplicateOption(set, "tar")
	set.Add("nested", "the members are tars, one a class, as in ImageNet's ILSVRC2012_img_train.tar", option.Bool(&o.nested))
	set.Add("classes", "with nested, number the classes as this file does: one name a line, or the meta.json of another conversion", option.Text(&o.classes))
	set.AddLimit("max-sample-size", "largest sample accepted", option.MaxSize(&o.opts.MaxSample, tar.DefaultMaxSample))
	set.AddLimit("max-header-size", "largest PAX header or long name accepted", option.MaxSize(&o.opts.MaxHeader, tar.DefaultMaxHeader))
	set.AddLimit("max-classes-size", "largest file of --classes accepted", option.MaxSize(&o.maxClasses, defaultMaxClasses))
	return Opener{Open: o.open, numbers: func() bool { return o.nested }}
}

type tarOpener struct {
	opts       tar.Options
	duplicates *option.Choice
	nested     bool
	classes    string
	maxClasses int64 // bytes
}

// open opens tars.
func (o *tarOpener) open(ctx context.Context, req OpenRequest) (converters.Source, error) {
	opts, parts := o.opts, req.Parts
	opts.Classes = req.Classes
	opts.KeepDuplicates, opts.Load = o.duplicates.Value == "keep", loaded(req.Records)
	if opts.Classes == nil && o.classes != "" {
		if !o.nested {
			return nil, &option.Error{Name: "classes", Text: o.classes, Err: errors.New("a tar has classes with nested alone")}
		}
		var err error
		if opts.Classes, err = readClasses(o.classes, o.maxClasses); err != nil {
			return nil, err
		}
	}
	if o.nested {
		return tar.OpenNested(ctx, parts, opts)
	}
	return tar.Open(parts, opts), nil
}
