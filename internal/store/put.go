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

// PutOptions say how an object is put.
type PutOptions struct {
	New      bool          // only where no object has the name: ErrExists otherwise
	Progress func(n int64) // bytes that the service has taken, each counted once; not called concurrently; may be nil
}

// A writer is a store that objects can be written to.
type writer interface {
	store
	// put makes an object as [Client.Put] says.
	put(ctx context.Context, u *upload) (Object, error)
	// remove makes one attempt. A missing object is not an error.
	remove(ctx context.Context, url string) error
}

// Writes reports whether a Client writes the objects of a scheme.
func Writes(scheme string) bool {
	switch strings.ToLower(scheme) {
	case "s3", "gs":
		return true
	}
	return false
}

// writer returns the store for a URL that is to be written.
func (c *Client) writer(url string) (writer, error) {
	s, err := c.store(url)
	if err != nil {
		return nil, err
	}
	if w, ok := s.(writer); ok {
		return w, nil
	}
	what := "its service"
	if scheme := schemeOf(url); !Writes(scheme) {
		what = scheme + ":"
	}
	return nil, &Error{URL: Redact(url), Kind: ErrURL, Err: fmt.Errorf("%s cannot be written to", what),
		Hint: "s3: and gs: can; AIStore also speaks S3, where its feature S3-API-via-Root is set"}
}

// Put makes an object of the size bytes of from, which it reads twice and more often where a request
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
func (c *Client) Put(ctx context.Context, url string, from io.ReaderAt, size int64, opts PutOptions) (Object, error) {
	w, err := c.writer(url)
	if err != nil {
		return Object{}, err
	}
	u := &upload{c: c, url: url, from: from, size: size, opts: opts, pace: &pace{patience: c.opts.patience()}}
	if opts.New { // before any byte is sent; and some services know no If-None-Match
		_, err := c.Stat(ctx, url)
		switch {
		case err == nil:
			return Object{}, exists(url)
		case ctx.Err() != nil:
			return Object{}, err
		case !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrDenied): // that it may be written and not read is possible
			return Object{}, err
		}
	}
	o, err := w.put(ctx, u)
	if opts.New && errors.Is(err, ErrExists) && ctx.Err() == nil {
		if found, ok := u.mine(ctx); ok {
			return found, nil
		}
	}
	if err != nil && ctx.Err() == nil {
		if bad := u.unread.Load(); bad != nil {
			return Object{}, &Error{URL: Redact(url), Err: *bad}
		}
	}
	return o, err
}

// Remove removes an object. A missing object is not an error.
func (c *Client) Remove(ctx context.Context, url string) error {
	w, err := c.writer(url)
	if err != nil {
		return err
	}
	return c.retry(ctx, func() error { return w.remove(ctx, url) })
}

func exists(url string) *Error {
	return &Error{URL: Redact(url), Kind: ErrExists}
}

// An upload is one object on its way to a service.
type upload struct {
	c    *Client
	url  string
	from io.ReaderAt
	size int64
	opts PutOptions
	pace *pace

	unread atomic.Pointer[error]   // of from
	stop   context.CancelCauseFunc // ends the parts that are being sent, with the error of one; nil: none are

	mu   sync.Mutex
	sent int64 // bytes that the service has taken since the object was begun
	told int64 // bytes that Progress has been told of
}

// taken counts bytes that the service has.
func (u *upload) taken(n int64) {
	u.pace.brought(n)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.sent += n
	if more := u.sent - u.told; more > 0 {
		u.told = u.sent
		if u.opts.Progress != nil {
			u.opts.Progress(more)
		}
	}
}

// anew counts from the first byte again. Progress is told of no byte twice.
func (u *upload) anew() {
	u.mu.Lock()
	u.sent = 0
	u.mu.Unlock()
}

// partSize is the size of all parts but the last one: as many as 10,000 parts, which is what S3 allows.
func (u *upload) partSize() int64 {
	const mostParts = 10_000
	part := cmp.Or(u.c.opts.part, defaultPart)
	if least := (u.size + mostParts - 1) / mostParts; least > part {
		return (least + 1<<20 - 1) >> 20 << 20
	}
	return part
}

const defaultPart = 16 << 20 // bytes

// try makes one request, in as many attempts as it takes, each with a connection. request gets a buffer
// and the number of the attempt, from 0. known: the service has answered before.
func (u *upload) try(ctx context.Context, known bool, request func(buf []byte, attempt int) error) error {
	a := &attempts{opts: u.c.opts, pace: u.pace, known: known}
	for attempt := 0; ; attempt++ {
		if done, err := u.once(ctx, a, attempt, request); done || err != nil {
			return err
		}
	}
}

func (u *upload) once(ctx context.Context, a *attempts, attempt int, request func(buf []byte, attempt int) error) (done bool, err error) {
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	var token *connToken
	select {
	case token = <-u.c.conns:
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
	if token.buf == nil {
		token.buf = make([]byte, bufferSize)
	}
	u.pace.enter()
	defer u.pace.leave()
	if err = request(token.buf, attempt); err == nil {
		u.c.conns <- token
		return true, nil
	}
	var wait time.Duration
	if bad := u.unread.Load(); bad != nil {
		err = &Error{URL: Redact(u.url), Err: *bad}
	} else {
		wait, err = a.decide(ctx, err, false)
	}
	if err != nil && u.stop != nil {
		u.stop(err) // before the next part has the connection: its error would be that of a later request
	}
	u.c.conns <- token
	if err != nil {
		return false, err
	}
	return false, sleep(ctx, wait)
}

// hash adds n bytes from off on to hashes.
func (u *upload) hash(off, n int64, buf []byte, hashes ...hash.Hash) error {
	from := u.body(off, n)
	for n > 0 {
		got, err := io.ReadFull(from, buf[:min(int64(len(buf)), n)])
		for _, h := range hashes {
			h.Write(buf[:got])
		}
		if n -= int64(got); err != nil {
			return &Error{URL: Redact(u.url), Err: fmt.Errorf("read: %w", unexpected(err))}
		}
	}
	return nil
}

// mine returns the object that has the name, if it has the bytes of u.
func (u *upload) mine(ctx context.Context) (Object, bool) {
	o, err := u.c.Stat(ctx, u.url)
	if err != nil {
		return Object{}, false
	}
	sum, mine, err := u.holds(o, make([]byte, bufferSize))
	if err != nil || !mine {
		return Object{}, false
	}
	o.Sum = sum
	u.taken(u.size)
	return o, true
}

// holds reports whether an object of the service has the bytes of u, whose checksum it then returns. It
// is false, too, if the service says too little to tell.
func (u *upload) holds(o Object, buf []byte) (Sum, bool, error) {
	sum := o.Sum
	if sum.newHash() == nil {
		sum = Sum{Kind: "md5", Value: strings.ToLower(o.Version)} // the ETag of an object that was put whole
	}
	h := sum.newHash()
	if h == nil || o.Size != u.size {
		return Sum{}, false, nil
	}
	if err := u.hash(0, u.size, buf, h); err != nil {
		return Sum{}, false, err
	}
	return sum, hex.EncodeToString(h.Sum(nil)) == sum.Value, nil
}

// An outgoing reads bytes of an upload once, for a request.
type outgoing struct {
	u        *upload
	off, end int64
}

func (u *upload) body(off, n int64) *outgoing { return &outgoing{u, off, off + n} }

func (b *outgoing) Read(p []byte) (int, error) {
	if b.off == b.end {
		return 0, io.EOF
	}
	n, err := b.u.from.ReadAt(p[:min(int64(len(p)), b.end-b.off)], b.off)
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

func (b *outgoing) Close() error { return nil }

// cleaning bounds the requests that remove what an error has left, of a context that may have ended.
const cleaning = 15 * time.Second

// clean calls request until it succeeds or cleaning has passed.
func (u *upload) clean(ctx context.Context, request func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleaning)
	defer cancel()
	return u.c.retry(ctx, func() error { return request(ctx) })
}
