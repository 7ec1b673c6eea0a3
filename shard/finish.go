package shard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/verify"
)

// ErrMissing says that shards of a plan are not there, or not as they were finished: their tasks have
// not finished or have failed, or another program has removed or changed them.
var ErrMissing = errors.New("shards are missing or damaged")

// A Missing error tells which shards of a plan are not finished, or no longer sound.
type Missing struct {
	Shards []string // in the order of the plan
	Of     int      // shards that the plan has
}

func (m *Missing) Error() string {
	const most = 3
	text := strings.Join(m.Shards[:min(most, len(m.Shards))], ", ")
	if len(m.Shards) > most {
		text += fmt.Sprintf(" and %d more", len(m.Shards)-most)
	}
	if len(m.Shards) == 1 {
		return fmt.Sprintf("1 of %d shards is missing or damaged: %s", m.Of, text)
	}
	return fmt.Sprintf("%d of %d %v: %s", len(m.Shards), m.Of, ErrMissing, text)
}

func (m *Missing) Unwrap() error { return ErrMissing }

// FinishOptions say how much to look at. The zero value is usable.
type FinishOptions struct {
	Verify   bool        // re-read all shards, too; else headers are checked
	AIO      aio.Options // for that
	Progress Progress    // may be nil
	Tool     string      // name and version of the program, for the manifest
}

// Finish completes a dataset whose shards tasks have written: it checks that each is there
// with a sound header and its index, closes the balance, writes the manifest, and removes what
// the tasks have left for each other. Where shards are missing the error is a [Missing], and
// nothing is changed: a lock that binds the processes of one machine alone, as some file systems
// have it, or none, lets tasks of others be at work. Where none is missing, a task that still is
// writes what is there already, and can do no harm.
func Finish(ctx context.Context, out *Output, opts FinishOptions) (*Report, error) {
	began := time.Now()
	kept, err := out.Kept()
	if err != nil {
		return nil, err
	}
	digest, err := kept.Plan.Digest()
	if err != nil {
		return nil, err
	}
	if err := out.mkdir(out.tmp("")); err != nil {
		return nil, err
	}
	j, err := openKeptJournal(out, digest, len(kept.Plan.Parts))
	if err != nil {
		return nil, err
	}
	defer j.close()
	if err := out.missing(ctx, kept.Plan, j, nil); err != nil {
		if j.bad > 0 && errors.Is(err, ErrMissing) { // its line may be behind that one
			err = &notItsJournal{out.dir, j.bad}
		}
		return nil, err
	}
	report := &Report{Shards: len(kept.Plan.Shards), Kept: len(kept.Plan.Shards)}
	now := make(map[string]bool)
	if opts.Verify {
		found, err := out.reread(ctx, kept.Shards, FileSum{}, opts.AIO, opts.Progress)
		if err == nil {
			err = found.Err()
		}
		if err != nil {
			return nil, err
		}
		for i := range kept.Shards {
			name := kept.Shards[i].Name
			now[name] = true
			done := j.done[name]
			done.Verified, done.From = true, found.From
			j.done[name] = done
		}
		report.Backend, report.Fallback, report.From = found.Backend, found.Fallback, found.From
	}
	report.reread(kept.Plan, now, j)
	if err := j.foldTasks(out); err != nil {
		return nil, err
	}
	if err := out.complete(kept.Plan, digest, j, opts.Tool, report); err != nil {
		return nil, err
	}
	report.Samples, report.Bytes = report.Manifest.Totals.SamplesWritten, report.Manifest.Totals.Bytes
	report.Seconds = time.Since(began).Seconds()
	return report, nil
}

// reread re-reads shards that were finished, and the files beside them, and returns the problems.
func (o *Output) reread(ctx context.Context, shards []ManifestShard, meta FileSum, how aio.Options, p Progress) (*verify.Report, error) {
	var targets []verify.Target
	total := int64(0)
	for _, want := range expect(shards) {
		targets = append(targets, verify.Target{Path: want.Name, Root: o.root, Want: &want})
		total += want.Bytes
	}
	opts := verify.Options{AIO: how, Progress: startPhase(p, "verify", total).Add}
	found, err := verify.Files(ctx, targets, opts)
	if err != nil {
		return nil, err
	}
	opts.Progress = nil // it is of the shards
	beside, from, err := verify.Sums(ctx, o.root, sums(shards, meta), opts)
	found.Problems, found.From = append(found.Problems, beside...), found.From.And(from)
	return found, err
}

// missing looks whether all shards of a plan are written. Of those in sound, which this run has
// checked already, names and sizes are enough: another program may have removed them since.
func (o *Output) missing(ctx context.Context, plan *Plan, j *journal, sound map[string]bool) error {
	holds := make([]bool, len(plan.Shards))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(filesAtOnce, runtime.GOMAXPROCS(0)))
	for i := range plan.Shards {
		s := &plan.Shards[i]
		g.Go(func() (err error) {
			if sound[s.Name] {
				holds[i], err = o.sized(j.done[s.Name])
			} else if done, ok := j.done[s.Name]; ok && plan.accounts(s, done) {
				if holds[i], err = o.holds(done); holds[i] {
					holds[i], err = o.hasIndex(done)
				}
			}
			return cmp.Or(err, ctx.Err())
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	missing := &Missing{Of: len(plan.Shards)}
	for i := range plan.Shards {
		if !holds[i] {
			missing.Shards = append(missing.Shards, plan.Shards[i].Name)
		}
	}
	if len(missing.Shards) > 0 {
		return fmt.Errorf("%s: %w (run their tasks again, or ffconvert run %s)", o.dir, missing, o.dir)
	}
	return nil
}

// complete commits a plan whose shards are written, enters the files written into the report, and
// removes those that only an unfinished conversion needs. A directory that was moved gets no
// manifest; in one that is moved at that moment it is true wherever the directory is by now. Either
// is [ErrMoved].
func (o *Output) complete(plan *Plan, digest string, j *journal, tool string, report *Report) (err error) {
	if err := o.Here(nil); err != nil {
		return err
	}
	if report.Manifest, report.Beside, err = o.commit(plan, digest, j, tool); err != nil {
		return err
	}
	report.Already = !slices.Contains(report.Beside, ManifestName)
	for _, dir := range []string{tmpDir, runningDir} {
		if err := o.root.RemoveAll(dir); err != nil {
			return fmt.Errorf("clean up: %w", err)
		}
	}
	return o.Here(nil)
}
