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
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/write"
	"github.com/ffconvert/ffconvert/verify"
)

// A Repaired is the report of Repair.
type Repaired struct {
	*write.Report
	Rewritten  []string // shards that were damaged or missing
	Unfinished int      // shards that were written for the first time
}

// Repair verifies all shards of a dataset, and rewrites damaged and missing shards by the plan of
// the dataset. It does not replace a shard whose bytes would differ. If report is not nil, Repair calls
// it with the problems before it writes anything.
func (c Conversion) Repair(ctx context.Context, report func([]verify.Problem) error) (*Repaired, error) {
	began := time.Now()
	if !IsURL(c.Out) {
		if err := dataset.CheckPath(c.Out); err != nil {
			return nil, err
		}
		if _, err := os.Lstat(filepath.Join(c.Out, dataset.WorkDir)); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: %w", c.Out, dataset.ErrNothingKept)
		} else if err != nil {
			return nil, err
		}
	}
	out, err := c.output().open(ctx)
	if err != nil {
		return nil, err
	}
	done, err := c.repair(ctx, out, report)
	if err := closeOutput(out.Task, err); err != nil {
		return nil, err
	}
	done.Seconds = time.Since(began).Seconds()
	return done, nil
}

func (c Conversion) repair(ctx context.Context, out *dataset.Writing, report func([]verify.Problem) error) (*Repaired, error) {
	kept, err := out.Kept()
	if err != nil {
		if copied := planned(out.Dataset); errors.Is(copied, errCopy) {
			return nil, copied
		}
		return nil, err
	}
	found, damaged, err := out.Reread(ctx, kept.Shards, &kept.Meta, aio.Options{Backend: c.AIO.Backend}, c.Progress)
	if err != nil {
		return nil, err
	}
	if report != nil {
		if err := report(found.Problems); err != nil {
			return nil, err
		}
	}
	kept.Damaged = damaged
	done := &Repaired{Rewritten: damaged, Unfinished: len(kept.Plan.Shards) - len(kept.Shards)}
	if len(done.Rewritten)+done.Unfinished == 0 {
		done.Report, err = write.Repair(ctx, nil, kept, out, write.Options{Tool: c.Tool})
	} else {
		done.Report, err = c.rewrite(ctx, out, kept)
	}
	if err != nil {
		return nil, err
	}
	done.Backend, done.Fallback = found.Backend, cmp.Or(found.Fallback, done.Fallback)
	done.From = done.From.And(found.From)
	return done, nil
}

// rewrite opens the sources and writes the damaged and the unfinished shards.
func (c Conversion) rewrite(ctx context.Context, out *dataset.Writing, kept *dataset.Kept) (report *write.Report, err error) {
	r, err := c.resolvePlan("repair", kept.Plan, kept.Named)
	if err != nil {
		return nil, err
	}
	in, err := r.find(ctx)
	if err != nil {
		return nil, r.adviseNames(err)
	}
	err = in.work(ctx, out.Task, func(w *work) error {
		if kept.Plan.Whole {
			return w.byParts(0, func(s *stagedParts) error {
				report, err = write.Repair(ctx, s, kept, out, w.writeOptions())
				return err
			})
		}
		return w.together(ctx, func(o *opened) error {
			report, err = write.Repair(ctx, write.Local(o.Source), kept, out, w.writeOptions())
			return err
		})
	})
	return report, err
}

// together opens the dataset of a plan with all its parts, makes those local that the plan reads, and calls use.
func (w *work) together(ctx context.Context, use func(*opened) error) error {
	n := 0 // 0: all inputs
	if parts := w.existing.Parts; w.existing.Choice != nil && w.Spec == nil && w.directories() == nil && len(parts) == len(w.names) {
		for n = len(parts); n > 1 && parts[n-1].Account.Unread > 0; n-- {
		}
	}
	return w.local(ctx, w.firstOf(n), func(parts []converters.Part) error {
		o, err := w.open(ctx, parts)
		if err != nil {
			return err
		}
		return use(o)
	})
}
