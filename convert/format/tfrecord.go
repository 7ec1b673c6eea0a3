package format

import (
	"context"
	"slices"

	"github.com/ffconvert/ffconvert/convert/option"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/tfrecord"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/input/kind"
)

// isTFRecord reports whether a file of a directory is a TFRecord file, by its name.
func isTFRecord(name string) bool {
	k := kind.Name(name)
	return len(k) == 1 && k[0].ID == "tfrecord"
}

func tfrecordOptions(set *option.Set) Opener {
	o := &featuresOpener{open: tfrecord.Open}
	o.add(set)
	return o
}

// A featuresOpener opens files of records with features.
type featuresOpener struct {
	opts   tfrecord.Options
	lists  []string
	decode bool // features, whatever the options of records
	open   func([]converters.Part, tfrecord.Options) (converters.Source, error)
}

func (o *featuresOpener) add(set *option.Set) {
	set.Add("lists", "features that are lists in every sample, all others are one value: a,b; all; or none (default: told from the first 1,000 records)", option.List(&o.lists))
	set.AddLimit("max-sample-size", "largest sample accepted", option.MaxSize(&o.opts.MaxSample, tfrecord.DefaultMaxSample))
}

func (o *featuresOpener) setDecoding() { o.decode = true }

func (o *featuresOpener) Open(_ context.Context, parts []converters.Part, rec encode.Options) (converters.Source, error) {
	opts := o.opts
	opts.Load = loaded(rec)
	opts.Whole = rec.Encoding == "raw" && rec.Fields == "" && rec.Rename == nil && !rec.Decode && !o.decode
	switch {
	case slices.Equal(o.lists, []string{"all"}):
		opts.AllLists = true
	case slices.Equal(o.lists, []string{"none"}):
		opts.Lists = []string{}
	case len(o.lists) > 0:
		opts.Lists = o.lists
	}
	return o.open(parts, opts)
}
