package testproxy

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A service keeps the bodies that came whole, and counts those that did not.
type service struct {
	mu    sync.Mutex
	whole []string
	cut   int
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.cut++
		return
	}
	s.whole = append(s.whole, string(body))
	w.Header().Set("Location", "http://"+r.Context().Value(http.LocalAddrContextKey).(interface{ String() string }).String()+"/next")
	w.Write(bytes.Repeat([]byte("reply"), 1000))
}

// bodies returns how many came, whole or not.
func (s *service) bodies() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.whole) + s.cut
}

func TestFaults(t *testing.T) {
	body := strings.Repeat("x", 100_000)
	for _, row := range []struct {
		name   string
		fault  Fault
		status int // 0: the connection is cut
		acted  int // whole bodies that the service has
		cut    int // bodies of which it has some
	}{
		{"pass", Pass, 200, 1, 0},
		{"refuse", Refuse, 0, 0, 0},
		{"request cut", CutRequest, 0, 0, 1},
		{"reply cut", CutReply, 0, 1, 0},
		{"body cut", CutBody, 0, 1, 0},
		{"busy", Busy, 503, 0, 0},
		{"later", Later, 503, 0, 0},
		{"too many", TooMany, 429, 0, 0},
		{"delay", Delay, 200, 1, 0},
		{"twice", Twice, 200, 2, 0},
		{"flip", Flip, 200, 1, 0},
		{"short", Short, 200, 1, 0},
		{"other tag", OtherTag, 200, 1, 0},
		{"lost", Lost, 404, 0, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := new(service)
			server := httptest.NewServer(s)
			defer server.Close()
			var struck atomic.Int32
			p := Start(t, server.Listener.Addr().String(), Options{Pick: Only(0, row.fault), Strike: func(n int, r *http.Request) { struck.Add(1) }})
			began := time.Now()
			var reply []byte
			resp, err := http.Post("http://"+p.Address+"/object", "", strings.NewReader(body))
			status := 0
			if err == nil {
				if reply, err = io.ReadAll(resp.Body); err == nil {
					status = resp.StatusCode
				}
				resp.Body.Close()
			}
			if status != row.status {
				t.Errorf("HTTP %d, %v, want %d", status, err, row.status)
			}
			if asSent := string(reply) == strings.Repeat("reply", 1000); status == 200 && asSent == (row.fault == Flip || row.fault == Short) || (row.fault == Short) != (status == 200 && len(reply) < 5000) {
				t.Errorf("%d bytes, as they were sent: %t", len(reply), asSent)
			}
			if status == 200 && (resp.Header.Get("ETag") != "") != (row.fault == OtherTag) {
				t.Errorf("ETag %s", resp.Header.Get("ETag"))
			}
			if status == 200 && !strings.HasPrefix(resp.Header.Get("Location"), "http://"+p.Address+"/") {
				t.Errorf("Location: %s leads past the proxy", resp.Header.Get("Location"))
			}
			if after := row.fault == Later || row.fault == TooMany; err == nil && after != (resp.Header.Get("Retry-After") != "") {
				t.Errorf("Retry-After: %q", resp.Header.Get("Retry-After"))
			}
			if row.fault == Delay && time.Since(began) < 50*time.Millisecond {
				t.Error("it does not wait")
			}
			if want := min(int32(row.fault), 1); struck.Load() != want {
				t.Errorf("Strike was called %d times, want %d", struck.Load(), want)
			}
			if p.Count(row.fault) != 1 || len(p.Requests()) != 1 {
				t.Errorf("it counts %v", p.Requests())
			}
			for end := time.Now().Add(10 * time.Second); s.bodies() < row.acted+row.cut && time.Now().Before(end); { // Close drops what has only been accepted
				time.Sleep(time.Millisecond)
			}
			server.Close() // waits for what still runs
			if len(s.whole) != row.acted || s.cut != row.cut {
				t.Errorf("the service has %d bodies and %d cut ones, want %d and %d", len(s.whole), s.cut, row.acted, row.cut)
			}
			for _, got := range s.whole {
				if got != body {
					t.Errorf("%d bytes came, or others", len(got))
				}
			}
		})
	}
}

// A seed decides: the same requests have the same faults, about as many as the share, each kind of them.
func TestSome(t *testing.T) {
	pick, again, other := Some(1, 0.2), Some(1, 0.2), Some(2, 0.2)
	seen, differ := map[Fault]int{}, false
	for n := range 2000 {
		f := pick(n, nil)
		seen[f]++
		if again(n, nil) != f {
			t.Fatal("the same seed picks another fault")
		}
		differ = differ || other(n, nil) != f
	}
	if struck := 2000 - seen[Pass]; struck < 300 || struck > 500 || len(seen) != len(All())+1 || !differ {
		t.Errorf("%v", seen)
	}
}

// Omit takes entries out of both kinds of listing, and leaves the rest of the reply and other replies alone.
func TestOmit(t *testing.T) {
	for name, row := range map[string]struct{ path, before, after string }{
		"s3":       {"/bucket/?list-type=2", "<L><Contents><Key>a</Key></Contents><Contents><Key>b</Key></Contents><End/></L>", "<L><Contents><Key>a</Key></Contents><End/></L>"},
		"gs":       {"/storage/v1/b/bucket/o", `{"items":[{"name":"b"},{"name":"a"}],"kind":"x"}`, `{"items":[{"name":"a"}],"kind":"x"}`},
		"gs empty": {"/storage/v1/b/bucket/o", `{"kind":"x"}`, `{"kind":"x"}`},
		"object":   {"/bucket/b", "<Contents><Key>b</Key></Contents>", "<Contents><Key>b</Key></Contents>"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, row.before) }))
			defer server.Close()
			p := Start(t, server.Listener.Addr().String(), Options{Omit: func(_ int, key string) bool { return key == "b" }})
			resp, err := http.Get("http://" + p.Address + row.path)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if got, err := io.ReadAll(resp.Body); err != nil || string(got) != row.after {
				t.Errorf("%s, %v", got, err)
			}
		})
	}
	omit, left := Omit(1, 0.3), 0
	for n := range 1000 {
		if omit(n, "key") {
			left++
		}
	}
	if left < 200 || left > 400 {
		t.Errorf("%d of 1,000 entries are left out", left)
	}
}
