package write

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/verify"
)

// Finish completes a dataset after its tasks: it checks that each shard exists with a sound header
// and its index, checks the balance of the account, writes the manifest, and removes the working files of tasks.
// If shards are missing it changes nothing and returns a [dataset.Missing]: on a file system without
// locks, or with locks of one machine only, tasks may still be running. If none is missing, a task
// that is still running only writes shards that already exist, which is harmless. Finish uses the options Verify, AIO,
// Progress and Tool; without Verify it checks only headers, and reads shards that need a SHA-256.
func Finish(ctx context.Context, out *dataset.Writing, opts Options) (*Report, error) {
	began := time.Now()
	kept, err := out.Kept()
	if err != nil {
		return nil, err
	}
	j := kept.Journal
	if j == nil {
		return nil, kept.Damage
	}
	defer j.Close()
	if err := out.CheckShards(ctx, kept.Plan, j, nil); err != nil {
		if kept.Damage != nil && errors.Is(err, dataset.ErrMissing) { // the shard's line may follow the damage in the journal
			err = kept.Damage
		}
		return nil, err
	}
	report := &Report{Shards: len(kept.Plan.Shards), Kept: len(kept.Plan.Shards)}
	now := make(map[string]bool)
	read := slices.DeleteFunc(kept.Shards, func(s dataset.ManifestShard) bool { return !opts.Verify && !lacksSum(out.Task, s) })
	if len(read) > 0 {
		found, damaged, err := out.Reread(ctx, read, &dataset.FileSum{}, opts.AIO, opts.Progress)
		if err == nil {
			err = found.Err()
		}
		if errors.Is(err, verify.ErrCorrupt) { // the next run writes them again
			for _, name := range damaged {
				delete(j.Done, name)
			}
			if err := j.Fold(true); err != nil {
				return nil, err
			}
		}
		if err != nil {
			return nil, err
		}
		for _, s := range read {
			now[s.Name] = true
			done := j.Done[s.Name]
			done.ManifestShard, done.Verified, done.From = s, true, found.From
			j.Done[s.Name] = done
		}
		report.Backend, report.Fallback, report.From = found.Backend, found.Fallback, found.From
	}
	report.reread(kept.Plan, now, j)
	if err := j.Fold(len(read) > 0); err != nil { // copies the results of verification into the manifest
		return nil, err
	}
	if err := report.complete(out, kept.Plan, j, opts.Tool); err != nil {
		return nil, err
	}
	report.Samples, report.Bytes = report.Manifest.Totals.SamplesWritten, report.Manifest.Totals.Bytes
	report.Seconds = time.Since(began).Seconds()
	return report, nil
}
