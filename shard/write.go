package shard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/verify"
)

// ErrUnbalanced says that what was written is not what was found. It is an internal
// error: nothing of the input may be lost without one of the others.
var ErrUnbalanced = errors.New("written and found samples differ")

// WriteOptions say how to write, never what: shards do not depend on them.
type WriteOptions struct {
	Workers   int         // shards written at once, or readers of one where there are fewer shards; default: the CPUs this process may use
	Overwrite bool        // replace another dataset in the output
	NoVerify  bool        // do not re-read the shards from the device
	AIO       aio.Options // for verifying; Depth is of all workers together, default verify.DefaultDepth
	Progress  Progress    // may be nil
	Tool      string      // name and version of the program, for the manifest
	Shards    []int       // write these alone, by their place in the plan; default: all
	Named     []string    // the sources as the user named them; a repair finds them by these names

	// Drain, once it is closed, lets the shards under way be finished and begins no other.
	// What is left then is [ErrDrained]. nil: never.
	Drain <-chan struct{}
}

// ErrDrained says that a run began no more shards because it was told so.
var ErrDrained = errors.New("told to begin no more shards")

// A Report says what Write has done.
type Report struct {
	Manifest  *Manifest // nil while shards of the plan are left to write
	Kept      int       // shards that a run before had finished
	Verified  bool      // every shard was re-read and checked, now or then
	Seconds   float64   // this run
	Backend   string    // of verification: aio or pread; empty where nothing was verified
	Fallback  string    // why not Linux AIO
	PageCache bool      // O_DIRECT was refused: the page cache was re-read, not the device
}

// Write writes the shards of a plan and commits them with a manifest. What a run by the
// same plan has finished before is kept; so an interrupted Write is resumed by calling
// it again, with the same result to the byte. After an error every file under a final
// name is complete and sound, and there is no manifest; nor is there one as long as
// opts.Shards leaves out some that no run has written.
//
// A plan of whole parts is written from a source of all its parts that is [converters.Divisible].
func Write(ctx context.Context, src converters.Source, plan *Plan, out *Output, opts WriteOptions) (*Report, error) {
	return WriteStock(ctx, local{src, plan.Whole != nil}, plan, out, opts)
}

// WriteStock is [Write] of a dataset whose parts are made local as they are needed: those of
// the next shard while others are written. What is wrong with a part is found only then: where
// that ends the first run before any shard is finished, no plan is left of it.
func WriteStock(ctx context.Context, stock Stock, plan *Plan, out *Output, opts WriteOptions) (*Report, error) {
	w, err := newWriter(stock, plan, out, opts)
	if err != nil {
		return nil, err
	}
	defer w.journal.close()
	if err := w.journal.changed; err != nil {
		return nil, err
	}
	report, err := w.run(ctx)
	if err != nil && plan.Whole != nil && ctx.Err() == nil && w.written+len(w.journal.was) == 0 {
		err = errors.Join(err, out.forget(plan))
	}
	return report, err
}

// Unfinished is the error of a Write or Repair that was stopped while it wrote shards.
type Unfinished struct {
	Finished int // shards of the plan that are finished; they stay
	Shards   int // of the plan
	Err      error
}

func (u *Unfinished) Error() string { return u.Err.Error() }
func (u *Unfinished) Unwrap() error { return u.Err }

// A writer is what the workers of one Write share.
type writer struct {
	stock      Stock
	plan       *Plan
	digest     string // of the plan
	out        *Output
	specs      []*encode.Spec // by Part.Encode
	journal    *journal
	opts       WriteOptions
	indexShape indexShape
	progress   Progress
	repair     bool // the manifest says what the dataset must become again
	began      time.Time

	mu                sync.Mutex
	written           int // shards finished by this run
	backend, fallback string
	pageCache         bool
}

// newWriter prepares the output. The journal is the caller's to close.
func newWriter(stock Stock, plan *Plan, out *Output, opts WriteOptions) (*writer, error) {
	w := &writer{stock: stock, plan: plan, out: out, opts: opts, indexShape: plan.indexShape(), began: time.Now()}
	var err error
	if w.specs, err = plan.specs(); err != nil {
		return nil, err
	}
	if w.digest, err = plan.Digest(); err != nil {
		return nil, err
	}
	w.journal, err = out.begin(plan, w.digest, stock.Parts(), opts.Named, opts.Overwrite)
	return w, err
}

// run writes what is not finished yet, and commits it.
func (w *writer) run(ctx context.Context) (*Report, error) {
	report := &Report{}
	todo, left := w.todo()
	report.Kept = len(w.plan.Shards) - len(todo) - left
	if len(todo)+left > 0 {
		if !w.repair {
			if err := w.out.remove(ManifestName); err != nil {
				return nil, err
			}
		}
		if err := w.writeAll(ctx, todo); err != nil {
			return nil, &Unfinished{Finished: report.Kept + w.written, Shards: len(w.plan.Shards), Err: err}
		}
	}
	if err := unchanged(w.stock.Parts()); err != nil {
		return nil, err
	}
	if left == 0 {
		var err error
		if report.Manifest, err = w.out.commit(w.plan, w.digest, w.journal, w.opts.Tool); err != nil {
			return nil, err
		}
	}
	if err := w.out.root.RemoveAll(tmpDir); err != nil {
		return nil, fmt.Errorf("clean up: %w", err)
	}
	report.Verified = w.journal.verified()
	report.Backend, report.Fallback, report.PageCache = w.backend, w.fallback, w.pageCache
	report.Seconds = time.Since(w.began).Seconds()
	return report, nil
}

// unchanged looks once more at every part, after the last of it was read: one that was
// written to in the meantime may have given bytes of two states.
func unchanged(parts []converters.Part) error {
	for _, p := range parts {
		if p.Path == "" {
			continue // its files were looked at when they had been read
		}
		f, err := p.Open()
		if err != nil {
			return err
		}
		f.Close()
	}
	return nil
}

// todo returns the shards to write, and how many unfinished ones are left to others.
func (w *writer) todo() (todo []int, left int) {
	for i := range w.plan.Shards {
		s := &w.plan.Shards[i]
		done, ok := w.journal.done[s.Name]
		switch {
		case ok && (done.Verified || w.opts.NoVerify || w.repair) && w.plan.accounts(s, done) && w.out.holds(done):
		case w.opts.Shards != nil && !slices.Contains(w.opts.Shards, i):
			left++
		default:
			todo = append(todo, i)
		}
	}
	return todo, left
}

func (w *writer) writeAll(ctx context.Context, todo []int) error {
	jobs := cmp.Or(w.opts.Workers, runtime.GOMAXPROCS(0))
	workers := max(1, min(jobs, len(todo)))
	total := int64(0)
	for _, i := range todo {
		total += w.plan.weight(i)
	}
	phase, times := "write", int64(1)
	if w.plan.Whole != nil {
		phase, times = "fetch + write", 2
	}
	if !w.opts.NoVerify {
		phase, times = phase+" + verify", times+1
	}
	w.progress = startPhase(w.opts.Progress, phase, times*total)
	next := make(chan *task)
	g, ctx := errgroup.WithContext(ctx)
	drained := false
	g.Go(func() error {
		defer close(next)
		for _, i := range todo {
			t, err := w.take(ctx, i)
			if err != nil {
				return err
			}
			select { // a shard that could begin now must not, once it is said
			case <-w.opts.Drain:
				drained = true
				return t.release()
			default:
			}
			select {
			case next <- t:
			case <-w.opts.Drain:
				drained = true
				return t.release()
			case <-ctx.Done():
				return errors.Join(ctx.Err(), t.release())
			}
		}
		return nil
	})
	for range workers {
		g.Go(func() error { return w.work(ctx, next, max(1, jobs/workers), verify.Share(w.opts.AIO, workers)) })
	}
	err := g.Wait()
	if err == nil && drained {
		err = ErrDrained
	}
	return err
}

// work writes the shards that it is given, each by so many readers, with memory of its own.
func (w *writer) work(ctx context.Context, tasks <-chan *task, readers int, reread aio.Options) (err error) {
	k := &worker{writer: w}
	for range readers {
		k.encoders = append(k.encoders, newEncoders(w.specs...))
	}
	if k.buffers, err = newBuffers(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, k.buffers.free()) }()
	if !w.opts.NoVerify {
		if k.reader, err = aio.NewReader(reread); err != nil {
			return err
		}
		defer func() {
			err = errors.Join(err, k.reader.Close())
			w.verifiedBy(k.reader.Stats())
		}()
	}
	for t := range tasks {
		err := k.write(ctx, t)
		if err := errors.Join(err, t.release()); err != nil {
			return err
		}
		w.mu.Lock()
		w.written++
		w.mu.Unlock()
	}
	return nil
}

func (w *writer) verifiedBy(s aio.Stats) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.backend == "" || s.Backend == aio.Pread {
		w.backend = s.Backend.String()
	}
	w.fallback = cmp.Or(w.fallback, s.Fallback)
	w.pageCache = w.pageCache || !s.Direct
}
