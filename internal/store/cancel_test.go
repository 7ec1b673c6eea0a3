package store

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

// A fetch that is cancelled at any moment says why, ends soon and leaves nothing behind. Not
// parallel: it counts goroutines.
func TestFetchCancel(t *testing.T) {
	need.Time(t, "a stop at each request")
	data := random(2<<20, 14)
	o := &origin{data: data, etag: `"1"`}
	o.before = func(w http.ResponseWriter, r *http.Request, gets int) bool {
		if gets%5 == 4 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return true
		}
		if gets%3 == 2 {
			select {
			case <-time.After(20 * time.Millisecond):
			case <-r.Context().Done():
			}
		}
		return digest(0)(o, w, r, gets)
	}
	srv := httptest.NewServer(o)
	defer srv.Close()
	c := client(t, Options{RangeSize: 64 << 10, Connections: 4, wait: 10 * time.Millisecond})
	object, err := c.Stat(t.Context(), srv.URL+"/x")
	must(t, err)
	cause := errors.New("enough")
	done := 0
	before := runtime.NumGoroutine()
	for range 60 {
		ctx, cancel := context.WithCancelCause(t.Context())
		after := time.Duration(rand.Int64N(int64(60 * time.Millisecond)))
		timer := time.AfterFunc(after, func() { cancel(cause) })
		_, err := fetchObject(t, ctx, c, object)
		if timer.Stop(); err == nil {
			done++
		} else if err != cause {
			t.Fatalf("cancelled after %v: %v", after, err)
		}
		cancel(nil)
	}
	if done == 60 {
		t.Error("none was cancelled")
	}
	c.Close()
	srv.CloseClientConnections()
	for range 2000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	buf := make([]byte, 1<<20)
	t.Errorf("%d goroutines have become %d:\n%s", before, runtime.NumGoroutine(), buf[:runtime.Stack(buf, true)])
}

// A context that has ended asks nobody.
func TestCancelled(t *testing.T) {
	t.Parallel()
	o := &origin{data: random(10, 15), etag: `"1"`}
	srv := start(t, o)
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	c := client(t, Options{})
	if _, err := c.Stat(ctx, srv.URL+"/x"); err != cause {
		t.Error(err)
	}
	if err := c.Fetch(ctx, Object{URL: srv.URL + "/x", Size: 10}, new(memFile), nil); err != cause {
		t.Error(err)
	}
	if n := o.gets.Load(); n != 0 {
		t.Errorf("%d GETs", n)
	}
}
