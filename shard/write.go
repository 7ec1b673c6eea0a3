package shard

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
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
)

// Write writes the shards of a plan and commits them with a manifest: it is [Output.Begin],
// [RunStock] of the whole plan, and [Finish] in one. What a run by the same plan has finished
// before is kept; so an interrupted Write is resumed by calling it again, with the same result
// to the byte. After an error every file under a final name is complete and sound, and there
// is no manifest.
//
// A plan of whole parts is written from a source of all its parts that is [converters.Divisible].
func Write(ctx context.Context, src converters.Source, plan *Plan, out *Output, opts WriteOptions) (*Report, error) {
	return WriteStock(ctx, local{src, plan.Whole}, plan, out, opts)
}

// WriteStock is [Write] of a dataset whose parts are made local as they are needed: those of
// the next shard while others are written. What is wrong with a part is found only then: where
// that ends the first run before any shard is finished, no plan is left of it.
func WriteStock(ctx context.Context, stock Stock, plan *Plan, out *Output, opts WriteOptions) (*Report, error) {
	w, err := newWhole(stock, plan, out, opts)
	if err != nil {
		return nil, err
	}
	defer w.journal.close()
	if err := w.journal.changed; err != nil {
		return nil, err
	}
	report, err := w.run(ctx)
	if err != nil && !errors.Is(err, ErrDrained) && plan.Whole && ctx.Err() == nil && w.written+len(w.journal.was) == 0 {
		err = errors.Join(err, out.forget(plan))
	}
	if err == nil {
		err = w.finish(ctx, report)
	}
	if err = out.Here(err); err != nil {
		return nil, err
	}
	return report, nil
}

// RunStock writes the shards of a slice of a plan that was begun in the directory. Parts of the
// stock are those of the slice. Other processes may write the same or other slices at the same
// time, from whatever machine: who gives a shard its name first has written it, and the others
// make sure that theirs is equal. It may be run again by anyone at any time, and keeps what is
// sound. There is no manifest until [Finish].
func RunStock(ctx context.Context, stock Stock, slice *Slice, out *Output, opts WriteOptions) (*Report, error) {
	w, err := newWriter(stock, slice, out, opts)
	if err != nil {
		return nil, err
	}
	if err := slice.Plan.sameParts(ctx, stock.Parts(), &w.contents); err != nil {
		return nil, err
	}
	if w.journal, err = out.resume(slice, stock.Parts(), pinsNow(slice.Plan, stock.Parts())); err != nil {
		return nil, err
	}
	defer w.journal.close()
	if err := sameLead(ctx, stock, slice, w.journal); err != nil {
		return nil, forTask(err)
	}
	if err := w.journal.changed; err != nil {
		return nil, forTask(err)
	}
	report, err := w.run(ctx)
	if err = out.Here(err); err != nil {
		return nil, forTask(err)
	}
	return report, nil
}

// Unfinished is the error of a Write or Repair that was stopped while it wrote shards.
type Unfinished struct {
	Finished int // shards of the plan that are finished; they stay
	Shards   int // of the plan
	Err      error
}

func (u *Unfinished) Error() string { return u.Err.Error() }
func (u *Unfinished) Unwrap() error { return u.Err }

// A writer is what the workers of one run share.
type writer struct {
	stock    Stock
	slice    *Slice
	plan     *Plan // of the slice
	out      *Output
	specs    []*encode.Spec // by Part.Encode
	journal  *journal
	claims   *claims
	opts     WriteOptions
	progress Progress
	repair   bool // the manifest says what the dataset must become again
	contents contents
	began    time.Time

	mu                sync.Mutex
	sound             map[string]bool // shards that this run has looked at or written
	reread            map[string]bool // shards that this run has re-read
	written           int             // shards finished by this run
	bytes             int64           // of these
	others            int             // shards that had their names already, from another process or run
	backend, fallback string
	from              aio.Origin // where they were re-read from
}

// newWriter prepares to write a slice. Its journal is not opened yet, and the caller's to close.
func newWriter(stock Stock, slice *Slice, out *Output, opts WriteOptions) (w *writer, err error) {
	w = &writer{stock: stock, slice: slice, plan: slice.Plan, out: out, opts: opts, sound: make(map[string]bool), reread: make(map[string]bool), began: time.Now()}
	w.specs, err = w.plan.specs()
	return w, err
}

// newWhole prepares to write a whole plan, which it begins in the output.
func newWhole(stock Stock, plan *Plan, out *Output, opts WriteOptions) (*writer, error) {
	digest, err := plan.Digest()
	if err != nil {
		return nil, err
	}
	w, err := newWriter(stock, wholeSlice(plan, digest), out, opts)
	if err == nil {
		w.journal, err = out.begin(plan, digest, stock.Parts(), opts.Named, opts.Overwrite)
	}
	return w, err
}

// run writes what is not finished yet.
func (w *writer) run(ctx context.Context) (*Report, error) {
	todo, lost, err := w.todo(ctx)
	if err != nil {
		return nil, err
	}
	report := &Report{Task: w.slice.Task, Shards: len(w.plan.Shards), Kept: len(w.plan.Shards) - len(todo), Lost: lost}
	if len(todo) > 0 {
		if err := w.out.mkdir(w.out.tmp("")); err != nil { // not in a directory that is complete
			return nil, err
		}
		if !w.repair {
			if err := w.out.remove(ManifestName); err != nil {
				return nil, err
			}
		}
		if err := w.writeAll(ctx, todo); err != nil {
			return nil, &Unfinished{Finished: report.Kept + w.written + w.others, Shards: len(w.plan.Shards), Err: err}
		}
	}
	if err := unchanged(w.stock.Parts()); err != nil {
		return nil, err
	}
	for i := range w.plan.Shards {
		done := w.journal.done[w.plan.Shards[i].Name]
		report.Samples += done.Samples
		report.Bytes += done.Bytes
	}
	report.Others, report.Written = w.others, w.bytes
	report.reread(w.plan, w.reread, w.journal)
	report.Backend, report.Fallback, report.From = w.backend, w.fallback, w.from
	report.Seconds = time.Since(w.began).Seconds()
	return report, nil
}

// finish commits the shards of a whole plan.
func (w *writer) finish(ctx context.Context, report *Report) error {
	err := w.out.missing(ctx, w.plan, w.journal, w.sound)
	if err == nil {
		err = report.complete(w.out, w.plan, w.slice.digest, w.journal, w.opts.Tool)
	}
	report.Seconds = time.Since(w.began).Seconds()
	return err
}

// todo returns the shards to write. lost names the shards among them that were finished before, and
// are damaged or missing.
func (w *writer) todo(ctx context.Context) (todo []int, lost []string, err error) {
	var kept []int
	was, done := make([]bool, len(w.plan.Shards)), make([]bool, len(w.plan.Shards))
	var g errgroup.Group
	g.SetLimit(cmp.Or(w.opts.Workers, runtime.GOMAXPROCS(0)))
	for i := range w.plan.Shards {
		g.Go(func() error {
			was[i], done[i] = w.isDone(i)
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
		case was[i]:
			lost = append(lost, w.plan.Shards[i].Name)
		}
		todo = append(todo, i)
	}
	if !w.opts.Verify || w.repair || w.out.shared || len(kept) == 0 {
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

// verifyKept re-reads shards that were finished before, and returns the names of the damaged ones. It
// enters them in the journal, so that the next run knows them if this one is stopped.
func (w *writer) verifyKept(ctx context.Context, kept []int) (bad []string, err error) {
	var shards []ManifestShard
	for _, i := range kept {
		f, _ := w.journal.of(w.plan.Shards[i].Name)
		shards = append(shards, f.ManifestShard)
		w.reread[f.Name] = true
	}
	found, err := w.out.reread(ctx, shards, FileSum{}, w.opts.AIO, w.opts.Progress)
	if err != nil {
		return nil, err
	}
	w.backend, w.fallback, w.from = found.Backend, found.Fallback, found.From
	bad = damaged(shards, found.Problems)
	for _, name := range bad {
		delete(w.reread, name)
		delete(w.sound, name)
		if err := w.journal.void(name); err != nil {
			return nil, err
		}
	}
	return bad, nil
}

// isDone reports whether a shard was finished, as the journal has it, and still is, as far as its
// size, its header and the bytes of its index tell.
func (w *writer) isDone(i int) (was, done bool) {
	s := &w.plan.Shards[i]
	f, ok := w.journal.of(s.Name)
	if !ok || !(f.Verified || w.opts.NoVerify || w.repair) || !w.plan.accounts(s, f.Bytes, f.Parts) {
		return false, false
	}
	if done, _ = w.out.holds(f); done && !w.repair { // which has verified it
		done, _ = w.out.hasIndex(f)
	}
	if done { // of an error the process that gives it its name finds the reason
		w.found(s.Name)
	}
	return true, done
}

// count notes that a shard is finished, by this run or, where it was not the first to name it,
// by another process; and whether this run has re-read it.
func (w *writer) count(f finished, first, reread bool) {
	w.found(f.Name)
	w.mu.Lock()
	defer w.mu.Unlock()
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

// found notes that a shard is sound.
func (w *writer) found(name string) {
	w.mu.Lock()
	w.sound[name] = true
	w.mu.Unlock()
}
