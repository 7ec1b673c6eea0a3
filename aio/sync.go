package aio

import "time"

const whySync = "the reads were done whenever io_submit returned"

const (
	// syncMinBytes is the smallest request that is observed. A device needs more time for it than
	// passes between two system calls, so a request that is complete by then was read in io_submit.
	syncMinBytes = 64 << 10

	// syncStreak is the number of first submissions that must all be complete on return to call a file system
	// synchronous; a single other one proves that it is asynchronous. On a busy machine a thread may be descheduled
	// within io_submit and a fast device may complete meanwhile, but not 16 times in a row. A wrong result only changes
	// the reported backend: the pool reads the same bytes, with O_DIRECT and the same depth.
	syncStreak = 16

	// syncGap is the time after io_submit returned from which nothing can be concluded: the thread
	// was descheduled, and any device may have completed.
	syncGap = 50 * time.Microsecond
)

// observe checks whether all requests, including the n just submitted with size bytes in all, are complete already. If
// that is so for the first syncStreak submissions of a file, the pool reads the file and the rest of the batch, because
// its goroutines wait in parallel. last has the requests of the latest system call.
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
		if q.file == f { // requests are sorted by file
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

// unsettled reports whether any of the files is not known to be asynchronous.
func unsettled(reqs []request) bool {
	for _, q := range reqs {
		if !q.file.async.Load() {
			return true
		}
	}
	return false
}
