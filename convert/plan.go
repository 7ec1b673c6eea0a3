package convert

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"unicode/utf8"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/write"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// A Planned is the report of Conversion.Plan.
type Planned struct {
	Plan    *plan.Plan
	Digest  string
	Same    bool    // the output had the same plan already
	Ready   bool    // and the dataset is complete
	Indexed int     // number of parts that tasks had indexed
	Unused  []error // reasons why indexes of tasks were not used
}

// Plan plans the conversion and writes the plan to the output, for [Conversion.Run]. It writes no shard.
func (c Conversion) Plan(ctx context.Context) (*Planned, error) {
	in, err := c.beginPlan(ctx)
	if err != nil {
		return nil, err
	}
	done := &Planned{}
	err = in.inOutput(ctx, func(w *work, out *dataset.Writing) error {
		before, err := out.Lookup(dataset.PlanName)
		if err != nil {
			return err
		}
		var known *dataset.Indexed // nil if parts are not known yet, or must be indexed together
		if !in.aligned && in.directories() == nil && !in.joins() {
			how, err := in.planOptions()
			if err != nil {
				return err
			}
			if known, err = out.Indexed(how, in.parts()); err != nil {
				return err
			}
		}
		err = w.plan(ctx, out, known, func(local write.PartProvider, p *plan.Plan) error {
			if in.directories() == nil {
				all := passes(in, in.names)
				if err := checkQuota(p, all, in.Input.Quota); err != nil {
					return err
				}
			}
			parts := slices.Clone(local.Parts())
			for i := range parts {
				parts[i].Size = p.Parts[i].Size // a part that is not local has its size from the index
			}
			j, err := out.Begin(p, parts, in.named(), in.Overwrite)
			if err != nil {
				return err
			}
			done.Plan, done.Digest = p, j.Plan()
			return errors.Join(j.Changed, j.Close())
		})
		if err != nil {
			return err
		}
		if done.Indexed = known.Len(); known != nil {
			done.Unused = known.Unused
		}
		after, err := out.Lookup(dataset.PlanName)
		if err != nil {
			return err
		}
		if done.Same = !in.Overwrite && before != nil && after != nil && os.SameFile(before, after); done.Same {
			s, err := out.Status()
			if err != nil {
				return err
			}
			done.Ready = s.Complete
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return done, nil
}

// beginPlan is begin for sources that other processes will read.
func (c Conversion) beginPlan(ctx context.Context) (*inputs, error) {
	in, err := c.begin(ctx)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(in.names, isStdin) {
		return nil, &converters.Error{Where: "-", Off: -1, Err: fmt.Errorf("%w: no task could read standard input again", converters.ErrUnsupported), Hint: "write it to a file first"}
	}
	for _, n := range in.names {
		if !utf8.ValidString(n.Name) {
			return nil, &converters.Error{Where: n.Name, Off: -1, Err: fmt.Errorf("%w: its name is not UTF-8, which a plan is: no task would find it", converters.ErrUnsupported), Hint: "rename it"}
		}
	}
	return in, nil
}

// plan plans the shards and calls use with the parts and the plan. known has parts that are already indexed; nil: none.
func (w *work) plan(ctx context.Context, out *dataset.Writing, known *dataset.Indexed, use func(write.PartProvider, *plan.Plan) error) error {
	if w.aligned {
		return w.byParts(0, func(s *stagedParts) error {
			p, err := s.plan(ctx, out)
			if err != nil {
				return err
			}
			return use(s, p)
		})
	}
	local, err := w.trim(ctx)
	if err != nil {
		return err
	}
	return w.survey(ctx, selection{known: known, local: local}, func(s *survey) error {
		how, err := w.optionsOf(s.opened)
		if err != nil {
			return err
		}
		p, err := plan.New(s.index, how)
		if err = empty(w.names[0].Name, s.index, err); err != nil {
			return err
		}
		return use(write.Local(s.Source), p)
	})
}

// A SliceIndex is the report of IndexTask.
type SliceIndex struct {
	Parts   int    // number of parts of the task
	Before  int    // parts that an earlier run of the task had indexed
	Of      int    // number of parts of the dataset; 0: not known
	Samples int64  // number of samples in the parts of the task
	Bytes   int64  // bytes of these parts
	Why     string // why indexing was not needed; "": it was. Not an error, so that the same commands work for all datasets
}

// IndexTask indexes one slice of the parts and saves the index for a later [Conversion.Plan].
func (c Conversion) IndexTask(ctx context.Context, t plan.Task) (*SliceIndex, error) {
	if err := checkTaskChoice(&c.Choice); err != nil {
		return nil, err
	}
	in, err := c.beginPlan(ctx)
	if err != nil {
		return nil, err
	}
	done := &SliceIndex{}
	switch {
	case in.aligned:
		done.Why = "shards are part-aligned: planned by the sizes of parts"
	case in.directories() != nil:
		done.Why = "a directory is indexed as one"
	case in.joins():
		done.Why = "all parts are needed at once"
	default:
		done.Of = len(in.places())
		some := in.slice(t)
		if len(some) == 0 {
			done.Why = "no part is this task's"
			break
		}
		out, err := in.output().openTask(ctx)
		if err != nil {
			return nil, err
		}
		if err = in.check(out); err == nil {
			err = in.work(ctx, out, func(w *work) error { return w.indexSlice(ctx, t, some, done) })
		}
		return done, closeOutput(out, err)
	}
	in.reportDoubts(nil)
	return done, nil
}

// slice returns the numbers of the parts of a task. Tasks have about equal numbers of bytes. It omits parts without
// a mark: the planning process could not detect that they changed.
func (in *inputs) slice(t plan.Task) []int {
	parts := in.parts()
	sizes := make([]int64, len(parts))
	for i, p := range parts {
		sizes[i] = p.Size
	}
	first, n := t.Slice(sizes)
	var some []int
	for i := first; i < first+n; i++ {
		if parts[i].Copy.Mark != "" {
			some = append(some, i)
		}
	}
	return some
}

// indexSlice indexes the parts in some and saves the index. Other tasks may use the output concurrently.
func (w *work) indexSlice(ctx context.Context, t plan.Task, some []int, done *SliceIndex) error {
	there, err := w.out.Lookup(dataset.PlanName)
	if err != nil {
		return err
	}
	if there != nil && !w.Overwrite {
		done.Why = "it is planned already"
		return nil
	}
	how, err := w.planOptions()
	if err != nil {
		return err
	}
	known, err := w.out.IndexedBy(t, how, w.parts())
	if err != nil {
		return err
	}
	return w.survey(ctx, selection{some: some, known: known}, func(s *survey) error {
		done.Parts = len(some)
		indexed := make(map[int]plan.PartIndex, len(some))
		for i, part := range some {
			indexed[part] = s.index[i]
			if known.Has(part) {
				done.Before++
			}
			done.Bytes += s.index[i].Size
			done.Samples += s.index[i].Account.Written()
		}
		return known.Save(t, s.desc, s.each, indexed)
	})
}
