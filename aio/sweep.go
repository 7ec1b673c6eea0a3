package aio

import (
	"context"
	"iter"
)

// Sweep reads size bytes of f from off, in file order, in blocks of BlockSize
// bytes or less, with the queue kept full: a block's buffer is submitted again
// as soon as the consumer asks for the next block. off needs no alignment.
//
// A yielded block is valid, and may be written to, until the next iteration.
// After a non-nil error, which comes with a nil block, there is nothing more.
// A file that ends before off+size is an [io.ErrUnexpectedEOF] in a
// [ReadError]; the blocks before it are yielded first. When ctx is cancelled
// the error is ctx.Err(). However the loop ends, also by break or panic, the
// kernel owns no buffer afterwards. Nothing else can be read with r meanwhile;
// the sequence can be ranged over again, and then reads again.
func (r *Reader) Sweep(ctx context.Context, f *File, off, size int64) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if err := r.begin(); err != nil {
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

		// Block b is always read into slot b % depth, so blocks come out in order.
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

// lend runs the loop's body off the thread lock, which is none of its business:
// the body may wait for other goroutines, and a coroutine (iter.Pull) must not
// be switched with another lock than it was made with. The kernel ties requests
// to the process, not to the thread that submitted them.
func (r *Reader) lend(yield func([]byte, error) bool, block []byte, err error) bool {
	r.unlock()
	defer r.lock()
	return yield(block, err)
}
