// Package testproxy stands between a client and an object store and disturbs requests. Only tests
// import it.
//
//	proxy := testproxy.Start(t, server.Address, testproxy.Options{Pick: testproxy.Some(seed, 0.2)})
//	env := server.EnvAt(proxy.Address)
//
// Requests are counted from 0 as they come. A signature stays valid: the service sees the Host of the proxy.
package testproxy

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Options say what a proxy does. With the zero value it passes everything on.
type Options struct {
	// Pick returns the fault of the n-th request. nil: Pass. It may be called concurrently.
	Pick func(n int, r *http.Request) Fault
	// Strike is called as a fault takes place: before the connection is cut, while the service waits for
	// the rest of the body, or after the service has acted. nil: nothing is called.
	Strike func(n int, r *http.Request)
	// Delay is what Delay waits. 0: 50 ms.
	Delay time.Duration
	// After is the Retry-After of Later and TooMany, in seconds.
	After int
	// Omit reports whether an entry is taken out of a listing, which the n-th request asked for. nil: none is. It may be
	// called concurrently.
	Omit func(n int, key string) bool
}

// A Proxy is a running proxy.
type Proxy struct {
	Address string // host:port

	opts    Options
	service *url.URL
	forward *httputil.ReverseProxy

	mu  sync.Mutex
	log []Request
}

// A Request is one that came.
type Request struct {
	Method, Path string // Path with the query
	Fault        Fault
}

// Start starts a proxy in front of a service at host:port. It runs until the test ends.
func Start(t testing.TB, service string, opts Options) *Proxy {
	p := &Proxy{opts: opts, service: &url.URL{Scheme: "http", Host: service}}
	transport := &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 32}
	quiet := log.New(io.Discard, "", 0)
	p.forward = &httputil.ReverseProxy{
		Transport:      transport,
		Rewrite:        func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = "http", service },
		ModifyResponse: p.reply,
		ErrorHandler:   func(_ http.ResponseWriter, r *http.Request, _ error) { abort(r) },
		ErrorLog:       quiet,
		FlushInterval:  -1,
	}
	server := httptest.NewUnstartedServer(p)
	server.Config.ErrorLog = quiet
	server.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) }
	p.Address = server.Listener.Addr().String() // before the first request
	server.Start()
	t.Cleanup(func() {
		server.Close()
		transport.CloseIdleConnections()
	})
	return p
}

// Requests returns the requests so far.
func (p *Proxy) Requests() []Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.log)
}

// Count returns how many requests had a fault.
func (p *Proxy) Count(f Fault) (n int) {
	for _, r := range p.Requests() {
		if r.Fault == f {
			n++
		}
	}
	return n
}

// An exchange is a request on its way, with its number and fault.
type exchange struct {
	n     int
	fault Fault
}

type (
	exchangeKey struct{}
	connKey     struct{}
)

func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := p.begin(r)
	if x.fault == CutRequest && r.ContentLength == 0 {
		x.fault = Refuse // there is no middle of a body
	}
	switch x.fault {
	case Refuse:
		p.cut(x, r)
	case Lost:
		p.strike(x, r)
		w.WriteHeader(http.StatusNotFound)
		return
	case Busy, Later, TooMany:
		p.strike(x, r)
		busy(w, x.fault, p.opts.After)
		return
	case Delay:
		p.strike(x, r)
		time.Sleep(cmp.Or(p.opts.Delay, 50*time.Millisecond))
	case Twice:
		p.strike(x, r)
		p.first(r)
	case CutRequest:
		length := r.ContentLength
		if length < 0 {
			length = 64 << 10
		}
		half := rand.New(rand.NewPCG(uint64(x.n), 0)).Int64N(length)
		r.Body = &cutBody{ReadCloser: r.Body, left: half, at: func() { p.strike(x, r) }}
	}
	p.forward.ServeHTTP(w, r.WithContext(withExchange(r.Context(), x)))
}

func (p *Proxy) begin(r *http.Request) exchange {
	p.mu.Lock()
	defer p.mu.Unlock()
	x := exchange{n: len(p.log)}
	if p.opts.Pick != nil {
		x.fault = p.opts.Pick(x.n, r)
	}
	p.log = append(p.log, Request{r.Method, r.URL.RequestURI(), x.fault})
	return x
}

func (p *Proxy) strike(x exchange, r *http.Request) {
	if p.opts.Strike != nil {
		p.opts.Strike(x.n, r)
	}
}

// cut closes the connection of a request that the service has not seen.
func (p *Proxy) cut(x exchange, r *http.Request) {
	p.strike(x, r)
	abort(r)
}

// abort closes the connection of a request and panics. It must be closed first: if the body is read to its end while the handler
// panics, net/http waits for ever for what the client sends next.
func abort(r *http.Request) {
	hangUp(r)
	panic(http.ErrAbortHandler)
}

// hangUp closes the connection of a request.
func hangUp(r *http.Request) { r.Context().Value(connKey{}).(net.Conn).Close() }

// busy answers in the service's place. The body is one that both services' clients can parse, or ignore.
func busy(w http.ResponseWriter, f Fault, after int) {
	status := http.StatusServiceUnavailable
	if f == TooMany {
		status = http.StatusTooManyRequests
	}
	if f != Busy {
		w.Header().Set("Retry-After", strconv.Itoa(after))
	}
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	io.WriteString(w, `<?xml version="1.0" encoding="UTF-8"?><Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>`)
}

// first sends a request to the service and drops the reply. The request can be sent again after it.
func (p *Proxy) first(r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		abort(r)
	}
	copied := r.Clone(r.Context())
	copied.RequestURI = ""
	copied.URL.Scheme, copied.URL.Host = "http", p.service.Host
	copied.Body = io.NopCloser(bytes.NewReader(body))
	resp, err := p.forward.Transport.RoundTrip(copied)
	if err != nil {
		abort(r)
	}
	io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	r.Body = io.NopCloser(bytes.NewReader(body))
}

var errCut = errors.New("cut")

// reply is called with the reply of the service. It leads a client that is told an address of the service back
// to the proxy.
func (p *Proxy) reply(resp *http.Response) error {
	x := exchangeOf(resp.Request.Context())
	if at := resp.Header.Get("Location"); at != "" {
		resp.Header.Set("Location", strings.Replace(at, "http://"+p.service.Host, "http://"+p.Address, 1))
	}
	if p.opts.Omit != nil && resp.StatusCode == http.StatusOK && isListing(resp.Request) {
		if err := p.omit(x.n, resp); err != nil {
			return err
		}
	}
	switch x.fault {
	case CutReply:
		io.Copy(io.Discard, resp.Body) // until the service has acted in full
		resp.Body.Close()
		p.strike(x, resp.Request)
		return errCut
	case Flip, Short:
		return p.alter(x, resp)
	case OtherTag:
		p.strike(x, resp.Request)
		resp.Header.Set("ETag", `"0123456789abcdef0123456789abcdef"`)
	case CutBody:
		half := max(resp.ContentLength/2, 0)
		resp.Body = &cutBody{ReadCloser: resp.Body, left: half, at: func() {
			p.strike(x, resp.Request)
			hangUp(resp.Request)
		}}
	}
	return nil
}

// alter changes the body of a reply.
func (p *Proxy) alter(x exchange, resp *http.Response) error {
	text, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil {
		return err
	}
	if p.strike(x, resp.Request); len(text) == 0 {
		return errCut
	}
	at := rand.New(rand.NewPCG(uint64(x.n), 1)).IntN(len(text))
	if x.fault == Short {
		text = text[:at]
	} else {
		text[at] ^= 1
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	resp.Header.Set("Content-Length", strconv.Itoa(len(text)))
	return nil
}

// A cutBody fails after some bytes.
type cutBody struct {
	io.ReadCloser
	left int64
	at   func() // called once, then nil
}

func (c *cutBody) Read(p []byte) (int, error) {
	if c.left == 0 {
		if c.at != nil {
			c.at()
			c.at = nil
		}
		return 0, errCut
	}
	n, err := c.ReadCloser.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}
