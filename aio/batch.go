package aio

import (
	"context"
	"errors"
)

// A Request is one read of a batch: len(Buf) bytes from Off. Buf may lie
// anywhere, also in the Go heap; the kernel never sees it.
type Request struct {
	Off int64
	Buf []byte
	Err error // set by ReadBatch; unless nil, what Buf holds is undefined
}

// A piece is the part of a request that one slot reads.
type piece struct {
	req  int
	dst  int // where it belongs in Buf
	skip int // bytes of the slot before it, for the alignment
	n    int
}

// ReadBatch fills every request of reqs, in any number, order and length, with
// up to Depth reads in flight. It returns once the kernel owns no buffer. The
// error joins those of the requests; a cancelled ctx counts once in it. A
// request is not affected by the error of another.
func (r *Reader) ReadBatch(ctx context.Context, f *File, reqs []Request) error {
	if err := r.begin(f, 0, 0); err != nil {
		for i := range reqs {
			reqs[i].Err = err
		}
		return err
	}
	defer r.end()
	b := batch{Reader: r, ctx: ctx, reqs: reqs}
	for i := range reqs {
		reqs[i].Err = nil
		if reqs[i].Off < 0 || reqs[i].Off+int64(len(reqs[i].Buf)) < 0 {
			reqs[i].Err = &ReadError{f.path, reqs[i].Off, errRange}
		}
	}
	if err := b.run(); err != nil { // fatal: nobody knows which ones arrived
		for i := range reqs {
			reqs[i].Err = err
		}
		return err
	}
	var errs []error
	for i := range reqs {
		if reqs[i].Err != nil && reqs[i].Err != b.cancelled {
			errs = append(errs, reqs[i].Err)
		}
	}
	if b.cancelled != nil {
		errs = append(errs, b.cancelled)
	}
	return errors.Join(errs...)
}

type batch struct {
	*Reader
	ctx       context.Context
	reqs      []Request
	cancelled error

	// The next piece to be read.
	next, dst int
}

func (b *batch) run() error {
	free := b.free[:0]
	for i := range b.slots {
		free = append(free, i)
	}
	for {
		b.cancel()
		for len(free) > 0 {
			i := free[len(free)-1]
			if !b.fill(i) {
				break
			}
			free = free[:len(free)-1]
		}
		if len(free) == len(b.slots) {
			return nil
		}
		if err := b.flush(); err != nil {
			return err
		}
		if len(b.done) == 0 {
			if err := b.reap(1); err != nil {
				return err
			}
		}
		for _, i := range b.done {
			b.take(i)
		}
		free = append(free, b.done...)
		b.done = b.done[:0]
	}
}

// cancel fails the requests that are still to be read once ctx is cancelled.
// Those in flight arrive anyway, and count.
func (b *batch) cancel() {
	if b.ctx.Err() == nil || !b.more() {
		return
	}
	b.cancelled = b.ctx.Err()
	for ; b.next < len(b.reqs); b.next++ {
		if q := &b.reqs[b.next]; q.Err == nil && len(q.Buf) > 0 {
			q.Err = b.cancelled
		}
	}
}

// more moves to the next piece, if there is one.
func (b *batch) more() bool {
	for b.next < len(b.reqs) && (b.reqs[b.next].Err != nil || b.dst == len(b.reqs[b.next].Buf)) {
		b.next++
		b.dst = 0
	}
	return b.next < len(b.reqs)
}

// fill gives slot i the next piece, if there is one.
func (b *batch) fill(i int) bool {
	if !b.more() {
		return false
	}
	q := &b.reqs[b.next]
	off := q.Off + int64(b.dst)
	at := alignDown(off, b.file.align)
	skip := int(off - at)
	n := min(len(q.Buf)-b.dst, b.opts.BlockSize-skip)
	b.slots[i].piece = piece{req: b.next, dst: b.dst, skip: skip, n: n}
	b.prepare(i, at, skip+n)
	b.dst += n
	return true
}

// take copies what slot i has read to where it belongs.
func (b *batch) take(i int) {
	s := &b.slots[i]
	p := s.piece
	q := &b.reqs[p.req]
	if s.err != nil {
		// Pieces come back in any order: keep the error that comes first in the file.
		var old, got *ReadError
		if !errors.As(q.Err, &old) || errors.As(s.err, &got) && got.Off < old.Off {
			q.Err = s.err
		}
		return
	}
	b.stats.Bytes += int64(copy(q.Buf[p.dst:p.dst+p.n], s.buf[p.skip:]))
}
