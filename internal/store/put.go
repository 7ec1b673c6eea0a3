package store

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Writes reports whether a Client writes the objects of a scheme.
func Writes(scheme string) bool {
	switch strings.ToLower(scheme) {
	case "s3", "gs":
		return true
	}
	return false
}

// readOnly is the half of a service that cannot be written to.
type readOnly struct{}

func (readOnly) put(_ context.Context, u *Upload) (Object, error) { return Object{}, unwritable(u.URL) }

func (readOnly) remove(_ context.Context, o Object) error { return unwritable(o.URL) }

func unwritable(url string) *Error {
	what := "its service"
	if scheme := schemeOf(url); !Writes(scheme) {
		what = scheme + ":"
	}
	return &Error{URL: Redact(url), Kind: ErrURL, Err: fmt.Errorf("%s cannot be written to", what),
		Hint: "s3: and gs: can; AIStore also speaks S3, where its feature S3-API-via-Root is set"}
}

// Put makes an object of u.Size bytes of u.From, which it reads twice and more often where a request
// fails, also concurrently. The service compares a checksum of all bytes, and makes no object if it
// differs. A large object is sent in parts, Options.Connections of them at once, all objects of the
// client together. Failed requests are repeated.
//
// After an error no part of an object is left, if the service can be reached; otherwise the error names the
// parts. A whole object may be left if the reply to its last request was lost.
//
// A new object that appears with the same bytes while Put runs counts as made by it: a reply may have been lost, or
// a request may have reached the service twice.
//
// The object that is returned has the size, the version and the checksum that the service has confirmed.
func (c *Client) Put(ctx context.Context, u *Upload) (Object, error) {
	s, err := c.service(u.URL)
	if err != nil {
		return Object{}, err
	}
	u.c, u.pace = c, c.newPace()
	if u.New { // before any byte is sent; and some services know no If-None-Match
		_, err := c.Stat(ctx, u.URL)
		switch {
		case err == nil:
			return Object{}, exists(u.URL)
		case ctx.Err() != nil:
			return Object{}, err
		case !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrDenied): // that it may be written and not read is possible
			return Object{}, err
		}
	}
	o, err := s.put(ctx, u)
	if u.New && errors.Is(err, ErrExists) && ctx.Err() == nil {
		if found, ok := u.mine(ctx); ok {
			return found, nil
		}
	}
	if err != nil && ctx.Err() == nil {
		if bad := u.unread.Load(); bad != nil {
			return Object{}, &Error{URL: Redact(u.URL), Err: *bad}
		}
	}
	return o, err
}

// Remove implements [Store]. Parts that are being sent may stay: the process that sends them must have ended.
func (c *Client) Remove(ctx context.Context, o Object) error {
	s, err := c.service(o.URL)
	if err != nil {
		return err
	}
	return c.retry(ctx, false, func() error { return s.remove(ctx, o) })
}

func exists(url string) *Error {
	return &Error{URL: Redact(url), Kind: ErrExists}
}

// An Upload is one object on its way to a service, by one call of Put.
type Upload struct {
	URL      string
	From     io.ReaderAt   // ReadAt may be called concurrently
	Size     int64         // bytes of From
	New      bool          // only where no object has the name: ErrExists otherwise
	Progress func(n int64) // bytes that the service has taken, each counted once; not called concurrently; may be nil

	c    *Client
	pace *pace

	unread atomic.Pointer[error]   // of from
	stop   context.CancelCauseFunc // ends the parts that are being sent, with the error of one; nil: none are

	mu   sync.Mutex
	sent int64 // bytes that the service has taken since the object was begun
	told int64 // bytes that Progress has been told of
}

// taken counts bytes that the service has.
func (u *Upload) taken(n int64) {
	u.pace.brought(n)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.sent += n
	if more := u.sent - u.told; more > 0 {
		u.told = u.sent
		if u.Progress != nil {
			u.Progress(more)
		}
	}
}

// restart counts from the first byte again. Progress is told of no byte twice.
func (u *Upload) restart() {
	u.mu.Lock()
	u.sent = 0
	u.mu.Unlock()
}

// errAnew wraps the error of an upload that must be begun again.
var errAnew = errors.New("begin again")

// anew is err, of an upload that must be begun again.
func anew(err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		last := *e
		last.Again, err = false, &last
	}
	return fmt.Errorf("%w: %w", errAnew, err)
}

// mostAnew is how often an upload is begun: it may end under us, and an object may appear and go.
const mostAnew = 3

// begun calls send, which begins an upload and ends it, again after an error that says so.
func (u *Upload) begun(ctx context.Context, send func() (Object, error)) (Object, error) {
	for n := 1; ; n++ {
		o, err := send()
		if err == nil {
			return o, nil
		}
		if !errors.Is(err, errAnew) || n == mostAnew || ctx.Err() != nil {
			if e, ok := errors.AsType[*Error](err); ok && ctx.Err() == nil {
				return Object{}, e
			}
			return Object{}, err
		}
		u.restart()
	}
}

// partSize is the size of all parts but the last one: as many as 10,000 parts, which is what S3 allows.
func (u *Upload) partSize() int64 {
	const mostParts = 10_000
	part := cmp.Or(u.c.opts.part, defaultPart)
	if least := (u.Size + mostParts - 1) / mostParts; least > part {
		return (least + 1<<20 - 1) >> 20 << 20
	}
	return part
}

const defaultPart = 16 << 20 // bytes

// try makes one request, in as many attempts as it takes. request gets a buffer and the number of the attempt, from
// 0. known: the service has answered before.
func (u *Upload) try(ctx context.Context, known bool, request func(buf []byte, attempt int) error) error {
	attempt := -1
	return u.c.repeat(ctx, &attempts{opts: u.c.opts, pace: u.pace, known: known, stop: u.stop}, func(buf []byte) (bool, error) {
		attempt++
		err := request(buf, attempt)
		if bad := u.unread.Load(); bad != nil && err != nil {
			err = &Error{URL: Redact(u.URL), Err: *bad}
		}
		return false, err
	})
}

// hash adds n bytes from off on to hashes.
func (u *Upload) hash(off, n int64, buf []byte, hashes ...hash.Hash) error {
	from := u.body(off, n)
	for n > 0 {
		got, err := io.ReadFull(from, buf[:min(int64(len(buf)), n)])
		for _, h := range hashes {
			h.Write(buf[:got])
		}
		if n -= int64(got); err != nil {
			return &Error{URL: Redact(u.URL), Err: fmt.Errorf("read: %w", unexpected(err))}
		}
	}
	return nil
}

// mine returns the object that has the name, if it has the bytes of u, with the checksum that says so. It is false, too, if the
// service says too little to tell.
func (u *Upload) mine(ctx context.Context) (Object, bool) {
	o, err := u.c.Stat(ctx, u.URL)
	if err != nil || o.Size != u.Size {
		return Object{}, false
	}
	if o.Sum.NewHash() == nil {
		o.Sum = Sum{Kind: "md5", Value: strings.ToLower(o.Version)} // the ETag of an object that was put whole
	}
	h := o.Sum.NewHash()
	if h == nil || u.hash(0, u.Size, make([]byte, bufferSize), h) != nil || hex.EncodeToString(h.Sum(nil)) != o.Sum.Value {
		return Object{}, false
	}
	u.taken(u.Size)
	return o, true
}

// An outgoing reads bytes of an upload once, for a request.
type outgoing struct {
	u        *Upload
	off, end int64
}

func (u *Upload) body(off, n int64) *outgoing { return &outgoing{u, off, off + n} }

func (b *outgoing) Read(p []byte) (int, error) {
	if b.off == b.end {
		return 0, io.EOF
	}
	n, err := b.u.From.ReadAt(p[:min(int64(len(p)), b.end-b.off)], b.off)
	b.off += int64(n)
	switch {
	case n > 0 && (err == io.EOF || b.off == b.end):
		err = nil
	case err != nil:
		err = fmt.Errorf("read: %w", unexpected(err))
		b.u.unread.Store(&err)
	}
	return n, err
}

// cleaning bounds the requests that remove what an error has left, of a context that may have ended.
const cleaning = 15 * time.Second

// discard removes an object that has other bytes than were sent. It returns the error about that, which says where the
// object could not be removed.
func (u *Upload) discard(ctx context.Context, err error, remove func(context.Context, Object) error, o Object) error {
	if u.clean(ctx, func(ctx context.Context) error { return remove(ctx, o) }) != nil {
		if e, ok := errors.AsType[*Error](err); ok {
			e.Again, e.Hint = false, "and it could not be removed: remove it"
		}
	}
	return err
}

// clean calls request until it succeeds or cleaning has passed.
func (u *Upload) clean(ctx context.Context, request func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleaning)
	defer cancel()
	return u.c.retry(ctx, false, func() error { return request(ctx) })
}
