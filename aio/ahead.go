package aio

import (
	"io"
	"sync"
)

const (
	aheadPiece = 1 << 20  // bytes of a read, but for the first ones
	aheadLeast = 64 << 10 // bytes of the first read ahead
	aheadDepth = 4        // reads in flight
)

// An Ahead reads what answers each read after a delay, as an object store does. Where reads follow each other it reads what
// comes next before it is wanted, several pieces at once, up to as many bytes as were wanted so far. A read elsewhere takes what
// is wanted alone. It is for one goroutine at a time, and must be closed.
type Ahead struct {
	from    io.ReaderAt // may be used concurrently
	end     int64       // see Limit
	next    int64       // where the last read ended
	run     int64       // bytes of the reads that followed each other
	pieces  []*aheadRead
	free    [][]byte
	reading sync.WaitGroup
}

// An aheadRead is a piece that is read, or was.
type aheadRead struct {
	off  int64
	buf  []byte
	done chan struct{} // closed when the read has ended, with n bytes and err
	n    int
	err  error // nil: buf is full
}

// NewAhead returns an Ahead of something of that many bytes.
func NewAhead(from io.ReaderAt, size int64) *Ahead { return &Ahead{from: from, end: size} }

// Limit says where the reads that follow each other will end. Nothing beyond is read ahead.
func (a *Ahead) Limit(end int64) { a.end = end }

// Close waits for the reads in flight.
func (a *Ahead) Close() error {
	a.pieces = nil
	a.reading.Wait()
	return nil
}

// ReadAt implements [io.ReaderAt]. What was read once is read again if it is wanted again.
func (a *Ahead) ReadAt(p []byte, off int64) (n int, err error) {
	follows := off == a.next && a.run > 0
	if !follows {
		a.pieces, a.run = nil, 0
	}
	a.next, a.run = off+int64(len(p)), a.run+int64(len(p))
	if !follows {
		return a.from.ReadAt(p, off)
	}
	for n < len(p) {
		a.request(off + int64(n))
		first := a.pieces[0]
		<-first.done
		n += copy(p[n:], first.buf[off+int64(n)-first.off:first.n])
		switch {
		case off+int64(n) < first.off+int64(first.n): // p is full
		case first.err == nil:
			a.pieces, a.free = a.pieces[1:], append(a.free, first.buf)
		case n < len(p):
			a.pieces, a.run = nil, 0
			return n, first.err
		}
	}
	a.request(a.next)
	return n, nil
}

// request begins to read pieces: what is wanted from off on, up to next, and what comes after that.
func (a *Ahead) request(off int64) {
	if n := len(a.pieces); n > 0 {
		last := a.pieces[n-1]
		off = last.off + int64(len(last.buf))
	}
	unit := min(max(a.run, aheadLeast), aheadPiece)
	for goal := a.next + min(a.run, aheadDepth*aheadPiece); len(a.pieces) < aheadDepth; {
		size := min(unit, max(a.end, a.next)-off)
		if size <= 0 || off >= a.next && off+size > goal {
			return
		}
		a.pieces = append(a.pieces, a.read(off, int(size)))
		off += size
	}
}

// read begins to read a piece.
func (a *Ahead) read(off int64, size int) *aheadRead {
	r := &aheadRead{off: off, done: make(chan struct{})}
	if n := len(a.free); n > 0 && cap(a.free[n-1]) >= size {
		r.buf, a.free = a.free[n-1][:size], a.free[:n-1]
	} else {
		r.buf = make([]byte, size)
	}
	a.reading.Go(func() {
		defer close(r.done)
		if r.n, r.err = a.from.ReadAt(r.buf, off); r.n == size {
			r.err = nil
		} else if r.err == nil {
			r.err = io.ErrUnexpectedEOF
		}
	})
	return r
}
