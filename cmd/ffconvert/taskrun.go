package main

import (
	"context"
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/input"
	"github.com/ffconvert/ffconvert/shard"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A taskRun is one run of the command.
type taskRun struct {
	opts     runOptions
	task     plan.Task
	dir      string
	sources  []string // named by the user; none: by the plan
	out      *dataset.Output
	slice    *plan.Slice
	progress *reporter
}

func (r *taskRun) run(ctx context.Context) (*shard.Report, error) {
	var err error
	if r.slice, err = r.out.Slice(r.task, false); err != nil {
		return nil, err
	}
	if len(r.slice.Plan.Shards) == 0 {
		return &shard.Report{Task: r.task}, nil
	}
	if r.wantsAll() {
		if r.slice, err = r.out.Slice(r.task, true); err != nil {
			return nil, err
		}
	}
	made := planned{
		opts: r.opts.convertOptions, limits: r.opts.limits, command: "run",
		dir: r.dir, sources: r.sources, plan: r.slice.Plan,
	}
	if r.wantsNamed() {
		if made.named, err = r.out.SourcesNamed(); err != nil {
			return nil, err
		}
	}
	c, err := made.conversion()
	if err != nil {
		return nil, err
	}
	c.output = r.out
	in := c.inputOptions()
	found, beside, err := r.find(ctx, c, in)
	if err != nil {
		return nil, made.hint(err)
	}
	if r.slice.Plan.Shuffle != nil || c.directories(found) != nil {
		return r.writeTogether(ctx, c, found, in)
	}
	var report *shard.Report
	err = c.stocked(ctx, found, beside, in, r.progress, func(s *stock) error {
		if err := s.fits(r.slice.Plan); err != nil {
			return err
		}
		s.opened = r.slice.Opened
		report, err = shard.Run(ctx, s, r.slice, r.out, c.writeOptions(ctx, r.progress))
		return err
	})
	return report, err
}

// wantsNamed reports whether the parts of the plan cannot be found by their own names: directories
// have many, and a mixture has some twice.
func (r *taskRun) wantsNamed() bool {
	f, _ := formatNamed(r.slice.Plan.Source.Format)
	return f.directories || r.slice.Plan.Source.Format == specFormat
}

// wantsAll reports whether the slice is of all parts, or needs them to be opened.
func (r *taskRun) wantsAll() bool {
	return r.slice.Plan.Source.Format == specFormat || r.slice.Plan.Shuffle != nil
}

// names are those of the parts of the slice.
func (r *taskRun) names() []string {
	var names []string
	for i := range r.slice.Plan.Parts {
		names = append(names, r.slice.Plan.Parts[i].Name)
	}
	return names
}

// find finds the parts of the slice, and in front of them that one of the dataset that tells how
// the others are read, where there is one that does and it is not the first: beside is 1 then.
func (r *taskRun) find(ctx context.Context, c *conversion, in input.Options) (found []input.Name, beside int, err error) {
	s := r.slice
	names := r.names()
	if c.format.inspects && s.First != s.LeadAt {
		names, beside = append([]string{s.Lead.Name}, names...), 1
	}
	switch {
	case c.mix != nil || c.format.directories: // whose parts are no names
		found, err = c.find(ctx, in)
		return found, 0, err
	case len(r.sources) == 0:
		found, err = input.FindNamed(ctx, names, in)
		return found, beside, err
	}
	all, err := c.find(ctx, in)
	if err != nil {
		return nil, 0, err
	}
	if len(all) != s.Parts {
		return nil, 0, fmt.Errorf("%s: its plan is of %d sources, here are %d", r.dir, s.Parts, len(all))
	}
	some := all[s.First : s.First+len(s.Plan.Parts)]
	if beside > 0 {
		some = append([]input.Name{all[s.LeadAt]}, some...)
	}
	return some, beside, nil
}

// writeTogether writes the slice of a dataset all of whose parts are opened at once. Of directories
// those are listed that the slice needs.
func (r *taskRun) writeTogether(ctx context.Context, c *conversion, found []input.Name, in input.Options) (*shard.Report, error) {
	var report *shard.Report
	err := c.staged(ctx, found, in, r.progress, func(set *input.Set) error {
		src, err := c.source(ctx, set)
		if err != nil {
			return err
		}
		if c.directories(found) != nil {
			if src, err = r.recognised(ctx, c, src); err != nil {
				return err
			}
		}
		report, err = shard.Run(ctx, shard.Local(src), r.slice, r.out, c.writeOptions(ctx, r.progress))
		return err
	})
	return report, err
}

// recognised returns the parts of the slice, once they are what was planned.
func (r *taskRun) recognised(ctx context.Context, c *conversion, src converters.Source) (converters.Source, error) {
	d, err := c.describe(src, r.progress)
	if err != nil {
		return nil, err
	}
	if src, err = r.slice.Of(src); err != nil {
		return nil, err
	}
	index, err := plan.Index(ctx, src, plan.IndexOptions{Encodings: d.each, Workers: c.opts.workers, Progress: r.progress})
	if err != nil {
		return nil, err
	}
	return src, r.slice.Recognise(index)
}
