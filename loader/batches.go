package loader

import (
	"context"
	"errors"
	"iter"
	"sync"

	"github.com/ffconvert/ffconvert/decode"
	"github.com/ffconvert/ffconvert/record"
)

// Batches yields the batches of the epoch in order, from the next step to the end of the epoch; SetEpoch begins another
// epoch. After an early break the next call resumes at the first batch that was not delivered. A loop that fails ends
// with an error and no batch; the next call tries that batch again. When ctx is cancelled the error is that of ctx.
//
// Batches first checks that the paths of all shards still name the open files: [record.ErrReplaced].
func (l *Loader) Batches(ctx context.Context) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		if !l.running.CompareAndSwap(false, true) {
			yield(nil, errRunning)
			return
		}
		defer l.running.Store(false)
		if err := l.deliver(ctx, yield); err != nil {
			yield(nil, err)
		}
	}
}

// deliver yields batches until the epoch ends, an error occurs or the caller breaks.
func (l *Loader) deliver(ctx context.Context, yield func(*Batch, error) bool) error {
	if err := l.data.reader.Unchanged(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	most := l.opts.Prefetch + 1
	r := &run{Loader: l, slabs: newSlabs(most, l.opts.Memory), queue: make(chan *Batch, most), work: make(chan *Batch, most)}
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	all.Go(func() { r.choose(ctx, l.step) })
	for range l.opts.Readers {
		all.Go(func() { r.read(ctx) })
	}
	for l.step < l.Steps() {
		b, err := next(ctx, r.queue)
		if err != nil {
			return err
		}
		l.step++
		l.stats.Batches++
		l.stats.Samples += int64(b.Len())
		l.stats.Bytes += int64(len(b.Data))
		l.stats.Skipped += b.skipped
		if !yield(b, nil) {
			return nil
		}
		r.slabs.back <- b
	}
	return nil
}

// next waits for the batch of the next step, and for its data.
func next(ctx context.Context, queue <-chan *Batch) (*Batch, error) {
	var b *Batch
	select {
	case b = <-queue:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case <-b.done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return b, b.err
}

// A run is the state of one loop over batches.
type run struct {
	*Loader
	slabs *slabs
	queue chan *Batch // batches in the order of steps, possibly not read yet
	work  chan *Batch // batches to read
}

// choose sends the batch of each step, after memory for it is free.
func (r *run) choose(ctx context.Context, step int64) {
	defer close(r.work)
	var samples, offsets []int64
	said := step
	r.data.reader.Forget(ctx)
	for ; step < r.Steps(); step++ {
		r.announce(ctx, &said, step+ahead)
		samples, offsets = r.epoch.batch(samples[:0], step, r.opts.Rank, r.opts.World), append(offsets[:0], 0)
		size := int64(0)
		failed := r.data.reader.Enter(ctx, samples)
		for _, i := range samples {
			if failed = errors.Join(failed, ctx.Err()); failed != nil {
				break
			}
			var e record.Extent
			if _, e, failed = r.data.reader.Extent(int(i)); failed != nil {
				break
			}
			size += e.Size
			offsets = append(offsets, size)
		}
		b := r.slabs.take(ctx, size)
		if b == nil {
			return
		}
		b.prepare(samples, offsets, r.order.state(r.digest, r.number, step+1))
		b.err = failed
		r.queue <- b
		r.work <- b
	}
}

// read reads batches one after another.
func (r *run) read(ctx context.Context) {
	f := filler{data: r.data, opts: &r.opts, decoders: make(map[string]*decode.Decoder)}
	for b := range r.work {
		if b.err == nil {
			b.err = f.fill(ctx, b)
		}
		b.done <- struct{}{}
	}
}
