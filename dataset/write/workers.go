package write

import (
	"cmp"
	"context"
	"errors"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/internal/files"
	"github.com/ffconvert/ffconvert/shard"
	"github.com/ffconvert/ffconvert/shard/plan"
	"github.com/ffconvert/ffconvert/verify"
)

// writeAll writes shards, several at once.
func (w *writer) writeAll(ctx context.Context, todo []int) error {
	jobs := cmp.Or(w.opts.Workers, runtime.GOMAXPROCS(0))
	w.workers = max(1, min(jobs, len(todo)))
	w.readers = max(1, jobs/w.workers)
	total := int64(0)
	for _, i := range todo {
		total += w.plan.Weight(i)
	}
	phase, beside := "write", int64(0)
	if w.plan.Whole {
		phase, beside = "fetch + write", total
	}
	if !w.opts.NoVerify {
		phase, beside = phase+" + verify", beside+total
	}
	if w.out.InBucket() {
		phase, beside = phase+" + upload", beside+total
	}
	w.progress = plan.StartPhase(w.opts.Progress, phase, total)
	w.watcher.Planned(len(todo), len(w.plan.Shards)-len(todo), beside)
	var err error
	if w.claims, err = w.out.NewClaims(w.slice.Task); err != nil {
		return err
	}
	defer w.claims.Close()
	next, full := make(chan *job), make(chan *filled)
	w.open = make(chan struct{}, openShards(w.workers, w.opts.OpenFiles))
	// After an error of a finisher no further shard is filled; after an error of a worker the filled shards are still
	// finished. Both report their error before they release the parts and files of the failed shard: otherwise a
	// shard that gets that room could fail next, and its error be returned instead.
	whole, endAll := context.WithCancelCause(ctx)
	defer endAll(nil)
	finishing, whole := errgroup.WithContext(whole)
	for range w.workers {
		finishing.Go(func() error { return w.finishAll(whole, full, verify.Share(w.opts.AIO, w.workers), endAll) })
	}
	fctx, endFilling := context.WithCancelCause(whole)
	defer endFilling(nil)
	filling, fctx := errgroup.WithContext(fctx)
	drained := false
	filling.Go(func() (err error) {
		defer close(next)
		drained, err = w.feed(fctx, todo, next)
		return err
	})
	for range w.workers {
		filling.Go(func() error { return w.work(fctx, next, full, endFilling) })
	}
	err = filling.Wait()
	close(full)
	late := finishing.Wait()
	if ctx.Err() == nil {
		err, late = firstOf(fctx, err), firstOf(whole, late)
	}
	if late != nil {
		return late // of an earlier shard than the one being filled
	}
	if err == nil && drained {
		return ErrDrained
	}
	if err == nil && w.opts.Filled != nil {
		err = w.opts.Filled(ctx)
	}
	return err
}

// firstOf returns the error that ended the context, if any, joined with what err adds to it.
func firstOf(ctx context.Context, err error) error {
	if first := context.Cause(ctx); err != nil && !errors.Is(err, first) {
		return first
	}
	return err
}

// openShards returns the number of shards that may have open files at once: one for each worker, and as many being
// finished, if the limit allows 16 files for each: a shard has two, a finisher opens one more, and a reader opens
// its source, or eight files of a folder. With a lower limit workers wait until a shard is finished.
func openShards(workers, files int) int {
	if files == 0 {
		return 2 * workers
	}
	return max(workers, min(2*workers, files/16))
}

// work fills shards in its own memory. Several run concurrently. fail stops the others.
func (w *writer) work(ctx context.Context, tasks <-chan *job, full chan<- *filled, fail context.CancelCauseFunc) (err error) {
	to, err := shard.NewWriter(w.specs, w.readers, w.workers)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	for {
		select {
		case w.open <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		t, more := <-tasks
		if !more {
			<-w.open
			return nil
		}
		s, err := w.fill(ctx, to, t)
		if err != nil {
			fail(err)
		}
		if err = errors.Join(err, t.release()); err == nil {
			select {
			case full <- s:
				continue
			case <-ctx.Done():
				err = ctx.Err()
			}
		}
		fail(err)
		w.drop(s)
		return err
	}
}

// drop releases a shard that was finished or given up, and removes its temporary files unless it has its name.
func (w *writer) drop(s *filled) {
	for _, f := range []*files.Temp{s.index, s.file} {
		if f != nil {
			f.Discard()
		}
	}
	if s.free != nil {
		s.free()
	}
	w.claims.Release(s.Name)
	<-w.open
}

func (w *writer) verifiedBy(s aio.Stats) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s.Fallback != "" || w.fallback == "" && w.backend != aio.AIO.String() { // as in a verify.Report
		w.backend = s.Backend.String()
	}
	w.fallback = cmp.Or(w.fallback, s.Fallback)
}
