package browse

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/netutil"
)

// secretText is what no stranger may see.
const secretText = "the content of a sample"

// A said is what a server has logged. Requests log while a test may read.
type said struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// A site is a server behind a guard, on a real listener.
type site struct {
	*guard
	addr  string
	log   *said
	calls chan string // the path of each request that the handler got
}

func newSite(t *testing.T, handler http.Handler) *site {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g, err := newGuard(l.Addr())
	if err != nil {
		t.Fatal(err)
	}
	s := &site{g, l.Addr().String(), new(said), make(chan string, 1000)}
	g.log, g.patience = s.log, time.Second
	mux := http.NewServeMux()
	mux.Handle("GET /", handler)
	mux.HandleFunc("POST /verify", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "verifying", secretText) })
	server := g.server()
	server.Handler = g.wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.calls <- r.URL.Path
		mux.ServeHTTP(w, r)
	}))
	var wait sync.WaitGroup
	wait.Go(func() { server.Serve(netutil.LimitListener(l, connections)) })
	t.Cleanup(func() { server.Close(); wait.Wait() })
	return s
}

var content = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, secretText) })

// ask sends bytes as they are and returns the answer. The server may close the connection while it still has bytes to read, which resets it: what
// was read of the body until then is the body.
func (s *site) ask(t *testing.T, request string) *http.Response {
	t.Helper()
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(20 * time.Second))
	io.WriteString(c, request)
	method, _, _ := strings.Cut(request, " ")
	r, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%.80q: %v", request, err)
	}
	body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	r.Body = io.NopCloser(bytes.NewReader(body))
	return r
}

func read(r *http.Response) string {
	b, _ := io.ReadAll(r.Body)
	return string(b)
}

// pair is the cookie as a header has it.
func (s *site) pair() string { return s.cookie.Name + "=" + s.cookie.Value }

// words replaces HOST, COOKIE, TOKEN and FORM in a request, and line ends.
func (s *site) words(request string) string {
	_, port, _ := net.SplitHostPort(s.addr)
	return strings.NewReplacer("HOST", s.addr, "PORT", port, "COOKIE", s.pair(), "TOKEN", s.token, "FORM", s.form, "\n", "\r\n").Replace(request)
}

// Each row is a request of a stranger, or one that a browser would not send. None reaches the handler, and none gets a word of what is there.
func TestRefused(t *testing.T) {
	t.Parallel()
	const cookie = "Cookie: COOKIE\n"
	for _, row := range []struct {
		name, request string
		status        int
	}{
		{"no cookie", "GET / HTTP/1.1\nHost: HOST\n\n", 403},
		{"no cookie, static file", "GET /static/a.js HTTP/1.1\nHost: HOST\n\n", 403},
		{"cookie of another value", "GET / HTTP/1.1\nHost: HOST\nCookie: COOKIEx\n\n", 403},
		{"empty cookie", "GET / HTTP/1.1\nHost: HOST\nCookie: ffconvert-=\n\n", 403},
		{"cookie of another server", "GET / HTTP/1.1\nHost: HOST\nCookie: ffconvert-AAAAAAAA=COOKIE\n\n", 403},
		{"wrong token", "GET /?token=TOKENx HTTP/1.1\nHost: HOST\n\n", 403},
		{"wrong token with the cookie", "GET /?token=x HTTP/1.1\nHost: HOST\n" + cookie + "\n", 403},
		{"empty token", "GET /?token= HTTP/1.1\nHost: HOST\n\n", 403},
		{"two tokens, the second right", "GET /?token=x&token=TOKEN HTTP/1.1\nHost: HOST\n\n", 403},
		{"token at another path", "GET /d/0/?token=TOKEN HTTP/1.1\nHost: HOST\n\n", 403},
		{"token by POST", "POST /?token=TOKEN HTTP/1.1\nHost: HOST\nContent-Length: 0\n\n", 403},
		{"token as a cookie", "GET / HTTP/1.1\nHost: HOST\nCookie: token=TOKEN\n\n", 403},
		{"token as authorization", "GET / HTTP/1.1\nHost: HOST\nAuthorization: Bearer TOKEN\n\n", 403},

		{"DNS rebinding", "GET / HTTP/1.1\nHost: evil.example:PORT\n" + cookie + "\n", 421},
		{"DNS rebinding, with the token", "GET /?token=TOKEN HTTP/1.1\nHost: evil.example\n\n", 421},
		{"name that begins like the address", "GET / HTTP/1.1\nHost: 127.0.0.1.evil.example\n" + cookie + "\n", 421},
		{"name that ends like localhost", "GET / HTTP/1.1\nHost: evil.localhost\n" + cookie + "\n", 421},
		{"localhost and a point", "GET / HTTP/1.1\nHost: localhost.:PORT\n" + cookie + "\n", 421},
		{"address in other digits", "GET / HTTP/1.1\nHost: 0x7f.1\n" + cookie + "\n", 421},
		{"address of another machine", "GET / HTTP/1.1\nHost: 192.0.2.7:PORT\n" + cookie + "\n", 421},
		{"all addresses", "GET / HTTP/1.1\nHost: 0.0.0.0:PORT\n" + cookie + "\n", 421},
		{"user in the host", "GET / HTTP/1.1\nHost: a@127.0.0.1\n" + cookie + "\n", 400},
		{"two addresses", "GET / HTTP/1.1\nHost: 127.0.0.1,evil.example\n" + cookie + "\n", 421},
		{"port that is none", "GET / HTTP/1.1\nHost: 127.0.0.1:99999\n" + cookie + "\n", 421},
		{"empty port", "GET / HTTP/1.1\nHost: 127.0.0.1:\n" + cookie + "\n", 421},
		{"empty host", "GET / HTTP/1.1\nHost: \n" + cookie + "\n", 421},
		{"no host", "GET / HTTP/1.1\n" + cookie + "\n", 400},
		{"two hosts", "GET / HTTP/1.1\nHost: HOST\nHost: evil.example\n" + cookie + "\n", 400},
		{"HTTP/1.0 without host", "GET / HTTP/1.0\n" + cookie + "\n", 421},
		{"host in X-Forwarded-Host", "GET / HTTP/1.1\nHost: evil.example\nX-Forwarded-Host: HOST\n" + cookie + "\n", 421},
		{"absolute target, other host", "GET http://evil.example/ HTTP/1.1\nHost: HOST\n" + cookie + "\n", 421},
		{"absolute target, this host", "GET http://HOST/ HTTP/1.1\nHost: evil.example\n" + cookie + "\n", 404},

		{"another site's fetch", "GET / HTTP/1.1\nHost: HOST\nOrigin: http://evil.example\nSec-Fetch-Site: cross-site\nSec-Fetch-Mode: cors\n" + cookie + "\n", 403},
		{"another site's picture", "GET /d/0/thumb/0 HTTP/1.1\nHost: HOST\nSec-Fetch-Site: cross-site\nSec-Fetch-Mode: no-cors\nSec-Fetch-Dest: image\n" + cookie + "\n", 403},
		{"another site's frame", "GET / HTTP/1.1\nHost: HOST\nSec-Fetch-Site: cross-site\nSec-Fetch-Mode: navigate\nSec-Fetch-Dest: iframe\n" + cookie + "\n", 403},
		{"another port's script", "GET /static/a.js HTTP/1.1\nHost: HOST\nSec-Fetch-Site: same-site\nSec-Fetch-Dest: script\n" + cookie + "\n", 403},
		{"another port's link", "GET / HTTP/1.1\nHost: HOST\nSec-Fetch-Site: same-site\nSec-Fetch-Mode: navigate\nSec-Fetch-Dest: document\n" + cookie + "\n", 403},
		{"old browser, another origin", "GET / HTTP/1.1\nHost: HOST\nOrigin: http://127.0.0.1:1\n" + cookie + "\n", 403},
		{"old browser, origin null", "GET / HTTP/1.1\nHost: HOST\nOrigin: null\n" + cookie + "\n", 403},
		{"websocket of another origin", "GET / HTTP/1.1\nHost: HOST\nOrigin: http://evil.example\nConnection: Upgrade\nUpgrade: websocket\nSec-WebSocket-Key: x\n" + cookie + "\n", 403},
		{"preflight", "OPTIONS /verify HTTP/1.1\nHost: HOST\nOrigin: http://evil.example\nAccess-Control-Request-Method: POST\nAccess-Control-Request-Private-Network: true\n" + cookie + "\n", 405},

		{"OPTIONS *", "OPTIONS * HTTP/1.1\nHost: HOST\n" + cookie + "\n", 405},
		{"TRACE", "TRACE / HTTP/1.1\nHost: HOST\n" + cookie + "\n", 405},
		{"CONNECT", "CONNECT HOST HTTP/1.1\nHost: HOST\n" + cookie + "\n", 405},
		{"PUT", "PUT / HTTP/1.1\nHost: HOST\nContent-Length: 0\n" + cookie + "\n", 405},
		{"DELETE", "DELETE / HTTP/1.1\nHost: HOST\n" + cookie + "\n", 405},
		{"method in small letters", "get / HTTP/1.1\nHost: HOST\n" + cookie + "\n", 405},
		{"HTTP/2", "PRI * HTTP/2.0\n\nSM\n\n", 421},
		{"GET with a body", "GET / HTTP/1.1\nHost: HOST\nContent-Length: 5\n" + cookie + "\nhello", 400},
		{"GET with chunks", "GET / HTTP/1.1\nHost: HOST\nTransfer-Encoding: chunked\n" + cookie + "\n0\n\n", 400},
		{"two lengths", "POST /verify HTTP/1.1\nHost: HOST\nContent-Length: 0\nContent-Length: 9\n" + cookie + "\n", 400},
		{"header with a space", "GET / HTTP/1.1\nHost: HOST\nCookie : COOKIE\n\n", 400},
		{"folded header", "GET / HTTP/1.1\nHost: HOST\n " + cookie + "\n", 400},
		{"headers without end", "GET / HTTP/1.1\nHost: HOST\nX: " + strings.Repeat("x", 1<<20), 431},
		{"many headers", "GET / HTTP/1.1\nHost: HOST\n" + strings.Repeat("X: y\n", 20_000), 431},

		{"dots", "GET /static/../secret HTTP/1.1\nHost: HOST\n" + cookie + "\n", 404},
		{"escaped dots", "GET /static/%2e%2e/secret HTTP/1.1\nHost: HOST\n" + cookie + "\n", 404},
		{"escaped slash", "GET /static%2fa.js HTTP/1.1\nHost: HOST\n" + cookie + "\n", 404},
		{"backslash", "GET /static\\..\\a HTTP/1.1\nHost: HOST\n" + cookie + "\n", 404},
		{"escaped zero", "GET /static/a%00.js HTTP/1.1\nHost: HOST\n" + cookie + "\n", 404},
		{"escaped line end", "GET /a%0d%0aSet-Cookie:%20x=y HTTP/1.1\nHost: HOST\n" + cookie + "\n", 404},
		{"two slashes", "GET //evil.example/ HTTP/1.1\nHost: HOST\n" + cookie + "\n", 404},
		{"three slashes", "GET ///static HTTP/1.1\nHost: HOST\n" + cookie + "\n", 404},
		{"hidden file", "GET /.git/config HTTP/1.1\nHost: HOST\n" + cookie + "\n", 404},
		{"semicolon", "GET /static;a HTTP/1.1\nHost: HOST\n" + cookie + "\n", 404},
		{"target without slash", "GET static HTTP/1.1\nHost: HOST\n" + cookie + "\n", 400},

		{"POST without form token", "POST /verify HTTP/1.1\nHost: HOST\nSec-Fetch-Site: same-origin\nContent-Type: application/x-www-form-urlencoded\nContent-Length: 3\n" + cookie + "\na=b", 403},
		{"POST with the form token in the URL", "POST /verify?form=FORM HTTP/1.1\nHost: HOST\nSec-Fetch-Site: same-origin\nContent-Type: application/x-www-form-urlencoded\nContent-Length: 3\n" + cookie + "\na=b", 403},
		{"POST with the token of the link", "POST /verify HTTP/1.1\nHost: HOST\nContent-Type: application/x-www-form-urlencoded\nContent-Length: 48\n" + cookie + "\nform=TOKEN", 403},
		{"POST without cookie", "POST /verify HTTP/1.1\nHost: HOST\nContent-Type: application/x-www-form-urlencoded\nContent-Length: 48\n\nform=FORM", 403},
		{"POST of another site", "POST /verify HTTP/1.1\nHost: HOST\nSec-Fetch-Site: cross-site\nContent-Type: application/x-www-form-urlencoded\nContent-Length: 48\n" + cookie + "\nform=FORM", 403},
		{"POST of another origin", "POST /verify HTTP/1.1\nHost: HOST\nOrigin: http://localhost:1\nContent-Type: application/x-www-form-urlencoded\nContent-Length: 48\n" + cookie + "\nform=FORM", 403},
		{"POST of text", "POST /verify HTTP/1.1\nHost: HOST\nContent-Type: text/plain\nContent-Length: 48\n" + cookie + "\nform=FORM", 415},
		{"POST in parts", "POST /verify HTTP/1.1\nHost: HOST\nContent-Type: multipart/form-data; boundary=x\nContent-Length: 48\n" + cookie + "\nform=FORM", 415},
		{"POST that is long", "POST /verify HTTP/1.1\nHost: HOST\nContent-Type: application/x-www-form-urlencoded\nContent-Length: 200048\n" + cookie + "\nform=FORM&a=" + strings.Repeat("a", 200_000-3), 403},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, content)
			r := s.ask(t, s.words(row.request))
			if len(s.calls) != 0 {
				t.Error("the handler was called")
			}
			body := read(r)
			if r.StatusCode != row.status {
				t.Errorf("status %d %q, want %d", r.StatusCode, body, row.status)
			}
			for _, secret := range []string{secretText, s.token, s.form, s.cookie.Value, s.cookie.Name} {
				if strings.Contains(body, secret) || strings.Contains(fmt.Sprint(r.Header), secret) {
					t.Errorf("the answer has %q: %v %s", secret, r.Header, body)
				}
			}
			for name := range r.Header {
				if strings.HasPrefix(name, "Access-Control") || name == "Location" || name == "Set-Cookie" {
					t.Errorf("header %s: %s", name, r.Header.Get(name))
				}
			}
			if !r.Close {
				t.Error("the connection stays open")
			}
		})
	}
}

// Each row is a request of the browser that has the cookie, or of a person's tool.
func TestAllowed(t *testing.T) {
	t.Parallel()
	const cookie = "Cookie: COOKIE\n"
	for name, request := range map[string]string{
		"typed":                    "GET / HTTP/1.1\nHost: HOST\nSec-Fetch-Site: none\n" + cookie + "\n",
		"link of a page":           "GET /d/0/grid?class=a%20b&from=%2e%2e HTTP/1.1\nHost: HOST\nSec-Fetch-Site: same-origin\n" + cookie + "\n",
		"curl":                     "GET / HTTP/1.1\nHost: HOST\n" + cookie + "\n",
		"old browser":              "GET / HTTP/1.1\nHost: HOST\nOrigin: http://HOST\n" + cookie + "\n",
		"HTTP/1.0":                 "GET / HTTP/1.0\nHost: HOST\n" + cookie + "\n",
		"HEAD":                     "HEAD / HTTP/1.1\nHost: HOST\n" + cookie + "\n",
		"localhost":                "GET / HTTP/1.1\nHost: localhost:PORT\n" + cookie + "\n",
		"another port, of ssh -L":  "GET / HTTP/1.1\nHost: localhost:8000\n" + cookie + "\n",
		"port 80":                  "GET / HTTP/1.1\nHost: 127.0.0.1\n" + cookie + "\n",
		"IPv6":                     "GET / HTTP/1.1\nHost: [::1]:PORT\n" + cookie + "\n",
		"IPv6, port 80":            "GET / HTTP/1.1\nHost: [::1]\n" + cookie + "\n",
		"cookies of other ports":   "GET / HTTP/1.1\nHost: HOST\nCookie: _xsrf=2|a; ffconvert-AAAAAAAA=x; COOKIE; a=b\n\n",
		"cookie set by another":    "GET / HTTP/1.1\nHost: HOST\nCookie: COOKIEx; COOKIE\n\n",
		"cookie set by another, 2": "GET / HTTP/1.1\nHost: HOST\nCookie: COOKIE; COOKIEx\n\n",
		"form":                     "POST /verify HTTP/1.1\nHost: HOST\nSec-Fetch-Site: same-origin\nOrigin: null\nContent-Type: application/x-www-form-urlencoded\nContent-Length: 48\n" + cookie + "\nform=FORM",
		"form of an old browser":   "POST /verify HTTP/1.1\nHost: HOST\nOrigin: http://HOST\nContent-Type: application/x-www-form-urlencoded; charset=UTF-8\nContent-Length: 48\n" + cookie + "\nform=FORM",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, content)
			r := s.ask(t, s.words(request))
			if r.StatusCode != 200 || len(s.calls) != 1 {
				t.Fatalf("%v, %d calls", r, len(s.calls))
			}
			if body := read(r); !strings.Contains(body, secretText) && name != "HEAD" {
				t.Errorf("body %q", body)
			}
			for name, value := range headers {
				if got := r.Header.Values(name); !slices.Equal(got, []string{value}) {
					t.Errorf("%s: %q", name, got)
				}
			}
		})
	}
}

// The link sets the cookie and leads on; the cookie is good from then on, and for this server alone.
func TestEnter(t *testing.T) {
	t.Parallel()
	s := newSite(t, content)
	link, err := url.Parse(s.url)
	if err != nil || link.Host != s.addr {
		t.Fatalf("%s: %v", s.url, err)
	}
	for range 2 { // another window may follow the link, too
		r := s.ask(t, fmt.Sprintf("GET %s HTTP/1.1\r\nHost: %s\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n\r\n", link.RequestURI(), link.Host))
		body := read(r)
		if r.StatusCode != 200 || strings.Contains(body, s.token) || !strings.Contains(body, `http-equiv="refresh" content="0;url=/"`) {
			t.Fatalf("%d %s", r.StatusCode, body)
		}
		if got, want := r.Header.Get("Set-Cookie"), s.pair()+"; Path=/; HttpOnly; SameSite=Strict"; got != want {
			t.Errorf("cookie %s, want %s", got, want)
		}
		if got := r.Header.Get("Content-Security-Policy"); got != headers["Content-Security-Policy"] {
			t.Errorf("policy %q", got)
		}
	}
	if len(s.calls) != 0 {
		t.Error("the handler was called")
	}
	other := newSite(t, content)
	if other.cookie.Name == s.cookie.Name || other.token == s.token || other.form == s.form || other.cookie.Value == s.cookie.Value {
		t.Error("two servers share a secret")
	}
	if len(s.token) != 43 || len(s.cookie.Value) != 43 || len(s.form) != 43 || s.token == s.form || s.token == s.cookie.Value {
		t.Error("secrets are not of 256 bits each")
	}
	if r := other.ask(t, "GET / HTTP/1.1\r\nHost: "+other.addr+"\r\nCookie: "+s.pair()+"\r\n\r\n"); r.StatusCode != 403 {
		t.Errorf("the cookie of another server: %d", r.StatusCode)
	}
	if page := string(lead(s.url)); !strings.Contains(page, `content="0;url=`+s.url+`"`) {
		t.Errorf("launcher %s", page)
	}
}
