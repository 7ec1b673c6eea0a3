package write

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// Repair rewrites the shards in kept.Damaged, writes unfinished ones, and commits the dataset again. Each shard gets
// the same bytes as before; otherwise the error is [converters.ErrChanged], and the damaged shard and the manifest
// stay. The caller must have verified all other shards. The source must have the same parts in the
// same order; their paths and times may differ. parts may be nil if no shard needs writing: Repair then
// restores the other files from the plan.
func Repair(ctx context.Context, parts PartProvider, kept *dataset.Kept, out *dataset.Writing, opts Options) (report *Report, err error) {
	if parts == nil {
		parts = absent{kept.Plan}
	}
	if err := kept.Plan.CheckParts(ctx, parts.Parts(), &plan.Contents{}); err != nil {
		return nil, err
	}
	w, err := newWhole(parts, kept.Plan, out, opts)
	if err != nil {
		return nil, err
	}
	w.repair = true
	j := w.journal
	defer func() { err = cmp.Or(err, j.Close()) }()
	j.Learn(kept.Shards)
	for _, s := range kept.Shards {
		f, done := j.Done[s.Name]
		if w.reread[s.Name] = !slices.Contains(kept.Damaged, s.Name); !w.reread[s.Name] {
			err = j.Void(s.Name)
		} else if !done && !kept.Plan.Whole { // a part-aligned plan needs the accounts of parts, which the manifest lacks
			j.Mended = true
			err = j.Add(j.Was[s.Name])
		} else if f.Stored != nil {
			if sound, _ := out.IsSound(f); !sound { // another program has put the same bytes there
				f.Stored, j.Mended = nil, true
				err = j.Add(f)
			}
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
		if _, known := j.Was[kept.Plan.Shards[i].Name]; !known && j.Changed != nil {
			return nil, j.Changed // the right content of this shard is not known
		}
	}
	report, err = w.run(ctx)
	if err == nil {
		err = w.finish(ctx, report)
	}
	if err = out.Here(err); err != nil {
		return nil, err
	}
	if j.Mended {
		report.Beside = append(report.Beside, dataset.JournalName)
	}
	return report, nil
}

// absent is a PartProvider without a source.
type absent struct{ plan *plan.Plan }

func (a absent) Parts() []converters.Part {
	parts := make([]converters.Part, len(a.plan.Parts))
	for i := range parts {
		parts[i].Name, parts[i].Size = a.plan.Parts[i].Name, a.plan.Parts[i].Size
	}
	return parts
}

func (absent) Take(context.Context, int, int) (converters.Source, func() error, error) {
	return nil, nil, errors.New("the sources were not opened")
}
