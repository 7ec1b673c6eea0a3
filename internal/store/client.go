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

// A Client reads objects. Its methods may be called concurrently.
type Client struct {
	opts Options
	hc   *http.Client

	conns chan *connToken // of all objects together

	mu     sync.Mutex
	stores map[string]store // by service, made when first used
}

// New makes a client. It sends no request and reads no setting before an object is asked for.
func New(opts Options) *Client {
	return &Client{opts: opts, hc: newHTTPClient(opts), conns: newConnTokens(opts.connections()), stores: make(map[string]store)}
}

// Close closes idle connections. The client may be used again.
func (c *Client) Close() { c.hc.CloseIdleConnections() }

// services are the makers of stores by scheme.
var services = map[string]func(opts Options, hc *http.Client) (store, error){
	"http": newHTTP, "https": newHTTP, "s3": newS3, "gs": newGS, "ais": newAIS,
}

// Supports reports whether a Client reads the objects of a scheme, such as "https".
func Supports(scheme string) bool { return services[strings.ToLower(scheme)] != nil }

// store returns the store for a URL.
func (c *Client) store(url string) (store, error) {
	service := schemeOf(url)
	if service == "" {
		return nil, &Error{URL: Redact(url), Kind: ErrURL, Err: errors.New("no // after the scheme"), Hint: "as in s3://bucket/name"}
	}
	if services[service] == nil {
		return nil, &Error{URL: Redact(url), Kind: ErrURL, Err: fmt.Errorf("no such scheme"), Hint: "http, https, s3, gs, ais"}
	}
	if schemes := strings.FieldsFunc(c.opts.env("USE_AIS_FOR"), func(r rune) bool { return strings.ContainsRune(":, ", r) }); slices.Contains(schemes, service) {
		service = "ais" // as webdataset has it, gs:s3
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.stores[service]; s != nil {
		return s, nil
	}
	s, err := services[service](c.opts, c.hc)
	if err != nil {
		if e, ok := errors.AsType[*Error](err); ok && e.URL == "" {
			e.URL = Redact(url)
		}
		return nil, err
	}
	c.stores[service] = s
	return s, nil
}

// Stat returns the size of an object, its version and, if the service has one, its checksum. It repeats
// failed requests as Fetch does.
func (c *Client) Stat(ctx context.Context, url string) (Object, error) {
	s, err := c.store(url)
	if err != nil {
		return Object{}, err
	}
	var o Object
	err = c.retry(ctx, func() error {
		o, err = s.stat(ctx, url)
		return err
	})
	if err != nil {
		return Object{}, err
	}
	return o, nil
}

// List yields the objects with URLs that begin with prefix, in the order of their code points, each
// once: callers merge lists and find repeated names by that order. It ends after the first error:
// ErrNoList if the service gives no lists, or not in order. It repeats failed requests.
func (c *Client) List(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		if err := c.list(ctx, prefix, yield); err != nil {
			yield(Object{}, err)
		}
	}
}

func (c *Client) list(ctx context.Context, prefix string, yield func(Object, error) bool) error {
	s, err := c.store(prefix)
	if err != nil {
		return err
	}
	url, _ := SplitProvider(prefix)
	scheme, rest, _ := strings.Cut(url, "://")
	bucket, names, _ := strings.Cut(rest, "/")
	last, started, empty := "", false, 0
	for token := ""; ; {
		var items []item
		var next string
		err := c.retryFound(ctx, true, func() (err error) {
			if items, next, err = s.page(ctx, prefix, token); err == nil {
				err = checkPage(prefix, names, items, last, started)
			}
			return err
		})
		if err != nil {
			return err
		}
		for _, i := range items {
			last, started, empty = i.name, true, 0
			i.URL = scheme + "://" + bucket + "/" + i.name + prefix[len(url):]
			if !yield(i.Object, nil) {
				return nil
			}
		}
		if empty++; empty > maxEmptyPages {
			return noList(prefix, errors.New("the list does not come to an end"))
		}
		if token = next; token == "" {
			return nil
		}
	}
}

// checkPage returns an error unless a page of the list of all names that begin with names continues it in order, behind last if
// it was started.
func checkPage(prefix, names string, items []item, last string, started bool) error {
	for _, i := range items {
		var err *Error
		switch {
		case !strings.HasPrefix(i.name, names):
			err = noList(prefix, fmt.Errorf("the list of %q holds %q", names, i.name))
		case started && i.name <= last:
			err = noList(prefix, fmt.Errorf("the list is not in order: %q comes after %q", i.name, last))
		}
		if err != nil {
			err.page = true
			return err
		}
		last, started = i.name, true
	}
	return nil
}

// retry repeats a request that brings no bytes of an object, until it succeeds or another attempt would
// not help.
func (c *Client) retry(ctx context.Context, request func() error) error {
	return c.retryFound(ctx, false, request)
}

// retryFound is retry of a request for something that was found before.
func (c *Client) retryFound(ctx context.Context, found bool, request func() error) error {
	p := &pace{patience: c.opts.patience()}
	p.enter()
	a := &attempts{opts: c.opts, pace: p, found: found}
	for {
		err := request()
		if err == nil {
			return nil
		}
		if err := a.next(ctx, err, false); err != nil {
			return err
		}
	}
}

// Read reads len(p) bytes of o from off on, of its version, and repeats failed requests.
func (c *Client) Read(ctx context.Context, o Object, p []byte, off int64) error {
	s, err := c.store(o.URL)
	if err != nil || len(p) == 0 {
		return err
	}
	f := &fetch{c: c, store: s, o: o, pace: &pace{patience: c.opts.patience()}}
	f.total.Store(max(o.Size, -1))
	a := &attempts{opts: c.opts, pace: f.pace, found: o.found()}
	for at := 0; ; {
		n, err := f.readOnce(ctx, p[at:], off+int64(at))
		if at += n; at == len(p) {
			return nil
		}
		if err = a.next(ctx, err, n > 0); err != nil {
			return err
		}
		a.known = true
	}
}

// ReadAt returns an object for reading by ranges: each ReadAt is a request of c, such as a [Client]. It may be called
// concurrently, as long as ctx is not done.
func ReadAt(ctx context.Context, c interface {
	Read(ctx context.Context, o Object, p []byte, off int64) error
}, o Object) io.ReaderAt {
	return readerAt(func(p []byte, off int64) (int, error) {
		n := int(max(0, min(int64(len(p)), o.Size-off)))
		if n > 0 {
			if err := c.Read(ctx, o, p[:n], off); err != nil {
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
