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

// readOnly implements put and remove of a service that cannot be written to.
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

// Put uploads u.Size bytes of u.From. It reads them at least twice, and again for each retry, also
// concurrently. The service compares a checksum of all bytes and stores
// nothing if it differs; of a service that compares none, Put compares its reply or reads the object back, and removes
// it if it differs. A large
// object is sent in parts, with at most Options.Connections concurrent requests over all objects of the client.
//
// After an error Put removes the parts; if the service cannot be reached, the error names them. A whole object
// may remain if the reply to the last request was lost.
//
// If u.New is set and an object with the same bytes appears while Put runs, Put succeeds: a reply may have been
// lost, or a request may have reached the service twice.
//
// The returned object has the size and version that the service gave, and the checksum that was compared.
func (c *Client) Put(ctx context.Context, u *Upload) (Object, error) {
	s, err := c.service(u.URL)
	if err != nil {
		return Object{}, err
	}
	u.c, u.pace = c, c.newPace()
	if u.New { // before any byte is sent; also, some services ignore If-None-Match
		_, err := c.Stat(ctx, u.URL)
		switch {
		case err == nil:
			return Object{}, exists(u.URL)
		case ctx.Err() != nil:
			return Object{}, err
		case !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrDenied): // a user may have the right to write and not to read
			return Object{}, err
		}
	}
	o, err := s.put(ctx, u)
	if u.New && errors.Is(err, ErrExists) && ctx.Err() == nil {
		if found, ok := u.findEqual(ctx); ok {
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

// Remove implements [Store]. The process that sends the parts of an upload must have ended, or some may remain.
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

// An Upload describes an object to put. It is for one call of Put.
type Upload struct {
	URL      string
	From     io.ReaderAt   // ReadAt may be called concurrently
	Size     int64         // bytes of From
	New      bool          // fail with ErrExists if there is an object with this URL
	Progress func(n int64) // called with the number of bytes stored, each byte once; not concurrently; may be nil

	c    *Client
	pace *pace

	unread atomic.Pointer[error]   // error of reading From
	stop   context.CancelCauseFunc // cancels the other parts with the error of one; nil: no parts are being sent

	mu       sync.Mutex
	sent     int64 // bytes stored since the upload was started (again)
	reported int64 // bytes reported to Progress
}

// taken counts n more bytes that the service has stored.
func (u *Upload) taken(n int64) {
	u.pace.brought(n)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.sent += n
	if more := u.sent - u.reported; more > 0 {
		u.reported = u.sent
		if u.Progress != nil {
			u.Progress(more)
		}
	}
}

// restart resets the count of stored bytes. Progress still gets each byte once.
func (u *Upload) restart() {
	u.mu.Lock()
	u.sent = 0
	u.mu.Unlock()
}

var errStartOver = errors.New("begin again")

// startOver wraps an error after which begun must start a new upload.
func startOver(err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		last := *e
		last.Again, err = false, &last
	}
	return fmt.Errorf("%w: %w", errStartOver, err)
}

// begun calls send, which starts and completes an upload, again after an error of startOver, with the pauses and as
// often as a request is retried: another process may abort the upload, or put and remove an object, and fake-gcs-server
// ends a session that it is asked about.
func (u *Upload) begun(ctx context.Context, send func() (Object, error)) (Object, error) {
	a := &attempts{opts: u.c.opts, pace: u.pace, known: true}
	for {
		o, err := send()
		if !errors.Is(err, errStartOver) {
			return o, err
		}
		if e, ok := errors.AsType[*Error](err); ok {
			last := *e
			err = last.again()
		}
		wait, err := a.decide(ctx, err, false)
		if err == nil {
			err = sleep(ctx, wait)
		}
		if err != nil {
			return Object{}, err
		}
		u.restart()
	}
}

// partSize returns the size of all parts but the last. S3 allows at most 10,000 parts.
func (u *Upload) partSize() int64 {
	const mostParts = 10_000
	part := cmp.Or(u.c.opts.part, defaultPart)
	if least := (u.Size + mostParts - 1) / mostParts; least > part {
		return (least + 1<<20 - 1) >> 20 << 20
	}
	return part
}

const defaultPart = 16 << 20 // bytes

// try calls request, with retries. request gets a buffer and the number of the attempt, from 0. known: the
// service has answered before.
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

// hash writes n bytes from off on to hashes. buf is its buffer.
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

// findEqual returns the stored object with the URL of u if its size and checksum are those of u. It returns false, too,
// if the service gives no checksum.
func (u *Upload) findEqual(ctx context.Context) (Object, bool) {
	o, err := u.c.Stat(ctx, u.URL)
	if err != nil || o.Size != u.Size {
		return Object{}, false
	}
	if o.Sum.NewHash() == nil {
		o.Sum = Sum{Kind: "md5", Value: strings.ToLower(o.Version)} // on most services the ETag of an object that was sent in one request
	}
	h := o.Sum.NewHash()
	if h == nil || u.hash(0, u.Size, make([]byte, bufferSize), h) != nil || hex.EncodeToString(h.Sum(nil)) != o.Sum.Value {
		return Object{}, false
	}
	u.taken(u.Size)
	return o, true
}

// An outgoing is the body of a request: a range of an upload, read once.
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

// cleaning bounds the requests that remove parts or objects after an error. The context of Put may have ended.
const cleaning = 15 * time.Second

// discard removes an object with other bytes than were sent, and returns err. If it cannot remove the object it
// adds a hint and forbids retries.
func (u *Upload) discard(ctx context.Context, err error, remove func(context.Context, Object) error, o Object) error {
	if u.clean(ctx, func(ctx context.Context) error { return remove(ctx, o) }) != nil {
		if e, ok := errors.AsType[*Error](err); ok {
			e.Again, e.Hint = false, "and it could not be removed: remove it"
		}
	}
	return err
}

// clean calls request, with retries, for at most cleaning, also if ctx has ended.
func (u *Upload) clean(ctx context.Context, request func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleaning)
	defer cancel()
	return u.c.retry(ctx, false, func() error { return request(ctx) })
}
