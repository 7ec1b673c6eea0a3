package convert

import (
	"context"
	"fmt"
	"time"

	"github.com/ffconvert/ffconvert/convert/format"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/write"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/samples/choose"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// Run writes one slice of the shards of the plan in the output. Any number of processes may run at the same time, on
// any machines that can access the output and the sources. Run writes no manifest: see [Conversion.Finish].
func (c Conversion) Run(ctx context.Context, task plan.Task) (*write.Report, error) {
	began := time.Now()
	to := c.output()
	if err := to.checkPlan(); err != nil {
		return nil, err
	}
	out, err := to.openTask(ctx)
	if err != nil {
		return nil, err
	}
	var report *write.Report
	if err = planned(out.Dataset); err == nil {
		report, err = c.run(ctx, out, task)
	}
	if err := closeOutput(out, err); err != nil {
		return nil, err
	}
	report.Seconds = time.Since(began).Seconds()
	return report, nil
}

func (c Conversion) run(ctx context.Context, out *dataset.Task, task plan.Task) (report *write.Report, err error) {
	s, err := out.Slice(task, false)
	if err != nil {
		return nil, err
	}
	if len(s.Plan.Shards) == 0 {
		return &write.Report{Task: task}, nil
	}
	source := s.Plan.Source
	f, _ := format.Named(source.Format)
	oneStream := f.Stream != "" && source.Options[f.Stream] == "true"
	if source.Format == SpecFormat || !s.Plan.InOrder() || oneStream { // opening the slice needs all parts
		if s, err = out.Slice(task, true); err != nil {
			return nil, err
		}
	}
	together := !s.Plan.InOrder() || oneStream
	var named []string
	if f.Directories || source.Format == SpecFormat { // parts are not sources
		if named, err = out.SourcesNamed(); err != nil {
			return nil, err
		}
	}
	r, err := c.resolvePlan("run", s.Plan, named)
	if err != nil {
		return nil, err
	}
	in, skip, err := r.findSlice(ctx, s)
	if err != nil {
		return nil, r.adviseNames(err)
	}
	err = in.work(ctx, out, func(w *work) error {
		if together || w.directories() != nil {
			w.firstPart = s.First
			return w.together(ctx, func(o *opened) error {
				src, err := o.Source, error(nil)
				if w.directories() != nil {
					if src, err = w.recognise(ctx, s, o); err != nil {
						return err
					}
				}
				report, err = write.Slice(ctx, write.Local(src), s, out, w.writeOptions())
				return err
			})
		}
		return w.byParts(skip, func(parts *stagedParts) error {
			if err := parts.checkQuota(s.Plan); err != nil {
				return err
			}
			if parts.opened = s.Opened; skip > 0 {
				s.OpenedBy = &parts.parts[0]
			}
			report, err = write.Slice(ctx, parts, s, out, w.writeOptions())
			return err
		})
	})
	return report, err
}

// findSlice finds the parts of a slice. If the format inspects the first part of the dataset, and that is in another
// slice, findSlice puts it before them and returns skip 1.
func (r *request) findSlice(ctx context.Context, s *plan.Slice) (in *inputs, skip int, err error) {
	if r.Spec != nil || r.Reader.Directories { // parts are not sources
		in, err = r.find(ctx)
		return in, 0, err
	}
	var names []string
	if r.Reader.Inspects && s.First != s.LeadAt {
		names, skip = append(names, s.Lead.Name), 1
	}
	for i := range s.Plan.Parts {
		names = append(names, s.Plan.Parts[i].Name)
	}
	if !r.renamed {
		in = &inputs{request: r, counts: []int{len(names)}}
		in.names, err = input.FindNamed(ctx, names, r.inputOptions().Options)
		return in, skip, err
	}
	if in, err = r.find(ctx); err != nil {
		return nil, 0, err
	}
	all := in.names
	if len(all) != s.Parts {
		return nil, 0, fmt.Errorf("%s: its plan is of %d sources, %d were found", r.Out, s.Parts, len(all))
	}
	in.names = all[s.First : s.First+len(s.Plan.Parts)]
	if skip > 0 {
		in.names = append([]input.Name{all[s.LeadAt]}, in.names...)
	}
	in.counts[0] = len(in.names)
	return in, skip, nil
}

// recognise returns a source of the parts of a slice of directories, after comparing the index with the plan.
func (w *work) recognise(ctx context.Context, s *plan.Slice, o *opened) (converters.Source, error) {
	w.describe(o)
	src, err := s.Of(o.Source)
	if err != nil {
		return nil, err
	}
	how := plan.IndexOptions{Encodings: o.each, Workers: w.Workers, Progress: w.Progress}
	if s.Plan.Choice != nil {
		how.Choose = choose.Nothing() // only names and sizes of files are compared
	}
	index, err := plan.Index(ctx, src, how)
	if err != nil {
		return nil, err
	}
	return src, s.Recognise(index)
}
