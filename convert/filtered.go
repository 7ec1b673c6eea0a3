package convert

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/cbor"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/samples/filter"
	"github.com/ffconvert/ffconvert/internal/text"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// openFiltered opens a dataset whose samples pass through a program, which reads records of the encoding cbor. c.Encode is for
// its answers.
func (c *Conversion) openFiltered(ctx context.Context, parts []converters.Part) (*opened, error) {
	asked, err := c.openAs(ctx, parts, encode.Options{Encoding: "cbor", Limits: c.Encode.Limits})
	if err != nil {
		return nil, err
	}
	rec := c.Encode
	rec.Encoding = cmp.Or(rec.Encoding, "msgpack")
	spec, err := encode.Parse(rec)
	if err != nil {
		return nil, err
	}
	answered := cbor.Open(nil, cbor.Options{Fields: true, Load: rec.Loads})
	src := c.filtering().Source(asked.Source, func(part int) *encode.Spec { return asked.each.Specs[asked.each.Number(part)] }, answered)
	return &opened{src, converters.Describe(src), plan.OneEncoding(spec)}, nil
}

// filtering returns the program with the answers that it has given. It starts nothing.
func (c *Conversion) filtering() *filter.Filter {
	if c.through == nil {
		in := c.inputOptions()
		opts := filter.Options{
			Command: c.Filter, Guarded: in.Guarded, Processes: c.Workers, Timeout: c.FilterTimeout,
			CacheDir: in.CacheDir, NoCache: in.NoCache, Quota: in.Quota,
		}
		if c.was != nil {
			opts.Check = func(part int, name string, is *converters.Filtered) error {
				return plan.ForTask(c.was(part).CheckFiltered(name, is))
			}
		}
		if p, ok := c.Progress.(interface{ Filtered(samples, bytes int64) }); ok {
			opts.Progress = p.Filtered
		}
		c.through = filter.New(opts)
	}
	return c.through
}

// endFilter kills the program if it runs, and removes its answers.
func (c *Conversion) endFilter() error {
	if c.through == nil {
		return nil
	}
	err := c.through.Close()
	c.through = nil
	return err
}

// held returns release with the answers of the program to some parts, which are kept until it is called.
func (c *Conversion) held(first, n int, release func() error) func() error {
	if c.through == nil {
		return release
	}
	free := c.through.Hold(first, n)
	return func() error { return errors.Join(free(), release()) }
}

// checkFilter returns an error if the plan was made with a filter and the caller names none, or the other way round. The
// command line in the plan is never run.
func (r *recorded) checkFilter() error {
	switch was := r.plan.Source.Filter; {
	case was != "" && r.Filter == nil:
		return advise(TheFilter, fmt.Errorf("%s: its samples passed through the program %s, which no plan alone runs", r.dir, text.Name(was)))
	case was == "" && r.Filter != nil:
		return place.Options("%s: it was made without option filter; leave it out, or plan anew with it", r.dir)
	}
	return nil
}
