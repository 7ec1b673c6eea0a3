package store

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

const bufferSize = 256 << 10 // bytes of a connection's buffer

// A span is a range of an object that one goroutine fetches.
type span struct {
	start, pos int64         // bytes [start, pos) are in the file
	end        int64         // -1: where the object ends
	done       chan struct{} // closed when the whole span is in the file
}

func newSpan(start, end int64) *span {
	return &span{start: start, pos: start, end: end, done: make(chan struct{})}
}

// A fetch copies one object to a file.
type fetch struct {
	c        *Client
	service  service
	o        Object
	progress func(n int64)

	writeAt, readAt func(p []byte, off int64) (int, error) // of the file
	memory          []byte                                 // what the only span is read into, at its place; nil: a buffer

	pace   *pace
	total  atomic.Int64 // bytes of the object; -1: not known yet
	single atomic.Bool  // one span is the whole object; set before a second span is started
	first  chan *reply  // receives the first reply that passes checkReply

	stop context.CancelCauseFunc // cancels the other spans with the error to report; nil: there is one span

	mu sync.Mutex // serializes calls of progress

	// State of the span at offset 0:
	begun   bool // its reply was sent to first
	sniffed bool // the first bytes were examined
}

// Fetch implements [Store]. It calls into concurrently, and writes nothing beyond the object. After an error
// the content of the file is undefined. If the checksum differs, Fetch downloads the object a second time
// before it returns [ErrSum]: the transport may have damaged the bytes. progress counts each byte once.
func (c *Client) Fetch(ctx context.Context, o Object, into File, progress func(n int64)) error {
	s, err := c.service(o.URL)
	if err != nil {
		return err
	}
	if progress == nil {
		progress = func(int64) {}
	}
	var reported int64
	err = c.fetchOnce(ctx, s, o, into, func(n int64) { reported += n; progress(n) })
	if errors.Is(err, ErrSum) && ctx.Err() == nil {
		err = c.fetchOnce(ctx, s, o, into, func(n int64) {
			if reported -= n; reported < 0 { // bytes that the first download did not report
				progress(-reported)
				reported = 0
			}
		})
	}
	return err
}

func (c *Client) fetchOnce(ctx context.Context, s service, o Object, into File, progress func(n int64)) error {
	f := c.newFetch(s, o)
	f.writeAt, f.readAt, f.progress = into.WriteAt, into.ReadAt, progress
	return f.run(ctx)
}

func (c *Client) newFetch(s service, o Object) *fetch {
	f := &fetch{c: c, service: s, o: o, first: make(chan *reply, 1), pace: c.newPace()}
	f.total.Store(max(o.Size, -1))
	return f
}

func (f *fetch) run(ctx context.Context) error {
	size, rangeSize := f.total.Load(), f.c.opts.rangeSize()
	if f.o.Version == "" && f.o.Modified.IsZero() && f.o.Sum.NewHash() == nil {
		// Nothing would show that two ranges are of different versions: one request reads the whole object,
		// and a retry reads it from the start and compares.
		f.o.whole = true
	}
	if f.o.whole || size <= rangeSize {
		f.single.Store(true)
	}
	inner, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	f.stop = stop
	g, inner := errgroup.WithContext(inner)
	g.SetLimit(f.c.opts.connections() + 1) // one for the checksum

	first := newSpan(0, size)
	if !f.single.Load() {
		first.end = rangeSize
	}
	g.Go(func() error { return f.span(inner, first) })
	select {
	case rep := <-f.first: // it shows whether the service has ranges, and may have the checksum
		sum := f.o.Sum
		if sum.NewHash() == nil {
			sum = rep.Sum
		}
		var spans chan *span // in order, for the checksum; nil: the service has none
		if h := sum.NewHash(); h != nil {
			spans = make(chan *span, 2*f.c.opts.connections()) // how far the checksum may lag
			spans <- first
			g.Go(func() error { return f.check(inner, sum, h, spans) })
		}
		for start := rangeSize; !f.single.Load() && start < size && inner.Err() == nil; start += rangeSize {
			sp := newSpan(start, min(start+rangeSize, size))
			g.Go(func() error { return f.span(inner, sp) })
			if spans == nil {
				continue
			}
			select {
			case spans <- sp:
			case <-inner.Done():
			}
		}
		if spans != nil {
			close(spans)
		}
	case <-inner.Done():
	}
	err := g.Wait()
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// span fetches one span, with retries.
func (f *fetch) span(ctx context.Context, sp *span) error {
	a := &attempts{opts: f.c.opts, pace: f.pace, known: true, found: f.o.found(), stop: f.stop}
	err := f.c.repeat(ctx, a, func(buf []byte) (bool, error) {
		before := sp.pos
		err := f.attempt(ctx, sp, buf)
		return sp.pos > before, err
	})
	if err == nil {
		close(sp.done)
	}
	return err
}

// check computes the checksum of the file from spans in order, each once it is complete, and compares it
// with want. The bytes were just written, so reads hit the page cache.
func (f *fetch) check(ctx context.Context, want Sum, h hash.Hash, spans <-chan *span) error {
	buf := make([]byte, bufferSize)
	for sp := range spans {
		select {
		case <-sp.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		for off := sp.start; off < sp.end; off += int64(len(buf)) {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			part := buf[:min(int64(len(buf)), sp.end-off)]
			if err := f.readBack(part, off); err != nil {
				return err
			}
			h.Write(part)
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != want.Value {
		return f.fail(ErrSum, fmt.Errorf("%s %s has come for %s", want.Kind, got, want.Value), "fetch it again; if that does not help, it is damaged where it is stored")
	}
	return nil
}

func (f *fetch) fail(kind, err error, hint string) *Error {
	if kind == ErrLength && hint == "" {
		hint = lengthHint
	}
	return &Error{URL: Redact(f.o.URL), Kind: kind, Err: err, Hint: hint}
}

// lengthHint is the hint of an ErrLength.
const lengthHint = "the server contradicts itself: copy it to a local file, and compare"

// unexpected returns io.ErrUnexpectedEOF for io.EOF and nil.
func unexpected(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
