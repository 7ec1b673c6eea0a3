package store

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

func TestTLS(t *testing.T) {
	t.Parallel()
	o := &origin{data: random(1000, 10), etag: `"1"`}
	srv := httptest.NewUnstartedServer(o)
	srv.Config.ErrorLog = quiet
	srv.StartTLS()
	t.Cleanup(srv.Close)
	plain := start(t, o)
	roots := x509.NewCertPool()
	roots.AddCert(srv.Certificate())
	for _, row := range []struct {
		name string
		url  string
		tls  *tls.Config
		says string
		want error
	}{
		{"known", srv.URL, &tls.Config{RootCAs: roots}, "", nil},
		{"unknown", srv.URL, nil, "SSL_CERT_FILE", ErrTLS},
		{"of another name", strings.Replace(srv.URL, "127.0.0.1", "localhost", 1), &tls.Config{RootCAs: roots}, "another name", ErrTLS},
		{"expired", srv.URL, &tls.Config{RootCAs: roots, Time: func() time.Time { return time.Now().AddDate(200, 0, 0) }}, "clock", ErrTLS},
		{"too old", srv.URL, &tls.Config{RootCAs: roots, MaxVersion: tls.VersionTLS10, MinVersion: tls.VersionTLS10}, "out of date", ErrTLS},
		{"no TLS", strings.Replace(plain.URL, "http:", "https:", 1), nil, "speaks no TLS", ErrTLS},
		{"TLS where none is asked for", strings.Replace(srv.URL, "https:", "http:", 1), nil, "", ErrURL},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			f, _, err := fetchAll(t, client(t, Options{tls: row.tls}), row.url+"/x")
			if !errors.Is(err, row.want) || (err == nil) != (row.want == nil) {
				t.Fatalf("got %v, want %v", err, row.want)
			}
			if err == nil {
				f.holds(t, o.data)
			} else if !strings.Contains(err.Error(), row.says) {
				t.Errorf("%v does not say %q", err, row.says)
			}
		})
	}
}

// stalls are the ways in which a server of 500,000 bytes brings nothing, or next to nothing.
var stalls = []struct {
	name  string
	serve func(o *origin, w http.ResponseWriter, r *http.Request)
}{
	{"before the headers", func(*origin, http.ResponseWriter, *http.Request) {}},
	{"after the headers", func(o *origin, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Etag", o.etag)
		w.Header().Set("Content-Length", "500000")
		http.NewResponseController(w).Flush()
	}},
	{"in the middle", func(o *origin, w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Etag", o.etag)
		w.Header().Set("Content-Length", "500000")
		w.Write(o.data[:100_000])
		http.NewResponseController(w).Flush()
	}},
	{"byte by byte", func(o *origin, w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Etag", o.etag)
		w.Header().Set("Content-Length", "500000")
		for i := range o.data {
			w.Write(o.data[i : i+1])
			http.NewResponseController(w).Flush()
			select {
			case <-r.Context().Done():
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}},
}

// A connection that brings nothing, or next to nothing, is given up for another.
func TestStall(t *testing.T) {
	t.Parallel()
	data := random(500_000, 11)
	for _, row := range stalls {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			o := &origin{data: data, etag: `"1"`}
			o.before = func(w http.ResponseWriter, r *http.Request, gets int) bool {
				if gets != 0 {
					return false
				}
				row.serve(o, w, r)
				<-r.Context().Done()
				return true
			}
			began := time.Now()
			f, _, err := fetchAll(t, client(t, Options{Stall: 200 * time.Millisecond}), start(t, o).URL+"/x")
			must(t, err)
			f.holds(t, data)
			if n := o.gets.Load(); n < 2 || time.Since(began) > defaultStall/2 { // more where this process has no processor for so long
				t.Errorf("%d GETs in %v", n, time.Since(began))
			}
		})
	}
}

// A server that stalls whenever it is asked is given up by Options.Patience, --fetch-timeout, even where
// that is less than a connection may stall.
func TestStallAlways(t *testing.T) {
	t.Parallel()
	need.Time(t, "a server that stalls")
	for _, row := range stalls {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			o := &origin{data: random(500_000, 11), etag: `"1"`}
			o.before = func(w http.ResponseWriter, r *http.Request, gets int) bool {
				if gets < 0 { // HEAD
					return false
				}
				row.serve(o, w, r)
				<-r.Context().Done()
				return true
			}
			began := time.Now()
			_, _, err := fetchAll(t, client(t, Options{Patience: 500 * time.Millisecond}), start(t, o).URL+"/x")
			if took := time.Since(began); !errors.Is(err, ErrUnavailable) || took > 10*time.Second {
				t.Errorf("after %v: %v", took, err)
			}
		})
	}
	t.Run("when it is looked at", func(t *testing.T) {
		t.Parallel()
		server := start(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
		began := time.Now()
		_, err := client(t, Options{Patience: 500 * time.Millisecond}).Stat(t.Context(), server.URL+"/x")
		if took := time.Since(began); !errors.Is(err, ErrUnavailable) || took > 10*time.Second {
			t.Errorf("after %v: %v", took, err)
		}
	})
}

// A server that trickles for ever, if not too slowly for one connection, is given up as well.
func TestLeastRate(t *testing.T) {
	t.Parallel()
	o := &origin{data: random(500_000, 12), etag: `"1"`}
	o.before = func(w http.ResponseWriter, r *http.Request, gets int) bool {
		if gets < 0 {
			return false
		}
		w.Header().Set("Etag", o.etag)
		w.Header().Set("Content-Length", "500000")
		for i := 0; i < len(o.data) && r.Context().Err() == nil; i += 100 {
			w.Write(o.data[i : i+100])
			http.NewResponseController(w).Flush()
			time.Sleep(10 * time.Millisecond)
		}
		return true
	}
	_, _, err := fetchAll(t, client(t, Options{Patience: 300 * time.Millisecond}), start(t, o).URL+"/x")
	if !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "slower than 64 KiB/s") {
		t.Error(err)
	}
}

// Errors of the network are told apart: what may pass, what may not.
func TestTransportError(t *testing.T) {
	t.Parallel()
	_, err := client(t, Options{Retries: 2}).Stat(t.Context(), "http://127.0.0.1:1/x") // no port that another test may get
	if e, ok := errors.AsType[*Error](presentable(t, err)); !ok || e.Kind != ErrUnavailable || !strings.Contains(e.Error(), "3 attempts in a row") || !strings.Contains(e.Error(), "refused") {
		t.Errorf("nobody listens: %v", err)
	}
	e := transportError("http://x/", &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "x", IsNotFound: true}})
	if e.Kind != ErrUnavailable || e.Again || !noSuchHost(e) || e.Hint == "" {
		t.Errorf("no such host: %+v", e)
	}
	if e := transportError("http://x/", &net.OpError{Op: "dial", Err: &net.DNSError{Err: "server misbehaving", Name: "x", IsTemporary: true}}); !e.Again {
		t.Errorf("the resolver fails: %+v", e)
	}
}

// Proxies are those of the environment that Options give.
func TestProxy(t *testing.T) {
	t.Parallel()
	env := map[string]string{"HTTP_PROXY": "http://me:" + password + "@127.0.0.1:1", "https_proxy": "http://me:" + password + "@[", "NO_PROXY": "inside.test"}
	of := proxy(Options{LookupEnv: func(key string) (string, bool) { v, ok := env[key]; return v, ok }})
	for _, row := range []struct{ url, want string }{
		{"http://example.test/", "127.0.0.1:1"}, {"http://inside.test/", ""}, {"http://127.0.0.1/", ""},
	} {
		req, err := http.NewRequest(http.MethodGet, row.url, nil)
		must(t, err)
		u, err := of(req)
		must(t, err)
		if got := ""; u != nil && u.Host != row.want || u == nil && row.want != got {
			t.Errorf("%s: %v", row.url, u)
		}
	}
	req, err := http.NewRequest(http.MethodGet, "https://example.test/", nil)
	must(t, err)
	if _, err := of(req); !errors.Is(presentable(t, err), ErrSetting) {
		t.Errorf("a proxy that is none: %v", err)
	}
}

// What a proxy refuses is not the service's, and not asked again where that cannot help.
func TestProxyRefuses(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		status int
		want   error
		says   string
		asked  int64
	}{
		{http.StatusProxyAuthRequired, ErrDenied, "HTTPS_PROXY=", 1},
		{http.StatusForbidden, ErrDenied, "the proxy says HTTP 403", 1},
		{http.StatusBadGateway, ErrUnavailable, "the proxy says HTTP 502", 3},
	} {
		o := &origin{}
		o.before = func(w http.ResponseWriter, r *http.Request, _ int) bool {
			if o.served.Add(1); r.Method != http.MethodConnect || r.Host != "example.test:443" || r.Header.Get("Proxy-Authorization") == "" {
				t.Errorf("%s %s", r.Method, r.Host)
			}
			w.WriteHeader(row.status)
			return true
		}
		proxy := strings.Replace(start(t, o).URL, "://", "://me:"+password+"@", 1)
		c := client(t, Options{Retries: 2, LookupEnv: func(key string) (string, bool) { return proxy, key == "HTTPS_PROXY" }})
		_, err := c.Stat(t.Context(), "https://me:"+password+"@example.test/x")
		if !errors.Is(presentable(t, err), row.want) || !strings.Contains(err.Error(), row.says) || o.served.Load() != row.asked {
			t.Errorf("%d: asked %d times: %v", row.status, o.served.Load(), err)
		}
	}
}

// A password that stays behind at a redirect is missed, and the error says so.
func TestRedirectDenied(t *testing.T) {
	t.Parallel()
	denies := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	leads := start(t, http.RedirectHandler(denies.URL+"/y?token="+password, http.StatusFound))
	_, err := client(t, Options{}).Stat(t.Context(), strings.Replace(leads.URL, "://", "://me:"+password+"@", 1)+"/x")
	if !errors.Is(presentable(t, err), ErrDenied) || !strings.Contains(err.Error(), "it leads to "+denies.URL+"/y?token=REDACTED, which gets no credentials") {
		t.Error(err)
	}
	_, err = client(t, Options{}).Stat(t.Context(), denies.URL+"/x")
	if !errors.Is(err, ErrDenied) || !strings.Contains(err.Error(), "user:password@host") {
		t.Error(err)
	}
}
