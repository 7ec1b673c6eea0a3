package aio

import "time"

const whySync = "the reads were done whenever io_submit returned"

const (
	// A device needs more than the time between two system calls for a
	// request of this size, so one that is done by then was done in io_submit.
	syncMinBytes = 64 << 10

	// syncStreak submissions, all of them done on return, make a synchronous file
	// system; one that is not proves an asynchronous one. On a busy machine a thread
	// loses its processor inside io_submit, and a fast device is done by the time it
	// has it back: now and then, never 16 times in a row. A wrong guess
	// costs nothing but the label: the pool reads the same bytes with the same O_DIRECT
	// and the same depth.
	syncStreak = 16

	// syncGap after io_submit returned nothing can be told any more: the thread
	// was off its processor, and any device may have caught up.
	syncGap = 50 * time.Microsecond
)

// observe looks whether the n requests that were just submitted, size bytes in
// all, and everything before them are done already. Where that holds for all of a file's
// first submissions, the file goes to the pool, whose goroutines at least wait side by
// side, and the rest of the batch with it. last are the requests that the latest system call took.
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
			f.async.Store(true)
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
		if !q.file.async.Load() {
			return true
		}
	}
	return false
}
