package format

import (
	"context"
	"slices"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/tfrecord"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/option"
)

// isTFRecord reports whether a file in a directory is named as a TFRecord file.
func isTFRecord(name string) bool {
	k := input.KindOfName(name)
	return len(k) == 1 && k[0].ID == "tfrecord"
}

func tfrecordOptions(set *option.Set) Opener {
	return featuresOptions(set, &tfrecord.Options{}, tfrecord.Open)
}

// featuresOptions adds the options of files whose records have features. open opens such files.
func featuresOptions(set *option.Set, opts *tfrecord.Options, open func([]converters.Part, tfrecord.Options) (converters.Source, error)) Opener {
	var lists []string
	set.Add("lists", "features that are lists in every sample, all others are one value: a,b; all; or none (default: told from the first 1,000 records)", option.List(&lists))
	set.AddLimit("max-sample-size", "largest sample accepted", option.MaxSize(&opts.MaxSample, tfrecord.DefaultMaxSample))
	return Opener{Open: func(_ context.Context, req OpenRequest) (converters.Source, error) {
		opts, rec := *opts, req.Records
		opts.Load = loaded(rec)
		opts.Whole = rec.Encoding == "raw" && rec.Fields == "" && rec.Rename == nil && !rec.Decode && !req.Decode
		switch {
		case slices.Equal(lists, []string{"all"}):
			opts.AllLists = true
		case slices.Equal(lists, []string{"none"}):
			opts.Lists = []string{}
		case len(lists) > 0:
			opts.Lists = lists
		}
		return open(req.Parts, opts)
	}}
}
