package store

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

// A connection that breaks at any byte costs no byte twice.
func TestFetchCutAtEveryByte(t *testing.T) {
	t.Parallel()
	need.Time(t, "a cut at each byte")
	data := random(211, 1)
	for _, rangeSize := range []int64{1 << 20, 64, 1} {
		t.Run(fmt.Sprint("ranges of ", rangeSize), func(t *testing.T) {
			t.Parallel()
			for k := range int64(len(data)) {
				if rangeSize == 1 && k%16 != 0 {
					continue
				}
				o := &origin{data: data, etag: `"1"`, cuts: map[int64]bool{k: true}}
				srv := start(t, o)
				c := client(t, Options{RangeSize: rangeSize, Connections: 3})
				f, _, err := fetchAll(t, c, srv.URL+"/x")
				if err != nil {
					t.Fatalf("cut at %d: %v", k, err)
				}
				f.holds(t, data)
				if n := o.served.Load(); n != int64(len(data)) || len(o.cuts) > 0 {
					t.Fatalf("cut at %d: %d bytes were served for %d; %d cuts left", k, n, len(data), len(o.cuts))
				}
				c.Close()
				srv.Close()
			}
		})
	}
}

func TestFetchRandomCuts(t *testing.T) {
	t.Parallel()
	data := random(4<<20+17, 2)
	o := &origin{data: data, etag: `"1"`, cuts: make(map[int64]bool)}
	for len(o.cuts) < 200 {
		o.cuts[rand.Int64N(int64(len(data)))] = true
	}
	c := client(t, Options{RangeSize: 256 << 10, Connections: 4})
	f, _, err := fetchAll(t, c, start(t, o).URL+"/x")
	must(t, err)
	f.holds(t, data)
	if n := o.served.Load(); n > int64(len(data))*105/100 || len(o.cuts) > 0 {
		t.Errorf("%d bytes were served for %d; %d cuts left", n, len(data), len(o.cuts))
	}
}

// Where there are no ranges, a break costs what has come before, compared and not written.
func TestFetchWithoutRanges(t *testing.T) {
	t.Parallel()
	data := random(100_000, 3)
	for _, row := range []struct {
		name  string
		serve func(o *origin, w http.ResponseWriter, r *http.Request)
		gets  int64 // after one cut
	}{
		{"ignored", func(o *origin, w http.ResponseWriter, r *http.Request) { r.Header.Del("Range") }, 2},
		{"declined", func(o *origin, w http.ResponseWriter, r *http.Request) {
			r.Header.Del("Range")
			w.Header().Set("Accept-Ranges", "none")
		}, 2},
		{"no version", func(o *origin, w http.ResponseWriter, r *http.Request) { o.etag = "" }, 2},
		{"size unknown", func(o *origin, w http.ResponseWriter, r *http.Request) {
			r.Header.Del("Range")
			if r.Method == http.MethodHead {
				w.WriteHeader(http.StatusNotImplemented)
			}
			w.Header().Set("Content-Encoding", "identity") // keeps ServeContent from announcing a length
		}, 3},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			o := &origin{data: data, etag: `"1"`, cuts: map[int64]bool{50_000: true}}
			if row.name == "size unknown" {
				o.cutFrom = 1 // the first asks for the size
			}
			o.before = func(w http.ResponseWriter, r *http.Request, gets int) bool {
				row.serve(o, w, r)
				return false
			}
			c := client(t, Options{RangeSize: 1000, Connections: 3})
			f, found, err := fetchAll(t, c, start(t, o).URL+"/x")
			must(t, err)
			f.holds(t, data)
			if n := o.gets.Load(); n != row.gets {
				t.Errorf("%d GETs, want %d", n, row.gets)
			}
			if (found.Size < 0) != (row.name == "size unknown") {
				t.Errorf("size %d", found.Size)
			}
		})
	}
}

// All objects of a Client together use as many connections as they may, and no more.
func TestFetchConnections(t *testing.T) {
	t.Parallel()
	need.Time(t, "a server that answers slowly")
	data := random(100_000, 4)
	var now, most atomic.Int64
	o := &origin{data: data, etag: `"1"`}
	o.before = func(w http.ResponseWriter, r *http.Request, gets int) bool {
		if gets < 0 {
			return false
		}
		n := now.Add(1)
		defer now.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		time.Sleep(2 * time.Millisecond)
		o.serve(w, r, 0)
		return true
	}
	srv := start(t, o)
	c := client(t, Options{RangeSize: 5000, Connections: 4})
	t.Run("objects", func(t *testing.T) {
		for i := range 5 {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				f, _, err := fetchAll(t, c, fmt.Sprintf("%s/%d", srv.URL, i))
				must(t, err)
				f.holds(t, data)
			})
		}
	})
	if n := most.Load(); n > 4 || n < 2 {
		t.Errorf("%d requests at once, want 4", n)
	}
}

// Sizes around the size of a range, none at all among them.
func TestFetchSizes(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, 99, 100, 101, 200, 201, 1000} {
		data := random(size, 5)
		o := &origin{data: data, etag: `"1"`}
		c := client(t, Options{RangeSize: 100, Connections: 2})
		f, found, err := fetchAll(t, c, start(t, o).URL+"/x")
		must(t, err)
		f.holds(t, data)
		if found.Size != int64(size) || found.Version != `"1"` {
			t.Errorf("%d bytes: found %+v", size, found)
		}
	}
}

// The user and password of a URL, and its query, reach the server that it names.
func TestFetchCredentials(t *testing.T) {
	t.Parallel()
	o := &origin{data: random(1000, 6), etag: `"1"`}
	o.before = func(w http.ResponseWriter, r *http.Request, gets int) bool {
		user, pw, _ := r.BasicAuth()
		if user == "me" && pw == password && r.URL.Query().Get("sig") == password {
			return false
		}
		w.WriteHeader(http.StatusUnauthorized)
		return true
	}
	u, err := url.Parse(start(t, o).URL)
	must(t, err)
	u.User, u.Path, u.RawQuery = url.UserPassword("me", password), "/x", "sig="+password
	f, _, err := fetchAll(t, client(t, Options{}), u.String())
	must(t, err)
	f.holds(t, o.data)
}

// One connection serves the ranges in turn: no range is asked for after one that has failed for good, and
// the error is of that one.
func TestFetchFailsOnce(t *testing.T) {
	t.Parallel()
	for range 300 {
		o := &origin{data: random(1000, 7), etag: `"1"`}
		o.before = func(w http.ResponseWriter, _ *http.Request, gets int) bool {
			if gets >= 1 {
				w.WriteHeader([]int{http.StatusForbidden, http.StatusGone}[min(gets-1, 1)])
			}
			return gets >= 1
		}
		_, _, err := fetchAll(t, client(t, Options{RangeSize: 100, Connections: 1}), start(t, o).URL+"/x.tar")
		if err == nil || !strings.Contains(err.Error(), "403 Forbidden") || o.gets.Load() != 2 {
			t.Fatalf("%v after %d GETs, want 403 Forbidden after 2", err, o.gets.Load())
		}
	}
}
