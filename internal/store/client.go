package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// A Client is the [Store] of objects over the network. It sends each request to the service that the URL names, and
// retries it. Its methods may be called concurrently.
type Client struct {
	opts Options
	hc   *http.Client

	conns chan []byte // a buffer for each free connection, allocated on first use; limits the connections of all objects

	mu   sync.Mutex
	made map[string]service // by scheme, created on first use
}

var _ Store = (*Client)(nil)

// New makes a client. It neither sends a request nor reads a setting before the first call of a method.
func New(opts Options) *Client {
	c := &Client{opts: opts, hc: newHTTPClient(opts), conns: make(chan []byte, opts.connections()), made: make(map[string]service)}
	for range cap(c.conns) {
		c.conns <- nil
	}
	return c
}

// Close closes idle connections. The client may be used again.
func (c *Client) Close() { c.hc.CloseIdleConnections() }

// services has the constructor of each service, by scheme.
var services = map[string]func(opts Options, hc *http.Client) (service, error){
	"http": newHTTP, "https": newHTTP, "s3": newS3, "gs": newGS, "ais": newAIS,
}

// Supports reports whether a Client can read objects with URLs of a scheme, such as "https".
func Supports(scheme string) bool { return services[strings.ToLower(scheme)] != nil }

// service returns the service for a URL. USE_AIS_FOR redirects schemes to AIStore.
func (c *Client) service(url string) (service, error) {
	scheme := schemeOf(url)
	if scheme == "" {
		return nil, &Error{URL: Redact(url), Kind: ErrURL, Err: errors.New("no // after the scheme"), Hint: "as in s3://bucket/name"}
	}
	if services[scheme] == nil {
		return nil, &Error{URL: Redact(url), Kind: ErrURL, Err: fmt.Errorf("no such scheme"), Hint: "http, https, s3, gs, ais"}
	}
	// webdataset's format: schemes separated by colons, gs:s3
	if schemes := strings.FieldsFunc(c.opts.env("USE_AIS_FOR"), func(r rune) bool { return strings.ContainsRune(":, ", r) }); slices.Contains(schemes, scheme) {
		scheme = "ais"
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.made[scheme]; s != nil {
		return s, nil
	}
	s, err := services[scheme](c.opts, c.hc)
	if err != nil {
		return nil, placed(url, err)
	}
	c.made[scheme] = s
	return s, nil
}

// Stat implements [Store].
func (c *Client) Stat(ctx context.Context, url string) (o Object, err error) {
	s, err := c.service(url)
	if err != nil {
		return Object{}, err
	}
	err = c.retry(ctx, false, func() error {
		o, err = s.stat(ctx, url)
		return err
	})
	if err != nil {
		return Object{}, err
	}
	return o, nil
}

// List implements [Store]. It yields [ErrNoList] if the service has no lists, or does not sort them.
func (c *Client) List(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return c.all(ctx, prefix, false)
}

// Pending implements [Store]. MinIO lists uploads only if prefix is the whole URL of an object. Pending yields nothing
// if the service does not list uploads.
func (c *Client) Pending(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return c.all(ctx, prefix, true)
}

func (c *Client) all(ctx context.Context, prefix string, uploads bool) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		if err := c.pages(ctx, prefix, uploads, yield); err != nil {
			yield(Object{}, err)
		}
	}
}

func (c *Client) pages(ctx context.Context, prefix string, uploads bool, yield func(Object, error) bool) error {
	s, err := c.service(prefix)
	if err != nil {
		return err
	}
	last, empty := "", 0 // URL of the last object; pages in a row without an object, or all pages of a list of uploads
	for token := ""; ; {
		var page []Object
		var next string
		err := c.retry(ctx, !uploads, func() (err error) {
			if page, next, err = s.list(ctx, prefix, token, uploads); err == nil && !uploads {
				err = checkPage(prefix, page, last)
			}
			return err
		})
		if err != nil {
			return err
		}
		for _, o := range page {
			if uploads && !strings.HasPrefix(o.URL, prefix) { // some services ignore the prefix
				continue
			}
			if !yield(o, nil) {
				return nil
			}
		}
		if empty++; !uploads && len(page) > 0 {
			last, empty = page[len(page)-1].URL, 0
		}
		if next == "" {
			return nil
		}
		if empty > maxEmptyPages || uploads && next == token {
			return noList(prefix, errors.New("the list does not come to an end"))
		}
		token = next
	}
}

// checkPage returns an error unless the URLs of a page begin with prefix and ascend, starting after last, the last URL of
// the previous page ("" for the first page).
func checkPage(prefix string, page []Object, last string) error {
	begin, names, end := parts(prefix)
	name := func(url string) string { return strings.TrimSuffix(strings.TrimPrefix(url, begin), end) }
	for _, o := range page {
		var err *Error
		switch {
		case !strings.HasPrefix(name(o.URL), names):
			err = noList(prefix, fmt.Errorf("the list of %q holds %q", names, name(o.URL)))
		case last != "" && name(o.URL) <= name(last):
			err = noList(prefix, fmt.Errorf("the list is not in order: %q comes after %q", name(o.URL), name(last)))
		}
		if err != nil {
			err.page = true
			return err
		}
		last = o.URL
	}
	return nil
}

// retry repeats a request that transfers no bytes of an object, until it succeeds or a retry would not help. found
// means that the object was seen before, so "not found" may be a wrong reply.
func (c *Client) retry(ctx context.Context, found bool, request func() error) error {
	a := &attempts{opts: c.opts, pace: c.newPace(), found: found, small: true}
	return c.repeat(ctx, a, func([]byte) (bool, error) { return false, request() })
}

// Read implements [Store].
func (c *Client) Read(ctx context.Context, o Object, p []byte, off int64) error {
	s, err := c.service(o.URL)
	if err != nil || len(p) == 0 {
		return err
	}
	f := c.newFetch(s, o)
	f.memory = p
	f.writeAt = func(b []byte, _ int64) (int, error) { return len(b), nil } // copy has read it into memory
	f.readAt = func(b []byte, at int64) (int, error) { return copy(b, p[at-off:]), nil }
	f.progress = func(int64) {}
	if o.Size >= 0 && off+int64(len(p)) > o.Size {
		return f.fail(ErrLength, fmt.Errorf("it ends at offset %d", o.Size), "")
	}
	f.single.Store(true)
	f.begun, f.sniffed = true, true
	return f.span(ctx, newSpan(off, off+int64(len(p))))
}

// ReadAt returns a reader of an object that calls s.Read for each ReadAt. It may be called concurrently, until ctx is
// done.
func ReadAt(ctx context.Context, s Store, o Object) io.ReaderAt {
	return readerAt(func(p []byte, off int64) (int, error) {
		n := int(max(0, min(int64(len(p)), o.Size-off)))
		if n > 0 {
			if err := s.Read(ctx, o, p[:n], off); err != nil {
				return 0, err
			}
		}
		if n < len(p) {
			return n, io.EOF
		}
		return n, nil
	})
}

type readerAt func(p []byte, off int64) (int, error)

func (f readerAt) ReadAt(p []byte, off int64) (int, error) { return f(p, off) }
