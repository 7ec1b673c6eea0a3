package aio

import "time"

const whySync = "the file system completes AIO synchronously"

const (
	// A device needs more than the time between two system calls for a
	// request of this size, so one that is done by then was done in io_submit.
	syncMinBytes = 64 << 10

	// syncStreak submissions in a row, all of them done on return, make a
	// synchronous file system. A wrong guess costs nothing but the label: the
	// pool reads the same bytes with the same O_DIRECT and the same depth.
	syncStreak = 4

	// syncGap after io_submit returned nothing can be told any more: the thread
	// was off its processor, and any device may have caught up.
	syncGap = 50 * time.Microsecond

	// syncAsync submissions that were not done on return settle the question.
	syncAsync = 16
)

// observe looks whether the n requests that were just submitted, size bytes in
// all, and everything before them are done already. If that is so again and
// again the file goes to the pool, whose goroutines at least wait side by side.
func (r *Reader) observe(n, size int) error {
	f := r.file
	if n == 0 || r.k != r.ring || r.opts.Backend == AIO || f.async >= syncAsync || size < n*syncMinBytes {
		return nil
	}
	if time.Since(r.submitted) > syncGap {
		return nil
	}
	if err := r.reap(0); err != nil {
		return err
	}
	if r.inflight > 0 {
		f.streak = 0
		f.async++
		return nil
	}
	if f.streak++; f.streak >= syncStreak {
		f.sync = true
		r.pick(f)
	}
	return nil
}
