package aio

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"syscall"
	"time"
)

// maxTries is the number of times that one request may fail with EINTR or EAGAIN, and that io_submit may fail with
// EAGAIN while nothing is in flight. The tries take about a second; a longer shortage is not temporary.
const maxTries = 64

// maxSubmit is the most requests of one io_submit. The kernel prepares all of them, about 4 µs each, before the
// device gets the first, and the device tends to complete one group of requests at once. With 64 per call the device
// and the reader waited for each other; with 8, random reads of 4 KiB at depth 64 took 0.9 times as long.
const maxSubmit = 8

// A slot is one block buffer and the read that fills it.
type slot struct {
	buf  []byte
	busy bool // prepared but not done
	sent bool // the kernel owns buf
	gen  uint32

	file  *File
	off   int64 // file offset of buf[0], aligned
	need  int   // bytes to read
	want  int   // need, rounded up to the alignment
	base  int   // start of the current request in buf, aligned
	high  int   // bytes of buf that have been read
	tries int
	err   error // set when the slot is done
	piece piece // for a batch
}

// prepare queues slot i to read need bytes of f from off, which must be aligned.
func (r *Reader) prepare(i int, f *File, off int64, need int) {
	s := &r.slots[i]
	s.file, s.off, s.need, s.want = f, off, need, alignUp(need, f.align)
	s.base, s.high, s.tries, s.err = 0, 0, 0, nil
	s.busy = true
	r.queue = append(r.queue, i)
}

// finish marks slot i as done. err is the error of the request at offset off in the slot.
func (r *Reader) finish(i int, off int, err error) {
	s := &r.slots[i]
	if err != nil {
		s.err = &ReadError{s.file.path, s.off + int64(off), err}
	}
	s.busy = false
	r.done = append(r.done, i)
}

// bytes returns the bytes from file offset off in a finished slot. At the end of the file the error is io.EOF.
func (s *slot) bytes(off int64) ([]byte, error) {
	have, err := s.need, s.err
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		have, err = s.high, io.EOF
	case err != nil:
		return nil, err
	}
	return s.buf[min(int(off-s.off), have):have], err
}

// await returns when slot i is done. The slot has the error of its read; an error of await is fatal.
func (r *Reader) await(i int) error {
	for {
		if err := r.flush(); err != nil {
			return err
		}
		if !r.slots[i].busy {
			return nil
		}
		if err := r.reap(1); err != nil {
			return err
		}
	}
}

// flush submits the queue until it is empty. If the kernel refuses a request, its slot is done with
// that error. An error of flush is fatal.
func (r *Reader) flush() error {
	for len(r.queue) > 0 {
		n, size, last, err := r.submit()
		if err == nil {
			err = r.observe(n, size, last) // may queue slots again
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// submit submits the whole queue, maxSubmit requests at a time. It returns the number of requests and bytes that the
// kernel accepted, and the requests of the last system call.
func (r *Reader) submit() (taken, size int, last []request, err error) {
	for tries := 0; len(r.queue) > 0; {
		r.reqs = r.reqs[:0]
		for _, i := range r.queue[:min(len(r.queue), maxSubmit)] {
			s := &r.slots[i]
			s.gen++
			r.reqs = append(r.reqs, request{i, tagOf(i, s.gen), s.file, s.buf[s.base:s.want], s.off + int64(s.base)})
		}
		n, err := r.k.submit(r.reqs)
		r.submitted = time.Now()
		if n < 0 || n > len(r.reqs) {
			return 0, 0, nil, r.fail(fmt.Errorf("aio: internal error: %d of %d requests submitted", n, len(r.reqs)))
		}
		last = r.reqs[:n]
		for _, q := range last {
			r.slots[q.slot].sent = true
			size += len(q.buf)
		}
		r.queue = slices.Delete(r.queue, 0, n)
		r.inflight += n
		taken += n
		switch {
		case n > 0:
			tries = 0
		case r.inflight > 0 && (err == nil || errors.Is(err, syscall.EAGAIN)):
			if err := r.reap(1); err != nil {
				return 0, 0, nil, err
			}
		case (err == nil || isRetry(err)) && tries < maxTries:
			tries++
			pause(tries)
		case isRefusal(err) && r.leaveRing(err):
			tries = 0
		default:
			if err == nil {
				err = syscall.EAGAIN
			}
			r.finish(r.queue[0], r.slots[r.queue[0]].base, err)
			r.queue = slices.Delete(r.queue, 0, 1)
		}
	}
	return taken, size, last, nil
}

// leaveRing switches from Linux AIO to the pool after io_submit failed with err. It returns false if
// the backend must be AIO or requests are in flight.
func (r *Reader) leaveRing(err error) bool {
	if r.k != r.ring || r.opts.Backend == AIO || r.inflight > 0 {
		return false
	}
	if r.ring.destroy() != nil {
		return false
	}
	r.ring = nil
	if err == nil {
		err = syscall.EAGAIN
	}
	r.usePool(fmt.Sprintf("io_submit: %v", err))
	return true
}

// reap processes completions, at least min (0 or 1). An error is fatal.
func (r *Reader) reap(min int) error {
	if min > 0 && r.inflight == 0 {
		return r.fail(errors.New("aio: internal error: waiting for nothing"))
	}
	n := 0
	for tries := 0; ; {
		var err error
		n, err = r.k.getevents(min, r.events)
		if err == nil && (n > 0 || min == 0) {
			break
		}
		// The Go runtime preempts threads with a signal, so EINTR may occur any number of times.
		if errors.Is(err, syscall.EINTR) {
			if min == 0 {
				return nil
			}
			continue
		}
		if err == nil {
			err = syscall.EAGAIN
		}
		if tries++; tries > maxTries || !isRetry(err) {
			return r.fail(fmt.Errorf("aio: io_getevents with %d requests in flight: %w", r.inflight, err))
		}
		pause(tries)
	}
	for _, ev := range r.events[:n] {
		if err := r.complete(ev); err != nil {
			return err
		}
	}
	return nil
}

// complete processes one event: its slot is done or is queued again.
func (r *Reader) complete(ev event) error {
	i, gen := slotOf(ev.tag)
	if int64(i) >= int64(len(r.slots)) || !r.slots[i].sent || r.slots[i].gen != gen {
		return r.fail(fmt.Errorf("aio: internal error: completion of unknown request %#x", ev.tag))
	}
	s := &r.slots[i]
	if ev.n < 0 || ev.n > s.want-s.base {
		return r.fail(fmt.Errorf("aio: internal error: %d bytes for a request of %d", ev.n, s.want-s.base))
	}
	s.sent = false
	r.inflight--
	r.stats.Reads++
	total := s.base + ev.n
	switch {
	case ev.err != nil:
		if s.tries++; !isRetry(ev.err) || s.tries > maxTries {
			r.finish(int(i), s.base, ev.err)
			return nil
		}
		if errors.Is(ev.err, syscall.EAGAIN) {
			pause(s.tries)
		}
	case total >= s.need:
		r.finish(int(i), 0, nil)
		return nil
	case total <= s.high: // no new bytes: the end of the file
		r.finish(int(i), s.high, io.ErrUnexpectedEOF)
		return nil
	default:
		s.high = total
		s.base = alignDown(total, s.file.align)
	}
	r.stats.Retries++
	r.queue = append(r.queue, int(i))
	return nil
}

// isRefusal reports whether err, from io_submit, means that AIO is not available: because of a
// system call filter or a permanent shortage.
func isRefusal(err error) bool {
	return err == nil || errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EAGAIN)
}

// isRetry reports whether a call that failed with err may succeed when tried again.
func isRetry(err error) bool {
	return errors.Is(err, syscall.EINTR) || errors.Is(err, syscall.EAGAIN)
}

// pause sleeps tries × 0.5 ms. It does not sleep for the first 4 tries.
func pause(tries int) {
	if tries > 4 {
		time.Sleep(time.Duration(tries) * 500 * time.Microsecond)
	}
}

// alignDown and alignUp round n to a multiple of align, a power of two.
func alignDown[T int | int64](n T, align int) T { return n &^ T(align-1) }
func alignUp[T int | int64](n T, align int) T   { return alignDown(n+T(align-1), align) }
