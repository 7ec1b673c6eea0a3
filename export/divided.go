package export

import (
	"context"
	"iter"
	"sync"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A divisible source can index a range of the samples of a shard, as [ffr.Source] does.
type divisible interface {
	converters.Source
	CheckShard(part int) error
	IndexRun(ctx context.Context, run converters.Run) iter.Seq2[*converters.Span, error]
}

// A divided source has shards of small samples, each as several parts, so that all processors can index one shard, and
// fill one tar.
type divided struct {
	divisible
	parts []converters.Part
	runs  []converters.Run // of the shards, one for each part
	check []func() error   // checks each shard once
}

// dividedSamples is the number of samples in a part of a divided source.
const dividedSamples = 32 << 10

// divide returns a divided source if samples are small, else src.
func divide(src converters.Source, heads []record.FileInfo) converters.Source {
	from, ok := src.(divisible)
	if !ok {
		return src
	}
	d := &divided{divisible: from}
	for i, head := range heads {
		each := head.Size / max(1, head.Samples)
		if each > plan.SmallRecord {
			return src
		}
		for first := int64(0); first < head.Samples; first += dividedSamples {
			run := converters.Run{Part: i, First: first, Count: min(dividedSamples, head.Samples-first)}
			part := from.Parts()[i]
			part.Size = each * run.Count
			d.parts, d.runs = append(d.parts, part), append(d.runs, run)
		}
		d.check = append(d.check, sync.OnceValue(func() error { return from.CheckShard(i) }))
	}
	return d
}

func (d *divided) Parts() []converters.Part { return d.parts }

// Index yields the samples of a part. Only the first part of a shard reports an error of the whole shard.
func (d *divided) Index(ctx context.Context, part int) iter.Seq2[*converters.Span, error] {
	return func(yield func(*converters.Span, error) bool) {
		run := d.runs[part]
		switch err := d.check[run.Part](); {
		case err == nil:
			d.IndexRun(ctx, run)(yield)
		case run.First == 0:
			yield(nil, err)
		}
	}
}

// Read yields the samples of a run.
func (d *divided) Read(ctx context.Context, run converters.Run) iter.Seq2[*converters.Sample, error] {
	at := d.runs[run.Part]
	run.Part, run.First = at.Part, at.First+run.First
	return d.divisible.Read(ctx, run)
}
