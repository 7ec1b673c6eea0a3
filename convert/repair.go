package convert

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/internal/stage"
	"github.com/ffconvert/ffconvert/shard"
	"github.com/ffconvert/ffconvert/shard/plan"
	"github.com/ffconvert/ffconvert/verify"
)

// A Repaired is the report of Repair.
type Repaired struct {
	*shard.Report
	Rewritten  []string // shards that were damaged or missing
	Unfinished int      // shards that were written for the first time
}

// Repair verifies all shards of a dataset, and writes damaged and missing shards again by the plan of
// the dataset. A shard that would not get the same bytes is not replaced. If found is not nil, it is
// called with the problems before anything is written.
func Repair(ctx context.Context, dir string, opts PlannedOptions, found func([]verify.Problem) error) (*Repaired, error) {
	began := time.Now()
	if !IsURL(dir) {
		if err := dataset.CheckPath(dir); err != nil {
			return nil, err
		}
		if _, err := os.Lstat(filepath.Join(dir, dataset.WorkDir)); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: %w", dir, dataset.ErrNothingKept)
		} else if err != nil {
			return nil, err
		}
	}
	out, err := opts.openOut(ctx, dir)
	if err != nil {
		return nil, err
	}
	r := repair{recorded: recorded{PlannedOptions: opts, dir: dir}, out: out}
	done, err := r.run(ctx, found)
	if err := closeOutput(out.Task, err); err != nil {
		return nil, err
	}
	done.Seconds = time.Since(began).Seconds()
	return done, nil
}

// A repair is one Repair.
type repair struct {
	recorded
	out  *dataset.Writing
	kept *dataset.Kept
}

func (r *repair) run(ctx context.Context, tell func([]verify.Problem) error) (*Repaired, error) {
	var err error
	if r.kept, err = r.out.Kept(); err != nil {
		if at, ok := errors.AsType[*AdvisedError](planned(r.out.Dataset)); ok && at.Advice == TheCopy {
			return nil, at
		}
		return nil, err
	}
	found, damaged, err := r.out.Reread(ctx, r.kept.Shards, r.kept.Meta, aio.Options{Backend: r.AIO.Backend}, r.Progress)
	if err != nil {
		return nil, err
	}
	if tell != nil {
		if err := tell(found.Problems); err != nil {
			return nil, err
		}
	}
	r.kept.Damaged = damaged
	done := &Repaired{Rewritten: damaged, Unfinished: len(r.kept.Plan.Shards) - len(r.kept.Shards)}
	if len(done.Rewritten)+done.Unfinished == 0 {
		done.Report, err = shard.Repair(ctx, nil, r.kept, r.out, shard.WriteOptions{Tool: r.Tool})
	} else {
		done.Report, err = r.write(ctx)
	}
	if err != nil {
		return nil, err
	}
	done.Backend, done.Fallback = found.Backend, cmp.Or(found.Fallback, done.Fallback)
	done.From = done.From.And(found.From)
	return done, nil
}

// write opens the sources and writes the damaged and the unfinished shards.
func (r *repair) write(ctx context.Context) (*shard.Report, error) {
	r.named, r.plan = r.kept.Named, r.kept.Plan
	c, err := r.conversion()
	if err != nil {
		return nil, err
	}
	c.output = r.out.Task
	c.was = func(part int) *plan.Part { return &r.kept.Plan.Parts[part] }
	if err := c.find(ctx); err != nil {
		return nil, r.advise(err)
	}
	var report *shard.Report
	if r.kept.Plan.Whole {
		err = c.withParts(ctx, 0, func(s *stagedParts) error {
			report, err = shard.Repair(ctx, s, r.kept, r.out, c.writeOptions())
			return err
		})
		return report, err
	}
	c.trimTo(r.kept.Plan)
	err = c.staged(ctx, func(set *stage.Set) error {
		o, err := c.open(ctx, c.withOthers(set))
		if err != nil {
			return err
		}
		report, err = shard.Repair(ctx, shard.Local(o.Source), r.kept, r.out, c.writeOptions())
		return err
	})
	return report, err
}
