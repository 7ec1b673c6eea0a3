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
// all, and everything before them are done already. A file whose submissions are
// so again and again goes to the pool, whose goroutines at least wait side by
// side; so does what is left of a batch. last are the requests that the latest
// system call took.
func (r *Reader) observe(n, size int, last []request) error {
	if n == 0 || r.k != r.ring || r.opts.Backend == AIO || size < n*syncMinBytes || !unsettled(last) {
		return nil
	}
	if time.Since(r.submitted) > syncGap {
		return nil
	}
	if err := r.reap(0); err != nil {
		return err
	}
	done := r.inflight == 0
	var f *File
	for _, q := range last {
		if q.file == f { // those of a file come together
			continue
		}
		f = q.file
		if !done {
			f.streak.Store(0)
			f.async.Add(1)
		} else if f.streak.Add(1) >= syncStreak {
			f.sync.Store(true)
			r.usePool(whySync)
		}
	}
	return nil
}

// unsettled reports whether the question is open for any of the files.
func unsettled(reqs []request) bool {
	for _, q := range reqs {
		if q.file.async.Load() < syncAsync {
			return true
		}
	}
	return false
}
