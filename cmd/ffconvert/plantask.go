package main

import (
	"context"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/input"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// Why a task has nothing to index. None of it is a mistake: who starts tasks need not know.
const (
	wholeReason   = "shards are whole parts, which are planned by their sizes"
	folderReason  = "a directory is indexed as one"
	plannedReason = "it is planned already"
	sliceReason   = "no part is this task's"
)

// indexTask indexes one slice of the parts, for whoever plans the dataset.
func (c *conversion) indexTask(ctx context.Context, found []input.Name, in input.Options, whole bool, progress *reporter) error {
	t, err := plan.ParseTask(string(c.planning.task))
	if err != nil {
		return err
	}
	sum := &sliceSummary{Done: true, Out: c.out, Task: t.String()}
	switch {
	case whole:
		sum.Why = wholeReason
	case c.directories(found) != nil:
		sum.Why = folderReason
	default:
		some := c.slice(t, found)
		if sum.Of = len(c.places(len(found))); len(some) == 0 {
			sum.Why = sliceReason
			break
		}
		if err := c.indexSlice(ctx, t, found, some, in, progress, sum); err != nil {
			return err
		}
	}
	c.warn(progress)
	progress.say(sum)
	return nil
}

// slice returns the parts of a task, even in bytes. Those of which nobody could tell later whether
// they are still the same are nobody's.
func (c *conversion) slice(t plan.Task, found []input.Name) []int {
	parts := c.foundParts(found)
	sizes := make([]int64, len(parts))
	for i, p := range parts {
		sizes[i] = p.Size
	}
	first, n := t.Slice(sizes)
	var some []int
	for i := first; i < first+n; i++ {
		if parts[i].Mark != "" {
			some = append(some, i)
		}
	}
	return some
}

// indexSlice indexes some parts and saves what it finds. What it stages is its own.
func (c *conversion) indexSlice(ctx context.Context, t plan.Task, found []input.Name, some []int, in input.Options, progress *reporter, sum *sliceSummary) (err error) {
	out, err := openShared(ctx, c.out, progress)
	if err != nil {
		return err
	}
	c.output = out
	defer func() { err = closeOutput(out, err) }()
	if err := c.check(out, found); err != nil {
		return err
	}
	plan, err := out.Lookup(dataset.PlanName)
	if err != nil {
		return err
	}
	if plan != nil && !c.opts.overwrite {
		sum.Why = plannedReason
		return nil
	}
	how, err := c.asked()
	if err != nil {
		return err
	}
	parts := c.foundParts(found)
	known, err := out.IndexedBy(t, how, parts)
	if err != nil {
		return err
	}
	if c.opts.cacheDir == "" {
		in.CacheDir = out.Cache() // several tasks may be at work, and each removes its own
	}
	return c.survey(ctx, found, in, some, known, progress, func(s *survey) error {
		progress.stop()
		sum.Parts = len(some)
		for i, part := range some {
			if known.Has(part) {
				sum.Before++
			}
			sum.Bytes += s.index[i].Size
			sum.Samples += s.index[i].Account.Written()
		}
		return out.SaveIndexed(t, how, parts, s.says, s.each, some, s.index)
	})
}
