package dataset

import (
	"context"
	"fmt"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/shard/plan"
	"github.com/ffconvert/ffconvert/verify"
)

// A Kept is what plan, journal and manifest of a directory tell of its conversion: all that a repair needs but the sources.
type Kept struct {
	Plan    *plan.Plan
	Named   []string        // the sources, as the user named them; nil: not known
	Shards  []ManifestShard // shards that were ever finished, in the order of the plan
	Meta    FileSum         // sum of meta.json; zero: not known
	Damaged []string        // of Shards, those to write again; set by the caller
	Journal *Journal        // nil: it is missing, or damaged at its head
	Damage  error           // of the journal; nil: it is sound
}

// Kept reads plan, journal and manifest. A directory without a plan is [ErrNothingKept], a damaged plan
// [plan.ErrDamaged].
func (w *Writing) Kept() (*Kept, error) {
	c, err := w.existing(false)
	if err != nil {
		return nil, err
	}
	planned, err := w.has(PlanName)
	switch {
	case err != nil:
		return nil, err
	case c.damage != nil:
		return nil, w.badPlan(c.damage, true)
	case c.plan == nil || !planned:
		return nil, fmt.Errorf("%s: %w", w.Name(), ErrNothingKept)
	}
	j, k := c.journal, &Kept{Plan: c.plan}
	known := make(map[string]ManifestShard)
	if c.manifest != nil && c.manifest.PlanDigest == c.digest {
		k.Meta = c.manifest.Meta
		for _, s := range c.manifest.Shards {
			if k.Plan.Whole {
				break // the manifest lacks the accounts of their parts
			}
			known[s.Name] = s
		}
	}
	if j.head.Plan == c.digest { // a line has more than the manifest's entry: the parts and their accounts
		k.Named = j.head.Named
		if len(j.head.Pins) == len(c.plan.Parts) {
			k.Journal = j
		}
		for name, f := range j.Was {
			known[name] = f.ManifestShard
		}
	}
	if k.Journal == nil || j.Bad > 0 {
		k.Damage = w.damagedJournal(j.Bad)
	}
	for i := range k.Plan.Shards {
		if s, ok := known[k.Plan.Shards[i].Name]; ok {
			k.Shards = append(k.Shards, s)
		}
	}
	return k, nil
}

// Reread re-reads shards that were finished, and the files beside them, and returns the problems, and the names of shards
// that have one, or an index that has one. With w.SHA256 sound files without one get it.
func (w *Writing) Reread(ctx context.Context, shards []ManifestShard, meta *FileSum, how aio.Options, p plan.Progress) (found *verify.Report, damaged []string, err error) {
	var targets []verify.Target
	total := int64(0)
	for _, want := range expect(shards) {
		targets = append(targets, verify.Target{Path: want.Name, Root: w.Root, Want: &want})
		total += want.Bytes
	}
	summed := make(map[string]string)
	opts := verify.Options{AIO: how, SHA256: w.SHA256, Summed: func(name, sum string) { summed[name] = sum }, Progress: plan.StartPhase(p, "verify", total).Add}
	if w.bucket != nil {
		opts.Fetch = w.bucket.Fetch
	}
	if found, err = verify.Files(ctx, targets, opts); err != nil {
		return nil, nil, err
	}
	opts.Progress = nil // progress counts shards only
	beside, err := verify.Sums(ctx, w.Root, sums(shards, *meta), opts)
	if err != nil {
		return nil, nil, err
	}
	found.Merge(beside)
	found.From = w.origin(found.From)
	*meta = meta.with(FileSum{SHA256: summed[MetaName]})
	bad := make(map[string]bool)
	for _, p := range found.Problems {
		bad[p.Shard] = true
	}
	for i := range shards {
		s := shards[i]
		shards[i] = s.with(ManifestShard{SHA256: summed[s.Name], Index: FileSum{SHA256: summed[IndexName(s.Name)]}})
		if bad[s.Name] || bad[IndexName(s.Name)] {
			damaged = append(damaged, s.Name)
		}
	}
	return found, damaged, nil
}
