package write

import (
	"cmp"
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// All writes the shards of a plan and commits them with a manifest: it combines [dataset.Writing.Begin], [Slice] of the
// whole plan, and [Finish]. It keeps shards that an earlier run of the same plan has finished: to resume an interrupted
// All, call it again; the resulting bytes are the same. After an error each file with a final name is complete and
// sound, and the directory has no manifest.
//
// A PartProvider may fetch the parts of the next shard while others are written, and only then find a bad
// part. If that ends the first run before any shard is finished, All removes the plan.
func All(ctx context.Context, parts PartProvider, p *plan.Plan, out *dataset.Writing, opts Options) (report *Report, err error) {
	w, err := newWhole(parts, p, out, opts)
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, w.journal.Close()) }()
	if err := w.journal.Changed; err != nil {
		return nil, err
	}
	report, err = w.run(ctx)
	if err != nil && !errors.Is(err, ErrDrained) && p.Whole && ctx.Err() == nil && w.written+len(w.journal.Was) == 0 {
		err = errors.Join(err, out.Rollback(p))
	}
	if err == nil {
		err = w.finish(ctx, report)
	}
	if err = out.Here(err); err != nil {
		return nil, err
	}
	return report, nil
}

// Slice writes the shards of a slice of a plan; [dataset.Writing.Begin] has put the plan into the directory. parts has
// the parts of the slice. Other processes may write the same or other slices at the same time, on any machine: the
// first process to name a shard wins, and the others compare theirs with it. Slice may be called again
// at any time, and keeps sound shards. [Finish] writes the manifest.
func Slice(ctx context.Context, parts PartProvider, slice *plan.Slice, out *dataset.Task, opts Options) (*Report, error) {
	w, err := newWriter(parts, slice, out, opts)
	if err != nil {
		return nil, err
	}
	if err := slice.Plan.CheckParts(ctx, parts.Parts(), &w.contents); err != nil {
		return nil, err
	}
	if w.journal, err = out.ResumeJournal(slice, parts.Parts()); err != nil {
		return nil, err
	}
	defer w.journal.Close()
	if err := sameLead(ctx, slice, w.journal); err != nil {
		return nil, plan.ForTask(err)
	}
	if err := w.journal.Changed; err != nil {
		return nil, plan.ForTask(err)
	}
	report, err := w.run(ctx)
	if err = out.Here(err); err != nil {
		return nil, plan.ForTask(err)
	}
	return report, nil
}

// Unfinished is the error of All, Slice or Repair that stopped while shards were being written.
type Unfinished struct {
	Finished int // shards of the plan that are finished; they are kept
	Shards   int // shards of the plan
	Err      error
}

func (u *Unfinished) Error() string { return u.Err.Error() }
func (u *Unfinished) Unwrap() error { return u.Err }

// A writer is the state that the workers of one run share.
type writer struct {
	parts    PartProvider
	slice    *plan.Slice
	plan     *plan.Plan // of the slice
	out      *dataset.Task
	whole    *dataset.Writing // out, if the slice is the whole plan; nil: one task of several
	specs    []*encode.Spec   // by Part.Encode
	journal  *dataset.Journal
	claims   *dataset.Claims
	opts     Options
	workers  int
	readers  int           // of a shard
	open     chan struct{} // one element for each shard that is being filled or finished
	progress plan.Progress // of the phase that writes
	watcher  watcher
	repair   bool // a repair: shards must get the bytes in the manifest
	contents plan.Contents
	began    time.Time

	mu                sync.Mutex
	sound             map[string]bool // shards that this run has checked or written
	reread            map[string]bool // shards that this run has re-read
	written           int             // number of shards finished by this run
	bytes             int64           // bytes of these shards
	others            int             // shards that another process or run had named first
	backend, fallback string
	from              aio.Origin // where shards were re-read from
}

// newWriter prepares to write a slice. It does not open the journal; the caller closes it.
func newWriter(parts PartProvider, slice *plan.Slice, out *dataset.Task, opts Options) (w *writer, err error) {
	w = &writer{parts: parts, slice: slice, plan: slice.Plan, out: out, opts: opts, watcher: discard{}, sound: make(map[string]bool), reread: make(map[string]bool), began: time.Now()}
	if p, ok := opts.Progress.(watcher); ok {
		w.watcher = p
	}
	w.specs, err = w.plan.Specs()
	return w, err
}

// newWhole prepares to write a whole plan, and begins the plan in the output.
func newWhole(parts PartProvider, p *plan.Plan, out *dataset.Writing, opts Options) (*writer, error) {
	w, err := newWriter(parts, plan.All(p), out.Task, opts)
	if w.whole = out; err == nil {
		w.journal, err = out.Begin(p, parts.Parts(), opts.Named, opts.Overwrite)
	}
	return w, err
}

// run writes the shards that are not finished.
func (w *writer) run(ctx context.Context) (*Report, error) {
	todo, lost, err := w.todo(ctx)
	if err != nil {
		return nil, err
	}
	report := &Report{Task: w.slice.Task, Shards: len(w.plan.Shards), Kept: len(w.plan.Shards) - len(todo), Lost: lost}
	if w.out.InBucket() && !w.out.ReadsBack {
		report.Unread = w.unread(todo)
	}
	if len(todo) > 0 {
		if w.out.SHA256 && w.opts.NoVerify {
			return nil, place.Options("%s: its shards get a SHA-256 when they are re-read: leave out option no-verify", w.out.Name())
		}
		if !w.repair {
			if err := w.out.RemoveManifest(); err != nil {
				return nil, err
			}
		}
		if err := w.writeAll(ctx, todo); err != nil {
			return nil, &Unfinished{Finished: report.Kept + w.written + w.others, Shards: len(w.plan.Shards), Err: err}
		}
	}
	if err := unchanged(w.parts.Parts()); err != nil {
		return nil, err
	}
	for i := range w.plan.Shards {
		done := w.journal.Done[w.plan.Shards[i].Name]
		report.Samples += done.Samples
		report.Bytes += done.Bytes
	}
	report.Others, report.Written = w.others, w.bytes
	if w.out.InBucket() {
		report.Uploaded, report.ReadBack = w.written, w.out.ReadsBack
	}
	report.reread(w.plan, w.reread, w.journal)
	report.Backend, report.Fallback, report.From = w.backend, w.fallback, w.from
	report.Seconds = time.Since(w.began).Seconds()
	return report, nil
}

// unread returns the number of shards that are not in todo and that this run has not re-read. todo is sorted.
func (w *writer) unread(todo []int) (n int) {
	for i := range w.plan.Shards {
		if _, found := slices.BinarySearch(todo, i); !found && !w.reread[w.plan.Shards[i].Name] {
			n++
		}
	}
	return n
}

// finish commits the shards of a whole plan.
func (w *writer) finish(ctx context.Context, report *Report) error {
	err := w.whole.CheckShards(ctx, w.plan, w.journal, w.sound)
	if err == nil {
		err = report.complete(w.whole, w.plan, w.journal, w.opts.Tool)
	}
	report.Seconds = time.Since(w.began).Seconds()
	return err
}

// todo returns the shards to write. lost names those of them that were finished before, and are damaged or missing.
func (w *writer) todo(ctx context.Context) (todo []int, lost []string, err error) {
	var kept []int
	before, done := make([]bool, len(w.plan.Shards)), make([]bool, len(w.plan.Shards))
	var g errgroup.Group
	g.SetLimit(cmp.Or(w.opts.Workers, runtime.GOMAXPROCS(0)))
	for i := range w.plan.Shards {
		g.Go(func() error {
			before[i], done[i] = w.isDone(i)
			return ctx.Err()
		})
	}
	if err := g.Wait(); err != nil {
		return nil, nil, err
	}
	for i := range w.plan.Shards {
		switch {
		case done[i]:
			kept = append(kept, i)
			continue
		case before[i]:
			lost = append(lost, w.plan.Shards[i].Name)
		}
		todo = append(todo, i)
	}
	if w.repair || w.whole == nil {
		return todo, lost, nil
	}
	bad, err := w.verifyKept(ctx, kept)
	for _, i := range kept {
		if name := w.plan.Shards[i].Name; slices.Contains(bad, name) {
			todo, lost = append(todo, i), append(lost, name)
		}
	}
	slices.Sort(todo)
	slices.Sort(lost)
	return todo, lost, err
}

// verifyKept re-reads those shards that were finished before of which Verify or a missing SHA-256 demands it, and
// returns the names of the damaged ones. It adds these to the journal, so that the next run knows them if this one is
// interrupted.
func (w *writer) verifyKept(ctx context.Context, kept []int) (bad []string, err error) {
	var shards []dataset.ManifestShard
	for _, i := range kept {
		f, _ := w.journal.Lookup(w.plan.Shards[i].Name)
		if w.opts.Verify || lacksSum(w.out, f.ManifestShard) {
			shards = append(shards, f.ManifestShard)
			w.reread[f.Name] = true
		}
	}
	if len(shards) == 0 {
		return nil, nil
	}
	found, bad, err := w.whole.Reread(ctx, shards, &dataset.FileSum{}, w.opts.AIO, w.opts.Progress)
	if err != nil {
		return nil, err
	}
	w.journal.Learn(shards)
	w.backend, w.fallback, w.from = found.Backend, found.Fallback, found.From
	for _, name := range bad {
		delete(w.reread, name)
		delete(w.sound, name)
		if err := w.journal.Void(name); err != nil {
			return nil, err
		}
	}
	return bad, nil
}

// lacksSum reports whether a shard must be read for its SHA-256.
func lacksSum(out *dataset.Task, s dataset.ManifestShard) bool {
	return out.SHA256 && (s.SHA256 == "" || s.Index.SHA256 == "")
}

// isDone reports whether the journal has a shard as finished, and whether it still is, judging by its
// size, its header and the bytes of its index.
func (w *writer) isDone(i int) (before, done bool) {
	s := &w.plan.Shards[i]
	f, ok := w.journal.Lookup(s.Name)
	if !ok || !(f.Verified || w.opts.NoVerify || w.repair) || !w.plan.Complete(s, f.Bytes, f.Parts) {
		return false, false
	}
	if done, _ = w.out.IsSound(f); done { // after an error the shard is written, and naming it reports the reason
		w.mu.Lock()
		defer w.mu.Unlock()
		w.sound[s.Name] = true
	}
	return true, done
}

// count counts a finished shard: by this run, or, if first is false, by another process that named it first.
// reread means that this run has re-read it.
func (w *writer) count(f dataset.Finished, first, reread bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sound[f.Name] = true
	if w.reread[f.Name] = reread; reread {
		w.from = w.from.And(f.From)
	}
	if first {
		w.written++
		w.bytes += f.Bytes
	} else {
		w.others++
	}
}
