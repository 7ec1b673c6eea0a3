package shard

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path"
	"slices"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/verify"
)

// ErrNothingKept says that a directory holds no plan to repair a dataset by.
var ErrNothingKept = errors.New("holds no plan of a conversion")

// A Kept dataset is what a directory itself knows of the conversion into it.
type Kept struct {
	Plan   *Plan
	Named  []string        // the sources, as the user named them; nil: not known
	Shards []ManifestShard // those that were finished once, in the order of the plan
	Meta   FileSum         // of meta.json; zero: not known
}

// Kept returns what the directory knows of the conversion into it. A directory without a
// sound plan is [ErrNothingKept] or [ErrPlan].
func (o *Output) Kept() (*Kept, error) {
	c, err := o.vacancy(false)
	if err != nil {
		return nil, err
	}
	planned, err := o.has(PlanName)
	switch {
	case err != nil:
		return nil, err
	case c.damage != nil:
		return nil, fmt.Errorf("%s: %w (the command that made it can be run again)", o.dir, c.damage)
	case c.plan == nil || !planned:
		return nil, fmt.Errorf("%s: %w", o.dir, ErrNothingKept)
	}
	j, k := c.journal, &Kept{Plan: c.plan}
	known := make(map[string]ManifestShard)
	if c.manifest != nil && c.manifest.PlanDigest == c.digest {
		k.Meta = c.manifest.Meta
		for _, s := range c.manifest.Shards {
			if k.Plan.Whole {
				break // the manifest does not tell all of the accounts of their parts
			}
			known[s.Name] = s
		}
	}
	if j.head.Plan == c.digest { // its lines have checksums: they tell more than the manifest
		k.Named = j.head.Named
		for name, f := range j.was {
			known[name] = f.ManifestShard
		}
	}
	for i := range k.Plan.Shards {
		if s, ok := known[k.Plan.Shards[i].Name]; ok {
			k.Shards = append(k.Shards, s)
		}
	}
	return k, nil
}

// Verify re-reads the shards that were finished, and the files beside them.
func (k *Kept) Verify(ctx context.Context, out *Output, how aio.Options, p Progress) (*verify.Report, error) {
	return out.reread(ctx, k.Shards, k.Meta, how, p)
}

// Damaged returns the shards that must be written anew for what a verifier has found.
func (k *Kept) Damaged(problems []verify.Problem) []string { return damaged(k.Shards, problems) }

// damaged returns the names of shards that have a problem, or whose index has one.
func damaged(shards []ManifestShard, problems []verify.Problem) []string {
	var names []string
	for _, s := range shards {
		if slices.ContainsFunc(problems, func(p verify.Problem) bool { return p.Shard == s.Name || p.Shard == indexName(s.Name) }) {
			names = append(names, s.Name)
		}
	}
	return names
}

// Repair writes the shards that were found damaged anew, and those that were never
// finished, and commits the dataset again. Each becomes what it was to the byte, or the
// error is [converters.ErrChanged], and the damaged one and the manifest stay. All other
// shards must have been verified. The source must be opened from the same parts in the
// same order; they may have other paths and times. It may be nil where no shard is to be
// written: what is beside the shards is mended from the plan.
func Repair(ctx context.Context, src converters.Source, kept *Kept, damaged []string, out *Output, opts WriteOptions) (*Report, error) {
	if src == nil {
		src = absent{kept.Plan}
	}
	return RepairStock(ctx, local{src, kept.Plan.Whole}, kept, damaged, out, opts)
}

// RepairStock is [Repair] of a dataset whose parts are made local as they are needed.
func RepairStock(ctx context.Context, stock Stock, kept *Kept, damaged []string, out *Output, opts WriteOptions) (*Report, error) {
	if err := kept.Plan.sameParts(ctx, stock.Parts(), &contents{}); err != nil {
		return nil, err
	}
	w, err := newWhole(stock, kept.Plan, out, opts)
	if err != nil {
		return nil, err
	}
	w.repair = true
	j := w.journal
	defer j.close()
	for _, s := range kept.Shards {
		_, done := j.done[s.Name]
		if w.reread[s.Name] = !slices.Contains(damaged, s.Name); !w.reread[s.Name] {
			err = j.void(s.Name)
		} else if !done && !kept.Plan.Whole { // of whole parts only its line tells the accounts
			j.mended = true
			err = j.add(j.was[s.Name])
		}
		if err != nil {
			return nil, err
		}
	}
	todo, _, err := w.todo(ctx)
	if err != nil {
		return nil, err
	}
	for _, i := range todo {
		if _, known := j.was[kept.Plan.Shards[i].Name]; !known && j.changed != nil {
			return nil, j.changed // nothing says what this shard must become
		}
	}
	report, err := w.run(ctx)
	if err == nil {
		err = w.finish(ctx, report)
	}
	if err = out.Here(err); err != nil {
		return nil, err
	}
	if j.mended {
		report.Beside = append(report.Beside, journalName)
	}
	return report, nil
}

// An absent source is one that was not opened: nothing is read of it.
type absent struct{ plan *Plan }

func (a absent) Parts() []converters.Part {
	parts := make([]converters.Part, len(a.plan.Parts))
	for i := range parts {
		parts[i].Name, parts[i].Size = a.plan.Parts[i].Name, a.plan.Parts[i].Size
	}
	return parts
}

func (a absent) Index(context.Context, int) iter.Seq2[converters.Span, error] {
	return func(yield func(converters.Span, error) bool) { yield(converters.Span{}, errAbsent) }
}

func (a absent) Read(context.Context, converters.Run) iter.Seq2[*converters.Sample, error] {
	return func(yield func(*converters.Sample, error) bool) { yield(nil, errAbsent) }
}

var errAbsent = errors.New("the sources were not opened")

// sameParts says how parts differ from those of the plan.
func (p *Plan) sameParts(ctx context.Context, parts []converters.Part, known *contents) error {
	if len(parts) != len(p.Parts) {
		return fmt.Errorf("%w: the dataset was made of %d sources, here are %d", converters.ErrChanged, len(p.Parts), len(parts))
	}
	for i := range parts {
		was, is := &p.Parts[i], &parts[i]
		if path.Base(was.Name) != path.Base(keptName(is.Name)) {
			return fmt.Errorf("%w: source %d was %q, here it is %q", converters.ErrChanged, i+1, was.Name, is.Name)
		}
		if err := was.sameContent(ctx, is, known); err != nil {
			return err
		}
		if (is.Path != "" || p.Whole) && was.Size != is.Size {
			return changed(is.Name, fmt.Sprintf("it had %d bytes when it was converted, it has %d", was.Size, is.Size))
		}
	}
	return nil
}
