package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http/httpproxy"
)

const (
	// trickle is the least rate of a connection over Options.Stall, bytes per second. A slower connection is
	// closed, since a new one may be faster.
	trickle = 1 << 10

	// mostHeaders caps the headers of a reply, which net/http holds in memory. Services send a few KiB.
	mostHeaders = 256 << 10

	// answerStalls times Options.Stall is the timeout for the reply to a request that writes: the service may
	// have to assemble parts.
	answerStalls = 10

	idleConnections = 30 * time.Second // how long an idle connection stays open for the next range
)

var (
	errStalled = errors.New("it sends nothing, or next to nothing")
	errStuck   = errors.New("it takes nothing, or next to nothing")
)

// newHTTPClient makes the HTTP client of all services. It stores no cookies, requests no compression,
// verifies https servers, and takes proxies from the environment. It follows redirects under the rules of
// [redirect]. Waits for a connection, for headers and for bytes end after opts.Stall; reads of a body that
// is too slow fail with errStalled.
//
// It uses HTTP/1.1 only: concurrent ranges are faster on separate connections, and HTTP/2 would send them over
// one connection with one window.
func newHTTPClient(opts Options) *http.Client {
	dialer := &net.Dialer{Timeout: opts.stall(), KeepAlive: 15 * time.Second}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	base := &http.Transport{
		Proxy:                  proxy(opts),
		OnProxyConnectResponse: proxyReply,
		DialContext:            dialer.DialContext,
		TLSClientConfig:        opts.tls,
		TLSHandshakeTimeout:    opts.stall(),
		ResponseHeaderTimeout:  opts.stall(),
		IdleConnTimeout:        idleConnections,
		MaxIdleConns:           2 * opts.connections(),
		MaxIdleConnsPerHost:    opts.connections(),
		ExpectContinueTimeout:  time.Second,
		WriteBufferSize:        64 << 10,
		MaxResponseHeaderBytes: mostHeaders,
		DisableCompression:     true, // a body is the bytes as they are stored
		Protocols:              protocols,
	}
	writing := base.Clone()
	writing.ResponseHeaderTimeout = min(answerStalls*opts.stall(), opts.patience())
	return &http.Client{Transport: &transport{base: base, writing: writing, stall: opts.stall()}, CheckRedirect: redirect}
}

// proxy works like [http.ProxyFromEnvironment], with the environment of opts. Unlike that it returns an error for a
// proxy that is not a URL.
func proxy(opts Options) func(*http.Request) (*url.URL, error) {
	httpProxy, _ := opts.firstEnv("HTTP_PROXY", "http_proxy")
	httpsProxy, _ := opts.firstEnv("HTTPS_PROXY", "https_proxy")
	noProxy, _ := opts.firstEnv("NO_PROXY", "no_proxy")
	config := &httpproxy.Config{HTTPProxy: httpProxy, HTTPSProxy: httpsProxy, NoProxy: noProxy, CGI: opts.env("REQUEST_METHOD") != ""}
	const placeholder = "http://127.0.0.1:0" // replaces a malformed proxy, which httpproxy would ignore
	if !isProxy(httpProxy) {
		config.HTTPProxy = placeholder
	}
	if !isProxy(httpsProxy) {
		config.HTTPSProxy = placeholder
	}
	of := config.ProxyFunc()
	return func(req *http.Request) (*url.URL, error) {
		u, err := of(req.URL)
		if err != nil || u != nil && u.String() == placeholder { // the error does not quote it: it may contain a password
			return nil, fmt.Errorf("%w: %s_PROXY is not the URL of a proxy", ErrSetting, strings.ToUpper(req.URL.Scheme))
		}
		return u, nil
	}
}

// proxyReply returns an error if a proxy refuses to connect.
func proxyReply(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	e := statusError("proxy", resp)
	e.Err = fmt.Errorf("the proxy says %w", e.Err)
	return e
}

// isProxy reports whether httpproxy accepts v: a URL, host:port, or "".
func isProxy(v string) bool {
	if !strings.Contains(v, "://") {
		v = "http://" + v
	}
	u, err := url.Parse(v)
	return v == "http://" || err == nil && u.Host != ""
}

// A transport is an [http.Transport] that cancels a request when its body, or the body of its reply, stalls.
type transport struct {
	base    *http.Transport
	writing *http.Transport // for requests that write: their replies take longer
	stall   time.Duration
}

func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	base, stall := t.base, t.stall
	if req.Method != http.MethodGet && req.Method != http.MethodHead {
		base, stall = t.writing, t.writing.ResponseHeaderTimeout
	}
	ctx, cancel := context.WithCancelCause(req.Context())
	resp, err := base.RoundTrip(watchSent(req.WithContext(ctx), t.stall, cancel))
	if err != nil {
		if context.Cause(ctx) == errStuck {
			err = errStuck
		}
		cancel(nil)
		return nil, err
	}
	resp.Request = req
	if _, err := resp.Location(); err != nil && err != http.ErrNoLocation {
		resp.Body.Close()
		cancel(nil)
		return nil, fmt.Errorf("%w: to what is not a URL", ErrRedirect) // net/http would quote the URL
	}
	resp.Body = &receivedBody{resp.Body, watch{stall: stall, cancel: func() { cancel(errStalled) }}, func() { cancel(nil) }}
	return resp, nil
}

func (t *transport) CloseIdleConnections() {
	t.base.CloseIdleConnections()
	t.writing.CloseIdleConnections()
}

// A watch cancels a request whose body stalls. It adds up the time between start and stop, and calls cancel once that
// exceeds stall with fewer bytes than trickle requires.
type watch struct {
	stall  time.Duration
	cancel func()

	mu    sync.Mutex // net/http may close a body while it reads it
	timer *time.Timer
	ended bool
	since time.Time     // when start was called
	spent time.Duration // time between start and stop, since n was last sufficient
	n     int64         // bytes transferred in spent
}

func (w *watch) start() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return
	}
	w.since = time.Now()
	if left := max(w.stall-w.spent, time.Millisecond); w.timer == nil {
		w.timer = time.AfterFunc(left, w.cancel)
	} else {
		w.timer.Reset(left)
	}
}

// stop counts n transferred bytes. It reports whether the watch has cancelled the request since start.
func (w *watch) stop(n int) (late bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer == nil {
		return false
	}
	late = !w.timer.Stop() && !w.ended
	w.spent += time.Since(w.since)
	if w.n += int64(n); w.n >= 1+int64(w.stall.Seconds()*trickle) {
		w.spent, w.n = 0, 0
	}
	return late
}

func (w *watch) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended = true; w.timer != nil {
		w.timer.Stop()
	}
}

// A receivedBody is the body of a reply. It is watched during each Read.
type receivedBody struct {
	io.ReadCloser
	watch
	release func()
}

func (b *receivedBody) Read(p []byte) (int, error) {
	b.start()
	n, err := b.ReadCloser.Read(p)
	if b.stop(n) && err != io.EOF {
		err = errStalled
	}
	return n, err
}

func (b *receivedBody) Close() error {
	b.end()
	err := b.ReadCloser.Close()
	b.release()
	return err
}

// A sentBody is the body of a request. It is watched between two calls of Read, while net/http sends the bytes of
// the first.
type sentBody struct {
	io.ReadCloser
	watch
	n int // bytes of the last read
}

func (b *sentBody) Read(p []byte) (n int, err error) {
	b.stop(b.n)
	if n, err = b.ReadCloser.Read(p); err == nil {
		b.n = n
		b.start()
	}
	return n, err
}

func (b *sentBody) Close() error {
	b.end()
	return b.ReadCloser.Close()
}

// watchSent makes a request call cancel with errStuck when its body stalls.
func watchSent(req *http.Request, stall time.Duration, cancel context.CancelCauseFunc) *http.Request {
	if req.Body == nil || req.Body == http.NoBody {
		return req
	}
	watched := func(body io.ReadCloser) io.ReadCloser {
		return &sentBody{ReadCloser: body, watch: watch{stall: stall, cancel: func() { cancel(errStuck) }}}
	}
	req.Body = watched(req.Body)
	if again := req.GetBody; again != nil { // net/http calls it to send the body over another connection
		req.GetBody = func() (io.ReadCloser, error) {
			body, err := again()
			if err != nil {
				return nil, err
			}
			return watched(body), nil
		}
	}
	return req
}

const mostRedirects = 5

// carried are the headers that may be sent to another host after a redirect. Any other header could be a
// credential, like X-Amz-Security-Token.
var carried = map[string]bool{
	"Accept": true, "Accept-Encoding": true, "User-Agent": true, "Range": true,
	"If-Match": true, "If-None-Match": true, "If-Range": true, "If-Modified-Since": true, "If-Unmodified-Since": true,
}

// redirect is the CheckRedirect of the HTTP client. It allows five redirects, to the same scheme or from
// http to https, and removes credentials for another host or port. After a redirect to another host they
// stay removed, even if that host redirects back: it would choose the URL that gets the credentials.
func redirect(req *http.Request, via []*http.Request) error {
	from := via[len(via)-1].URL
	switch {
	case len(via) > mostRedirects:
		return fmt.Errorf("%w: more than %d times", ErrRedirect, mostRedirects)
	case req.URL.Scheme != from.Scheme && (from.Scheme != "http" || req.URL.Scheme != "https"):
		return fmt.Errorf("%w: from %s to %s", ErrRedirect, from.Scheme, clean(req.URL.Scheme))
	}
	req.Header.Del("Referer") // its query may be a signature
	home := hostPort(via[0].URL)
	left := hostPort(req.URL) != home
	for _, r := range via {
		left = left || hostPort(r.URL) != home
	}
	if left {
		for name := range req.Header {
			if !carried[name] {
				req.Header.Del(name)
			}
		}
		req.URL.User = nil // also the credentials in the URL of the redirect
	}
	return nil
}

// hostPort returns host:port of a URL, with the default port of its scheme.
func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return strings.ToLower(u.Hostname()) + ":" + port
}
