package write

import (
	"context"
	"errors"
	"iter"
)

// feed sends shards to the workers one after another, each when its parts are local. drained reports
// that shards remain because Options.Drain was closed.
func (w *writer) feed(ctx context.Context, todo []int, next chan<- *job) (drained bool, err error) {
	// This context ends waiting for the parts of a shard that will not be written.
	taking, stop := context.WithCancel(ctx)
	defer stop()
	fed := make(chan struct{})
	defer close(fed)
	go func() {
		select {
		case <-w.opts.Drain:
			stop()
		case <-fed:
		}
	}()
	for i, err := range w.nextShards(todo) {
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
		select { // if both cases below are ready, select could take the other
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

// nextShards yields the shards to write, each after this process has claimed it. Shards that another process
// has claimed come last. If they are finished by then they are skipped; otherwise they are written here, because
// the process that claimed them may be dead.
func (w *writer) nextShards(todo []int) iter.Seq2[int, error] {
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
			err := w.journal.ReadTasks(w.slice.From, w.slice.From+len(w.plan.Shards))
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
