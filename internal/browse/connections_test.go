package browse

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/internal/test/need"
	"golang.org/x/net/netutil"
)

// dial sends a request with the cookie and returns the connection.
func (s *site) dial(t *testing.T, request string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(time.Minute))
	io.WriteString(c, s.words(request))
	return c
}

const wholeRequest = "GET / HTTP/1.1\nHost: HOST\nCookie: COOKIE\n\n"

// A client that stops reading is dropped: the handler's write fails.
func TestStopsReading(t *testing.T) {
	t.Parallel()
	failed := make(chan error, 1)
	s := newSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data := make([]byte, 64<<20) // more than sockets buffer
		_, err := w.Write(data)
		failed <- err
	}))
	s.dial(t, wholeRequest)
	select {
	case err := <-failed:
		if err == nil {
			t.Error("64 MiB were written to a client that reads nothing")
		}
	case <-time.After(20 * time.Second):
		t.Error("the handler still waits")
	}
}

// An answer may take longer than the deadline of a write.
func TestSlowAnswers(t *testing.T) {
	t.Parallel()
	const events = 8
	s := newSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/events":
			for i := range events {
				fmt.Fprintf(w, "data: %d\n\n", i)
				if err := http.NewResponseController(w).Flush(); err != nil {
					t.Error(err)
				}
				time.Sleep(200 * time.Millisecond)
			}
		case "/late": // what net/http holds in its buffer is sent after the handler has returned
			io.WriteString(w, "late")
			time.Sleep(1300 * time.Millisecond)
		}
	}))
	for path, want := range map[string]string{"/events": "data: 7\n\n", "/late": "late"} {
		t.Run(path[1:], func(t *testing.T) {
			t.Parallel()
			c := s.dial(t, strings.Replace(wholeRequest, "/ ", path+" ", 1))
			r, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Fatal(err)
			}
			if body, err := io.ReadAll(r.Body); err != nil || !strings.HasSuffix(string(body), want) {
				t.Errorf("%d bytes: %v", len(body), err)
			}
		})
	}
}

// A timed is an answer that counts its writes and the deadlines before them.
type timed struct {
	*httptest.ResponseRecorder
	deadlines, writes int
	err               error
}

func (w *timed) SetWriteDeadline(time.Time) error {
	w.deadlines++
	return nil
}

func (w *timed) Write(b []byte) (int, error) {
	w.writes++
	if w.err != nil && w.writes == 2 {
		return 7, w.err
	}
	if w.deadlines != w.writes+1 || len(b) > chunk { // one when the writer was made
		w.err = fmt.Errorf("write %d of %d bytes after %d deadlines", w.writes, len(b), w.deadlines)
	}
	return w.ResponseRecorder.Write(b)
}

// One large write is many, each with a deadline of its own.
func TestLargeWrite(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, chunk, chunk + 1, 10 * chunk} {
		to, data := &timed{ResponseRecorder: httptest.NewRecorder()}, bytes.Repeat([]byte{7}, size)
		n, err := newWriter(to, time.Second).Write(data)
		if n != size || err != nil || to.err != nil || !bytes.Equal(to.Body.Bytes(), data) || to.writes != max(1, (size+chunk-1)/chunk) {
			t.Errorf("%d bytes: %d written by %d writes: %v %v", size, n, to.writes, err, to.err)
		}
	}
	to := &timed{ResponseRecorder: httptest.NewRecorder(), err: io.ErrClosedPipe}
	if n, err := newWriter(to, time.Second).Write(make([]byte, 10*chunk)); n != chunk+7 || !errors.Is(err, io.ErrClosedPipe) || to.writes != 2 {
		t.Errorf("%d written by %d writes: %v", n, to.writes, err)
	}
}

// A handler that panics is an answer and a line of the log. One that has begun its answer cuts it off. The server goes on.
func TestPanics(t *testing.T) {
	t.Parallel()
	s := newSite(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/at-once":
			panic("a\nb \x1b[2J" + secretText)
		case "/begun":
			w.Header().Set("Content-Length", "1000")
			io.WriteString(w, "begun")
			w.(http.Flusher).Flush()
			panic(errors.New("later"))
		case "/aborted":
			panic(http.ErrAbortHandler)
		}
		io.WriteString(w, "well")
	}))
	for _, row := range []struct {
		path, body string
		status     int
		cut        bool
	}{
		{"/at-once", "This page could not be made: ffconvert has a mistake.\n", 500, false},
		{"/begun", "begun", 200, true},
		{"/aborted", "", 0, true},
		{"/well", "well", 200, false},
	} {
		r, err := http.ReadResponse(bufio.NewReader(s.dial(t, strings.Replace(wholeRequest, "/ ", row.path+" ", 1))), nil)
		if err != nil {
			if row.status != 0 {
				t.Errorf("%s: %v", row.path, err)
			}
			continue
		}
		body, err := io.ReadAll(r.Body)
		if r.StatusCode != row.status || string(body) != row.body || err != nil != row.cut {
			t.Errorf("%s: %d %q %v", row.path, r.StatusCode, body, err)
		}
		if r.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", row.path, r.Header)
		}
	}
	want := `a page could not be made, because of a mistake in ffconvert: a\nb \x1b[2J` + secretText + "\na page could not be made, because of a mistake in ffconvert: later\n"
	if s.log.String() != want {
		t.Errorf("log %q", s.log)
	}
}

// Half a request is dropped after headerTime; a body that does not come after readTime; and no more than connections are open.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	need.Time(t, "waits for two timeouts")
	s := newSite(t, content)
	form := "POST /verify HTTP/1.1\nHost: HOST\nCookie: COOKIE\nSec-Fetch-Site: same-origin\nContent-Type: application/x-www-form-urlencoded\nContent-Length: 48\n\nform="
	for name, row := range map[string]struct {
		request string
		most    time.Duration
	}{
		"nothing":       {"", headerTime},
		"half a line":   {"GET / HT", headerTime},
		"half a header": {"GET / HTTP/1.1\nHost: HOST\nCookie: COO", headerTime},
		"half a form":   {form, readTime},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := s.dial(t, row.request)
			begin := time.Now()
			answer, err := io.ReadAll(c)
			if waited := time.Since(begin); waited > row.most+9*time.Second || err != nil {
				t.Errorf("%v after %v", err, waited)
			}
			if strings.Contains(string(answer), secretText) {
				t.Errorf("answer %s", answer)
			}
		})
	}
}

// The listener accepts no more connections than its limit; a closed one makes room.
func TestLimit(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(content)
	server.Listener.Close()
	server.Listener = netutil.LimitListener(l, 2)
	server.Start()
	defer server.Close()
	dial := func() net.Conn {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		return c
	}
	answers := func(c net.Conn, wait time.Duration) bool {
		c.SetReadDeadline(time.Now().Add(wait))
		_, err := c.Read(make([]byte, 1))
		return err == nil
	}
	first, second := dial(), dial()
	if !answers(first, 10*time.Second) || !answers(second, 10*time.Second) {
		t.Fatal("two connections are not served")
	}
	third := dial()
	if answers(third, 200*time.Millisecond) {
		t.Error("a third connection is served")
	}
	first.Close()
	if !answers(third, 10*time.Second) {
		t.Error("a closed connection makes no room")
	}
}

// A server that others can reach is called by addresses and by its own name.
func TestHosts(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		host         string
		local, other bool
	}{
		{"127.0.0.1", true, true}, {"127.9.8.7:1", true, true}, {"localhost", true, true}, {"LOCALHOST:65535", true, true}, {"[::1]", true, true}, {"[::1]:8", true, true},
		{"192.0.2.1:80", false, true}, {"[2001:db8::1]:80", false, true}, {"[2001:db8::1]", false, true},
		{"node7", false, true}, {"Node7.Cluster.example:8080", false, true},
		{"node7.evil.example", false, false}, {"node", false, false}, {"cluster.example", false, false}, {"evil.example", false, false},
		{"", false, false}, {":80", false, false}, {"localhost:0", false, false}, {"localhost:080", false, false}, {"localhost:65536", false, false}, {"localhost:-1", false, false},
		{"localhost:80:80", false, false}, {"::1", false, false}, {"[127.0.0.1]", false, false}, {"[::1", false, false}, {"::1]", false, false}, {"[::1%lo]", false, false}, {"[localhost]", false, false},
		{"127.0.0.1.", false, false}, {"127.1", false, false}, {"2130706433", false, false}, {"127.0.0.1 ", false, false}, {"localhost#", false, false}, {"localhost/", false, false},
	} {
		for _, loopback := range []bool{true, false} {
			want := row.other
			if loopback {
				want = row.local
			}
			if got := (&guard{loopback: loopback, name: "node7.cluster.example"}).allow(row.host); got != want {
				t.Errorf("%q, loopback %v: %v", row.host, loopback, got)
			}
			if (&guard{loopback: loopback}).allow("") {
				t.Error("a machine without a name is called by none")
			}
		}
	}
}

func TestGuard(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		ip, prefix string
		loopback   bool
	}{
		{"127.0.0.1", "http://127.0.0.1:80/?token=", true}, {"::1", "http://[::1]:80/?token=", true}, {"127.3.2.1", "http://127.3.2.1:80/?token=", true},
		{"192.0.2.1", "http://192.0.2.1:80/?token=", false}, {"0.0.0.0", "http://", false}, {"::", "http://", false},
	} {
		g, err := newGuard(&net.TCPAddr{IP: net.ParseIP(row.ip), Port: 80})
		if err != nil || !strings.HasPrefix(g.url, row.prefix) || g.loopback != row.loopback || strings.Contains(g.url, "//0") || strings.Contains(g.url, "[::]") {
			t.Errorf("%s: %v %v", row.ip, g, err)
		}
	}
	if _, err := newGuard(&net.UnixAddr{Name: "/tmp/x"}); err == nil {
		t.Error("a socket of files")
	}
}

// No deadline is missing: one that is 0 would be none.
func TestServer(t *testing.T) {
	t.Parallel()
	s := new(guard).server()
	if s.ReadHeaderTimeout == 0 || s.ReadTimeout == 0 || s.WriteTimeout == 0 || s.IdleTimeout == 0 || s.MaxHeaderBytes == 0 || s.Protocols.HTTP2() || s.Protocols.UnencryptedHTTP2() {
		t.Errorf("%+v", s)
	}
}

// Connections that send their headers slowly do not keep an honest request waiting.
func TestSlowHeaders(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g, err := newGuard(l.Addr())
	if err != nil {
		t.Fatal(err)
	}
	server := g.server()
	server.ReadHeaderTimeout = time.Hour // they would stay, but for their number
	server.Handler = g.wrap(http.NotFoundHandler())
	go server.Serve(netutil.LimitListener(l, connections))
	defer server.Close()
	for range 200 {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ")
	}
	client := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	for range 3 {
		resp, err := client.Get("http://" + l.Addr().String() + "/")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
}
