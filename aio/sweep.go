package aio

import (
	"context"
	"iter"
)

// Sweep reads size bytes of f from off, in file order, in blocks of at most BlockSize bytes. It keeps the queue full:
// when the loop requests the next block, the buffer of the last one is submitted again. off need not be aligned.
//
// A yielded block is valid, and may be modified, until the next iteration. An error ends the
// sequence and comes with a nil block. If the file ends before off+size, Sweep yields the blocks up to
// the end and then a [ReadError] with [io.ErrUnexpectedEOF]. When ctx is cancelled the error is
// ctx.Err(). When the loop ends, also by break or panic, the kernel does not own any buffer. The
// Reader cannot be used otherwise during the loop. Ranging over the sequence again reads again.
func (r *Reader) Sweep(ctx context.Context, f *File, off, size int64) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if err := r.begin(size); err != nil {
			yield(nil, placed(f, off, err))
			return
		}
		defer r.end()
		if err := r.use(f, off, size); err != nil {
			r.lend(yield, nil, err)
			return
		}
		r.pick(f)
		if size == 0 {
			return
		}

		block := int64(r.opts.BlockSize)
		depth := int64(r.opts.Depth)
		start := alignDown(off, f.align)
		end := off + size
		blocks := (end-start-1)/block + 1

		// Block b is always read into slot b % depth, which keeps the blocks in order.
		read := func(b int64) {
			at := start + b*block
			r.prepare(int(b%depth), f, at, int(min(block, end-at)))
		}
		for b := range min(depth, blocks) {
			read(b)
		}
		skip := int(off - start) // of the first block
		for b := range blocks {
			if err := ctx.Err(); err != nil {
				r.lend(yield, nil, err)
				return
			}
			s := &r.slots[b%depth]
			if err := r.await(int(b % depth)); err != nil {
				r.lend(yield, nil, err)
				return
			}
			r.done = r.done[:0]
			if s.err != nil {
				r.lend(yield, nil, s.err)
				return
			}
			r.stats.Bytes += int64(s.need - skip)
			if !r.lend(yield, s.buf[skip:s.need:s.need], nil) {
				return
			}
			skip = 0
			if b+depth < blocks {
				read(b + depth)
			}
		}
	}
}

// lend calls the body of the loop without the thread lock: the body may wait for other goroutines,
// and a coroutine (iter.Pull) must be resumed with the lock state in which it was created. Requests
// belong to the process, not to the thread that submitted them.
func (r *Reader) lend(yield func([]byte, error) bool, block []byte, err error) bool {
	r.unlock()
	defer r.lock()
	return yield(block, err)
}
