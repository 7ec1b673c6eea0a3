package aio

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
)

// A Request is one read of a batch: len(Buf) bytes of File at offset Off. Buf may be any memory; the
// kernel reads into the buffers of the Reader.
type Request struct {
	File *File
	Off  int64
	Buf  []byte
	Err  error // set by ReadBatch; if it is not nil the content of Buf is undefined
}

func (q *Request) end() int64 { return q.Off + int64(len(q.Buf)) }

// mergeGap is the largest gap in bytes between two requests that are read as one. Reading the gap
// takes a device about as long as one more request (BenchmarkReadBatchMerge).
const mergeGap = 16 << 10

// errAgain marks the requests of a merged read that failed. Each of them is then read separately, to
// find the one that fails.
var errAgain = errors.New("aio: internal error: not read again")

// ReadBatch reads all requests of reqs, with up to Depth reads in flight. The requests may be of any number, order and
// length, and of several files. Requests in the page cache are read from there first; see [File.UsePageCache]. Adjacent
// requests are read together, up to BlockSize. ReadBatch returns when the kernel does not own any buffer. The error
// joins the errors of all requests, and the error of a cancelled ctx once. A failed request does not affect others.
func (r *Reader) ReadBatch(ctx context.Context, reqs []Request) error {
	b := batch{Reader: r, ctx: ctx, reqs: reqs}
	size := int64(0)
	for i := range reqs {
		size += max(int64(len(reqs[i].Buf)), requestBytes)
	}
	if err := r.begin(size); err != nil {
		for i := range reqs {
			reqs[i].Err = placed(reqs[i].File, reqs[i].Off, err)
		}
		return err
	}
	defer r.end()
	if err := b.read(); err != nil { // fatal: it is unknown which requests were read
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

// A batch reads requests in the order of file and offset. A read starts where the previous one
// ended, if the next request begins before that.
type batch struct {
	*Reader
	ctx       context.Context
	reqs      []Request
	cancelled error

	order []int // indices of reqs to read, sorted by file and offset
	next  int   // index in order of the first request that is not completely queued
	file  *File // of the latest read
	off   int64 // end of the latest read in file
	merge bool  // a read may serve several requests
}

// A piece is the part of a file that one slot reads for a batch: the bytes from off to off+n, for
// the requests order[first:last] that overlap them.
type piece struct {
	first, last int
	off         int64
	skip        int // bytes in the slot before off, for alignment
	n           int
}

// read reads all requests: first from the page cache, then through the ring, then through the pool, and finally, one by
// one, the requests of failed merged reads.
func (b *batch) read() error {
	b.sort()
	b.fromCache()
	ring, pooled := b.order[:0], b.forPool[:0]
	for i, file, toPool := 0, (*File)(nil), false; i < len(b.order); i++ {
		k := b.order[i]
		if f := b.reqs[k].File; f != file {
			file = f
			_, toPool = b.pooled(f)
		}
		if toPool {
			pooled = append(pooled, k)
		} else {
			ring = append(ring, k)
		}
	}
	b.forPool = pooled[:0]
	for _, order := range [...][]int{ring, pooled} {
		if err := b.run(order, true); err != nil {
			return err
		}
	}
	for i := range b.reqs {
		if b.reqs[i].Err != errAgain {
			continue
		}
		b.reqs[i].Err = nil
		if err := b.run([]int{i}, false); err != nil {
			return err
		}
	}
	return nil
}

// sort sets b.order to the valid requests, sorted, and keeps their files open until end.
func (b *batch) sort() {
	order := b.sorted[:0]
	for i := range b.reqs {
		q := &b.reqs[i]
		q.Err = nil
		switch {
		case q.File == nil:
			q.Err = &ReadError{"", q.Off, os.ErrInvalid}
		case q.Off < 0 || q.end() < 0:
			q.Err = &ReadError{q.File.path, q.Off, errRange}
		default:
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(i, j int) int {
		p, q := &b.reqs[i], &b.reqs[j]
		if p.File != q.File {
			return cmp.Compare(p.File.fd, q.File.fd)
		}
		return cmp.Compare(p.Off, q.Off)
	})
	b.sorted = order[:0]
	b.order = order[:0]
	var file *File
	var err error
	for _, i := range order {
		q := &b.reqs[i]
		if q.File != file {
			file = q.File
			err = b.use(file, 0, 0)
		}
		if err != nil {
			q.Err = &ReadError{file.path, q.Off, os.ErrClosed}
		} else if len(q.Buf) > 0 {
			b.order = append(b.order, i)
		}
	}
}

// run reads the requests of order. The same kernel must read all their files.
func (b *batch) run(order []int, merge bool) error {
	if len(order) == 0 {
		return nil
	}
	b.order, b.next, b.file, b.merge = order, 0, nil, merge
	b.pick(b.reqs[order[0]].File)
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

// cancel fails the requests that are not in flight yet, if ctx is cancelled. Requests in flight complete normally.
func (b *batch) cancel() {
	if b.ctx.Err() == nil || !b.more() {
		return
	}
	b.cancelled = b.ctx.Err()
	for ; b.more(); b.next++ {
		b.reqs[b.order[b.next]].Err = b.cancelled
	}
}

// more advances b.next to the next request with bytes that are not queued yet, and reports whether there is one.
func (b *batch) more() bool {
	for ; b.next < len(b.order); b.next++ {
		q := &b.reqs[b.order[b.next]]
		if q.Err == nil && (q.File != b.file || q.end() > b.off) {
			return true
		}
	}
	return false
}

// fill queues the next piece in slot i. It returns false if nothing is left.
func (b *batch) fill(i int) bool {
	if !b.more() {
		return false
	}
	q := &b.reqs[b.order[b.next]]
	start := q.Off
	if q.File == b.file {
		start = max(start, b.off)
	}
	at := alignDown(start, q.File.align)
	limit := at + int64(b.opts.BlockSize)
	end := q.end()
	last := b.next + 1
	for ; b.merge && last < len(b.order); last++ {
		p := &b.reqs[b.order[last]]
		if p.File != q.File || p.Off >= limit || p.Off-mergeGap > end {
			break
		}
		end = max(end, p.end())
	}
	end = min(end, limit)
	b.file, b.off = q.File, end
	b.slots[i].piece = piece{b.next, last, start, int(start - at), int(end - start)}
	b.prepare(i, q.File, at, int(end-at))
	return true
}

// take copies the bytes that slot i has read into the buffers of the requests.
func (b *batch) take(i int) {
	s := &b.slots[i]
	p := s.piece
	data := s.buf[p.skip:][:p.n]
	end := p.off + int64(p.n)
	n := 0 // requests that overlap the piece
	for _, k := range b.order[p.first:p.last] {
		q := &b.reqs[k]
		from, to := max(q.Off, p.off), min(q.end(), end)
		if from >= to {
			continue
		}
		if n++; s.err == nil {
			b.stats.Bytes += int64(copy(q.Buf[from-q.Off:], data[from-p.off:to-p.off]))
		}
	}
	if s.err == nil {
		return
	}
	for _, k := range b.order[p.first:p.last] {
		q := &b.reqs[k]
		if max(q.Off, p.off) >= min(q.end(), end) {
			continue
		}
		if n > 1 {
			q.Err = errAgain
			continue
		}
		// Pieces complete in any order: keep the error with the smallest offset.
		var old, got *ReadError
		if q.Err != errAgain && (!errors.As(q.Err, &old) || errors.As(s.err, &got) && got.Off < old.Off) {
			q.Err = s.err
		}
	}
}
