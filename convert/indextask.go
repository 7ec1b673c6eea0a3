package convert

import (
	"context"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// Reasons why a task has nothing to index. None is an error, so that the same commands work for all
// datasets.
const (
	alignedReason   = "shards are part-aligned: planned by the sizes of parts"
	directoryReason = "a directory is indexed as one"
	joinReason      = "all parts are needed at once"
	plannedReason   = "it is planned already"
	noPartReason    = "no part is this task's"
)

// A SliceIndex is the report of IndexTask.
type SliceIndex struct {
	Parts   int    // parts of the task
	Before  int    // parts that an earlier run of the task has indexed
	Of      int    // parts of the dataset; 0: not known
	Samples int64  // samples in the parts of the task
	Bytes   int64  // bytes of these parts
	Why     string // why there was nothing to index; "": there was
}

// IndexTask indexes one slice of the parts and saves the index for a later [Conversion.Plan].
func (c *Conversion) IndexTask(ctx context.Context, t plan.Task) (*SliceIndex, error) {
	if err := c.checkTaskChoice(); err != nil {
		return nil, err
	}
	aligned, err := c.preparePlan(ctx)
	if err != nil {
		return nil, err
	}
	done := &SliceIndex{}
	switch {
	case aligned:
		done.Why = alignedReason
	case c.directories() != nil:
		done.Why = directoryReason
	case c.joins():
		done.Why = joinReason
	default:
		some := c.slice(t)
		if done.Of = len(c.places()); len(some) == 0 {
			done.Why = noPartReason
			break
		}
		if err := c.indexSlice(ctx, t, some, done); err != nil {
			return nil, err
		}
	}
	c.tellDoubts()
	return done, nil
}

// slice returns the numbers of the parts of a task. Tasks have equal numbers of bytes. Parts without
// a mark are left out: the planning process could not tell whether they have changed.
func (c *Conversion) slice(t plan.Task) []int {
	parts := c.foundParts()
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

// indexSlice indexes some parts and saves the index. Other tasks may use the output at the same time,
// so it has a cache of its own.
func (c *Conversion) indexSlice(ctx context.Context, t plan.Task, some []int, done *SliceIndex) (err error) {
	out, err := c.openTask(ctx, c.Out)
	if err != nil {
		return err
	}
	c.output = out
	defer func() { err = closeOutput(out, err) }()
	if err := c.check(); err != nil {
		return err
	}
	there, err := out.Lookup(dataset.PlanName)
	if err != nil {
		return err
	}
	if there != nil && !c.Overwrite {
		done.Why = plannedReason
		return nil
	}
	how, err := c.request()
	if err != nil {
		return err
	}
	known, err := out.IndexedBy(t, how, c.foundParts())
	if err != nil {
		return err
	}
	return c.survey(ctx, some, known, func(s *survey) error {
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
		return known.Save(t, s.says, s.each, indexed)
	})
}
