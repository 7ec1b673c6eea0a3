package shard

import (
	"cmp"
	"context"
	"errors"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/ffconvert/ffconvert/aio"
	"github.com/ffconvert/ffconvert/internal/direct"
	"github.com/ffconvert/ffconvert/shard/plan"
	"github.com/ffconvert/ffconvert/verify"
)

// writeAll writes shards, several at once.
func (w *writer) writeAll(ctx context.Context, todo []int) error {
	jobs := cmp.Or(w.opts.Workers, runtime.GOMAXPROCS(0))
	workers := max(1, min(jobs, len(todo)))
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
	w.progress = plan.StartPhase(w.opts.Progress, phase, total)
	moverOf(w.progress).Planned(len(todo), len(w.plan.Shards)-len(todo), beside)
	var err error
	if w.claims, err = w.out.NewClaims(w.slice.Task); err != nil {
		return err
	}
	defer w.claims.Close()
	next := make(chan *job)
	drained := false
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		defer close(next)
		drained, err = w.feed(ctx, todo, next)
		return err
	})
	for range workers {
		g.Go(func() error { return w.work(ctx, next, max(1, jobs/workers), verify.Share(w.opts.AIO, workers)) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if drained {
		return ErrDrained
	}
	return nil
}

// work writes shards from tasks, each with that number of readers, in memory of its own.
func (w *writer) work(ctx context.Context, tasks <-chan *job, readers int, reread aio.Options) (err error) {
	k := &worker{writer: w}
	for range readers {
		k.encoders = append(k.encoders, newEncoders(w.specs...))
	}
	if k.blocks, err = direct.NewBlocks(shardBlocks + indexBlocks); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, k.blocks.Free()) }()
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
		w.claims.Release(t.Name)
		if err := errors.Join(err, t.release()); err != nil {
			return err
		}
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
}
