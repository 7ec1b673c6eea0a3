package shard

import (
	"cmp"
	"context"
	"errors"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/shard/plan"
	"github.com/ffconvert/ffconvert/verify"
)

// writeAll writes shards, several at once.
func (w *writer) writeAll(ctx context.Context, todo []int) error {
	jobs := cmp.Or(w.opts.Workers, runtime.GOMAXPROCS(0))
	w.workers = max(1, min(jobs, len(todo)))
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
	if w.whole != nil {
		if err := w.whole.Sweep(); err != nil {
			return err
		}
	}
	var err error
	if w.claims, err = w.out.NewClaims(w.slice.Task); err != nil {
		return err
	}
	defer w.claims.Close()
	next, full := make(chan *job), make(chan *filled)
	w.open = make(chan struct{}, openShards(w.workers, w.opts.OpenFiles))
	// An error of a finisher ends the filling of other shards; after an error of a worker the shards that are
	// filled are finished. Both tell of a failure before the shard gives up its parts and its files: what would
	// have their room next could fail as well, and its error be the one that is reported.
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
		filling.Go(func() error { return w.work(fctx, next, full, max(1, jobs/w.workers), endFilling) })
	}
	err = filling.Wait()
	close(full)
	late := finishing.Wait()
	if ctx.Err() == nil {
		err, late = firstOf(fctx, err), firstOf(whole, late)
	}
	if late != nil {
		return late // of a shard before the one that was being filled
	}
	if err == nil && drained {
		return ErrDrained
	}
	if err == nil && w.opts.Filled != nil {
		err = w.opts.Filled(ctx)
	}
	return err
}

// firstOf returns the error that ended a context, with what err adds to it, if there was an error.
func firstOf(ctx context.Context, err error) error {
	if first := context.Cause(ctx); err != nil && !errors.Is(err, first) {
		return first
	}
	return err
}

// openShards returns how many shards may have open files at once. Beside the shards that workers fill, as many
// are finished, if each of all may have 16 files: a shard has two, a finisher opens one more, and a reader opens its
// source, or eight files of a folder. With fewer files a worker waits until a shard is finished.
func openShards(workers, files int) int {
	if files == 0 {
		return 2 * workers
	}
	return max(workers, min(2*workers, files/16))
}

// work fills shards, each with that number of readers, in memory of its own. It is one of several workers. fail
// ends the others.
func (w *writer) work(ctx context.Context, tasks <-chan *job, full chan<- *filled, readers int, fail context.CancelCauseFunc) (err error) {
	k := &worker{writer: w}
	for range readers {
		k.encoders = append(k.encoders, newEncoders(w.specs...))
	}
	if k.blocks, err = newBlocks(w.workers); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, k.blocks.free()) }()
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
		s, err := k.write(ctx, t)
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

// drop ends the work on a shard that is finished, or will not be.
func (w *writer) drop(s *filled) {
	s.discard()
	w.claims.Release(s.Name)
	<-w.open
}

func (w *writer) verifiedBy(s aio.Stats) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.backend == "" || s.Backend == aio.Pread {
		w.backend = s.Backend.String()
	}
	w.fallback = cmp.Or(w.fallback, s.Fallback)
}
