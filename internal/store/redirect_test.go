package store

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// What is asked with credentials and redirected leaves them behind where host or port differ.
func TestRedirectCredentials(t *testing.T) {
	t.Parallel()
	data := random(1000, 8)
	secret := []string{"Authorization", "Cookie", "Proxy-Authorization", "X-Amz-Security-Token", "X-Goog-Iam", "X-Api-Key", "Ais-Authn"}
	var home *httptest.Server
	seen := make(chan http.Header, 100)
	o := &origin{data: data, etag: `"1"`}
	o.before = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		switch {
		case strings.HasPrefix(r.URL.Path, "/back"): // leads back to where the credentials came from
			http.Redirect(w, r, home.URL+"/data", http.StatusTemporaryRedirect)
			return true
		default:
			seen <- r.Header.Clone()
		}
		return false
	}
	other := start(t, o)
	home = start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/data" {
			o.ServeHTTP(w, r)
			return
		}
		to := r.URL.Query().Get("to")
		code := http.StatusFound
		fmt.Sscan(r.URL.Query().Get("code"), &code)
		http.SetCookie(w, &http.Cookie{Name: "session", Value: password})
		http.Redirect(w, r, to, code)
	}))
	localhost := strings.Replace(other.URL, "127.0.0.1", "localhost", 1)
	for _, row := range []struct {
		name string
		to   string
		keep bool
	}{
		{"same host", "/data", true},
		{"same host, in full", home.URL + "/data", true},
		{"another port", other.URL + "/data", false},
		{"another name", localhost + "/data", false},
		{"another name of this port", strings.Replace(home.URL, "127.0.0.1", "localhost", 1) + "/data", false},
		{"there and back", other.URL + "/back", false},
		{"with a user of its own", strings.Replace(other.URL, "://", "://evil:"+password+"@", 1) + "/data", false},
	} {
		for _, code := range []int{301, 302, 303, 307, 308} {
			req, err := http.NewRequest(http.MethodGet, fmt.Sprintf("%s/?code=%d&sig=%s&to=%s", home.URL, code, password, row.to), nil)
			must(t, err)
			for _, name := range secret {
				req.Header.Set(name, password)
			}
			req.Header.Set("Range", "bytes=5-9")
			req.Header.Set("If-Match", `"1"`)
			c := client(t, Options{})
			resp, err := c.hc.Do(req)
			must(t, err)
			discard(resp)
			h := <-seen
			if resp.StatusCode != http.StatusPartialContent || h.Get("Range") != "bytes=5-9" || h.Get("If-Match") == "" {
				t.Errorf("%s, %d: %s, headers %v", row.name, code, resp.Status, h)
			}
			if h.Get("Referer") != "" {
				t.Errorf("%s, %d: the URL is told: %s", row.name, code, h.Get("Referer"))
			}
			for _, name := range secret {
				if kept := h.Get(name) != ""; kept != row.keep {
					t.Errorf("%s, %d: %s is %q", row.name, code, name, h.Get(name))
				}
			}
			if text := fmt.Sprint(h); !row.keep && strings.Contains(text, password) {
				t.Errorf("%s, %d: %s", row.name, code, text)
			}
		}
	}
}

// Five redirects are followed, by each request of a fetch.
func TestRedirectFive(t *testing.T) {
	t.Parallel()
	o := &origin{data: random(1000, 9), etag: `"1"`}
	o.before = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		if r.URL.Path != "/xxxxx.tar" {
			http.Redirect(w, r, strings.Replace(r.URL.Path, "x", "xx", 1), http.StatusFound)
			return true
		}
		return false
	}
	srv := start(t, o)
	f, _, err := fetchAll(t, client(t, Options{RangeSize: 300}), srv.URL+"/x.tar")
	must(t, err)
	f.holds(t, o.data)
}

// A scheme may be left for https alone, and https for nothing.
func TestRedirectSchemes(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		from, to string
		ok       bool
	}{
		{"http://a/", "https://a/", true}, {"http://a/", "http://b/", true}, {"https://a/", "https://b/", true},
		{"https://a/", "http://a/", false}, {"http://a/", "file:///etc/passwd", false}, {"https://a/", "ftp://a/", false}, {"http://a/", "data:,x", false},
	} {
		from, err := http.NewRequest(http.MethodGet, row.from, nil)
		must(t, err)
		to, err := http.NewRequest(http.MethodGet, row.to, nil)
		must(t, err)
		if err := redirect(to, []*http.Request{from}); (err == nil) != row.ok {
			t.Errorf("%s to %s: %v", row.from, row.to, err)
		}
	}
}
