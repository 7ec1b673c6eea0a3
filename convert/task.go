package convert

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ffconvert/ffconvert/convert/format"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/samples/choose"
	"github.com/ffconvert/ffconvert/internal/stage"
	"github.com/ffconvert/ffconvert/shard"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// Run writes one slice of the shards of the plan in a directory. Any number of processes may run at the
// same time, on any machines that see the directory and the sources. Run writes no manifest: see
// [Finish].
func Run(ctx context.Context, dir string, task plan.Task, opts PlannedOptions) (*shard.Report, error) {
	began := time.Now()
	if !IsURL(dir) {
		if err := checkPlanned(dir); err != nil {
			return nil, err
		}
	}
	out, err := opts.openTask(ctx, dir)
	if err != nil {
		return nil, err
	}
	if err := planned(out.Dataset); err != nil {
		return nil, errors.Join(err, out.Close())
	}
	r := taskRun{recorded: recorded{PlannedOptions: opts, dir: dir}, task: task, out: out}
	report, err := r.run(ctx)
	if err := closeOutput(out, err); err != nil {
		return nil, err
	}
	report.Seconds = time.Since(began).Seconds()
	return report, nil
}

// A taskRun is one call of Run.
type taskRun struct {
	recorded
	task  plan.Task
	out   *dataset.Task
	slice *plan.Slice
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
	r.plan = r.slice.Plan
	if r.wantsNamed() {
		if r.named, err = r.out.SourcesNamed(); err != nil {
			return nil, err
		}
	}
	c, err := r.conversion()
	if err != nil {
		return nil, err
	}
	c.output = r.out
	c.was = func(part int) *plan.Part { return &r.slice.Plan.Parts[part] }
	skip, err := r.find(ctx, c)
	if err != nil {
		return nil, r.advise(err)
	}
	if !r.slice.Plan.InOrder() || r.oneStream() || c.directories() != nil {
		return r.writeTogether(ctx, c)
	}
	var report *shard.Report
	err = c.withParts(ctx, skip, func(s *stagedParts) error {
		if err := s.checkQuota(r.slice.Plan); err != nil {
			return err
		}
		s.opened = r.slice.Opened
		report, err = shard.Run(ctx, s, r.slice, r.out, c.writeOptions())
		return err
	})
	return report, err
}

// wantsNamed reports whether the sources cannot be found by the names of the parts: a directory has
// many parts, and a mixture repeats parts.
func (r *taskRun) wantsNamed() bool {
	f, _ := format.Named(r.slice.Plan.Source.Format)
	return f.Directories || r.slice.Plan.Source.Format == SpecFormat
}

// wantsAll reports whether the slice has all parts, or all are needed to open it.
func (r *taskRun) wantsAll() bool {
	return r.slice.Plan.Source.Format == SpecFormat || !r.slice.Plan.InOrder() || r.oneStream()
}

// oneStream reports whether the parts of the dataset are one stream.
func (r *taskRun) oneStream() bool {
	source := r.slice.Plan.Source
	f, _ := format.Named(source.Format)
	return f.Stream != "" && source.Options[f.Stream] == "true"
}

// names returns the names of the parts of the slice.
func (r *taskRun) names() []string {
	var names []string
	for i := range r.slice.Plan.Parts {
		names = append(names, r.slice.Plan.Parts[i].Name)
	}
	return names
}

// find finds the parts of the slice. If the format inspects the first part of the dataset, and it is of
// another slice, find puts it before them and skip is 1.
func (r *taskRun) find(ctx context.Context, c *Conversion) (skip int, err error) {
	s := r.slice
	if c.Mixture != nil || c.Reader.Directories { // the sources are not the parts
		return 0, c.find(ctx)
	}
	names := r.names()
	if c.Reader.Inspects && s.First != s.LeadAt {
		names, skip = append([]string{s.Lead.Name}, names...), 1
	}
	if len(r.Sources) == 0 {
		c.found, err = input.FindNamed(ctx, names, c.inputOptions().Options)
		return skip, err
	}
	if err := c.find(ctx); err != nil {
		return 0, err
	}
	all := c.found
	if len(all) != s.Parts {
		return 0, fmt.Errorf("%s: its plan is of %d sources, %d were found", r.dir, s.Parts, len(all))
	}
	c.found = all[s.First : s.First+len(s.Plan.Parts)]
	if skip > 0 {
		c.found = append([]input.Name{all[s.LeadAt]}, c.found...)
	}
	return skip, nil
}

// writeTogether writes the slice of a dataset that is opened with all parts at once. Only directories
// that the slice needs are listed.
func (r *taskRun) writeTogether(ctx context.Context, c *Conversion) (*shard.Report, error) {
	var report *shard.Report
	c.trimTo(r.slice.Plan)
	c.was = func(part int) *plan.Part { return &r.slice.Plan.Parts[part-r.slice.First] }
	err := c.staged(ctx, func(set *stage.Set) error {
		o, err := c.open(ctx, c.withOthers(set))
		if err != nil {
			return err
		}
		src := o.Source
		if c.directories() != nil {
			if src, err = r.recognised(ctx, c, o); err != nil {
				return err
			}
		}
		report, err = shard.Run(ctx, shard.Local(src), r.slice, r.out, c.writeOptions())
		return err
	})
	return report, err
}

// recognised returns a source of the parts of the slice, after comparing them with the plan.
func (r *taskRun) recognised(ctx context.Context, c *Conversion, o *opened) (converters.Source, error) {
	c.describe(o)
	src, err := r.slice.Of(o.Source)
	if err != nil {
		return nil, err
	}
	how := plan.IndexOptions{Encodings: o.each, Workers: c.Workers, Progress: c.Progress}
	if r.slice.Plan.Choice != nil {
		how.Choose = choose.Nothing() // names and sizes of files are compared
	}
	index, err := plan.Index(ctx, src, how)
	if err != nil {
		return nil, err
	}
	return src, r.slice.Recognise(index)
}
