package shard

import (
	"context"
	"errors"
	"iter"
)

// offer hands shards to the workers in turn, each when its parts are local. It reports whether some
// are left because the run was told to begin no more.
func (w *writer) offer(ctx context.Context, todo []int, next chan<- *task) (drained bool, err error) {
	// Do not wait for the parts of a shard that will not begin.
	taking, stop := context.WithCancel(ctx)
	defer stop()
	offered := make(chan struct{})
	defer close(offered)
	go func() {
		select {
		case <-w.opts.Drain:
			stop()
		case <-offered:
		}
	}()
	for i, err := range w.claimed(todo) {
		if err != nil {
			return false, err
		}
		t, err := w.take(taking, i)
		switch {
		case taking.Err() != nil && ctx.Err() == nil && err != nil:
			return true, nil
		case err != nil:
			return false, err
		}
		select { // a shard that could begin now must not, once it is said
		case <-w.opts.Drain:
			return true, t.release()
		default:
		}
		select {
		case next <- t:
		case <-w.opts.Drain:
			return true, t.release()
		case <-ctx.Done():
			return false, errors.Join(ctx.Err(), t.release())
		}
	}
	return false, nil
}

// claimed yields the shards to write, each with its claim. Those that another process has
// claimed come last: if it has finished one until then, that is left out; else it is written
// here, too, since the process that claimed it may be dead.
func (w *writer) claimed(todo []int) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		var busy []int
		for _, i := range todo {
			free, err := w.claims.Take(w.plan.Shards[i].Name)
			switch {
			case err == nil && !free:
				busy = append(busy, i)
			case !yield(i, err):
				return
			}
		}
		for _, i := range busy {
			err := w.journal.ReadTasks(w.out.Root, w.slice.From, w.slice.From+len(w.plan.Shards))
			if err == nil {
				if _, done := w.isDone(i); done {
					f, _ := w.journal.Lookup(w.plan.Shards[i].Name)
					w.count(f, false, false)
					continue
				}
				err = w.claims.Seize(w.plan.Shards[i].Name)
			}
			if !yield(i, err) {
				return
			}
		}
	}
}
