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

const bufferSize = 256 << 10 // bytes of a connection's buffer: all that a fetch holds

// A span is a range of an object that one goroutine fetches.
type span struct {
	start, pos int64         // bytes [start, pos) are in the file
	end        int64         // -1: where the object ends
	done       chan struct{} // closed when all of it is in the file
}

func newSpan(start, end int64) *span {
	return &span{start: start, pos: start, end: end, done: make(chan struct{})}
}

// A fetch is one object on its way into a file.
type fetch struct {
	c        *Client
	service  service
	o        Object
	progress func(n int64)

	writeAt, readAt func(p []byte, off int64) (int, error) // of the file

	pace   *pace
	total  atomic.Int64 // bytes of the object; -1: not known yet
	single atomic.Bool  // one span is the whole object; set before there is a second
	first  chan *reply  // the first reply that passes all comparisons

	stop context.CancelCauseFunc // ends all spans, with the error that is reported; nil: there is one

	mu sync.Mutex // of progress

	// Of the span at offset 0:
	begun   bool // first has its reply
	sniffed bool // the first bytes were examined
}

// Fetch writes the bytes of o, as returned by Stat or List, into a file at their offsets, and compares
// their checksum if there is one. It calls into concurrently, and writes nothing beyond the object.
// After an error the content of the file is undefined. Bytes with another checksum may be a fault of the transport: the
// object is fetched once more before that is an error.
//
// progress, which may be nil, is called with the number of bytes that have arrived, each byte of the
// object counted once, and not concurrently for one object. Fetch ends soon after ctx does, with its
// cause.
func (c *Client) Fetch(ctx context.Context, o Object, into File, progress func(n int64)) error {
	s, err := c.service(o.URL)
	if err != nil {
		return err
	}
	if progress == nil {
		progress = func(int64) {}
	}
	var told int64
	err = c.fetchOnce(ctx, s, o, into, func(n int64) { told += n; progress(n) })
	if errors.Is(err, ErrSum) && ctx.Err() == nil {
		err = c.fetchOnce(ctx, s, o, into, func(n int64) {
			if told -= n; told < 0 { // more than came before
				progress(-told)
				told = 0
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
		// Ranges could be of different versions, and this could not be detected: the object is read at
		// once, and after a failure again from the start, to compare.
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
	case rep := <-f.first: // now it is known whether there are ranges, and maybe the checksum
		sum := f.o.Sum
		if sum.NewHash() == nil {
			sum = rep.Sum
		}
		var spans chan *span // in order, to be summed; nil: there is no checksum
		if h := sum.NewHash(); h != nil {
			spans = make(chan *span, 2*f.c.opts.connections()) // by so many the checksum may be behind
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

// span fetches one span, in as many attempts as it takes.
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

// check computes the checksum of the file, span by span, each when it is complete, and compares it. The
// bytes are read from the page cache, since they were just written.
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

// lengthHint is the hint against a server that sends contradicting lengths of an object.
const lengthHint = "the server contradicts itself: copy it to a local file, and compare"

// unexpected returns io.ErrUnexpectedEOF for io.EOF and nil.
func unexpected(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
