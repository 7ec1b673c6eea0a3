package shardtest

import (
	"cmp"
	"context"
	"errors"
	"runtime"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/write"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// ConvertOptions say which shards to make of a source, and how to write them. The zero value
// makes MessagePack records, or the encoding that the source proposes, in shards of FFRecord's own
// size, in the order of the input.
type ConvertOptions struct {
	Source  plan.SourceSpec // how a repair opens the source; zero: a repair needs the source given
	Encode  encode.Options  // of the records; Encoding "": what the source proposes, else msgpack
	Sizes   plan.Sizes
	Shuffle *plan.Shuffle // nil: samples keep their order
	Write   write.Options
}

// Convert makes a finished dataset of a source in the directory dir: it indexes the source, plans, writes, verifies and
// commits the shards.
func Convert(ctx context.Context, src converters.Source, dir string, opts ConvertOptions) (report *write.Report, err error) {
	out, err := dataset.Open(dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err = errors.Join(err, out.Close()); err != nil {
			report = nil
		}
	}()
	plan, err := planSource(ctx, src, opts)
	if err != nil {
		return nil, err
	}
	return write.All(ctx, write.Local(src), plan, out, opts.Write)
}

// planSource indexes a source and plans its shards.
func planSource(ctx context.Context, src converters.Source, opts ConvertOptions) (*plan.Plan, error) {
	says, rec := converters.Describe(src), opts.Encode
	if rec.Encoding == "" {
		rec.Encoding, rec.Encoded = says.Encoding, says.Encoded
	}
	spec, err := encode.Parse(rec)
	if err != nil {
		return nil, err
	}
	index, err := plan.Index(ctx, src, plan.IndexOptions{Encodings: plan.OneEncoding(spec), Workers: cmp.Or(opts.Write.Workers, runtime.GOMAXPROCS(0)), Progress: opts.Write.Progress})
	if err != nil {
		return nil, err
	}
	return plan.New(index, plan.Options{
		Recipe: plan.Recipe{Source: opts.Source, Encode: spec.Options(), Dataset: says, Shuffle: opts.Shuffle},
		Sizes:  opts.Sizes,
	})
}
