package aio

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

// A Reader of few bytes has no queue, unless AIO is asked for; one of more gets it at the next Sweep.
func TestFewBytes(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, make([]byte, fewBytes/2), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, backend := range []Backend{Auto, AIO} {
		r, err := NewReader(Options{Backend: backend})
		if err != nil {
			need.Missing(t, err)
		}
		for i := range 3 {
			for _, err := range r.Sweep(t.Context(), f, 0, fewBytes/2) {
				if err != nil {
					t.Fatal(err)
				}
			}
			s, few := r.Stats(), backend == Auto && i == 0
			if s.Bytes != int64(i+1)*fewBytes/2 || f.direct() && (s.Fallback != "" || (s.Backend == Pread) != few) {
				t.Errorf("%v, sweep %d: %+v", backend, i, s)
			}
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Many small requests get a queue as well: a device takes as long for each as for a larger one.
func TestFewRequests(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if !f.direct() {
		need.Missing(t, "no O_DIRECT here")
	}
	for _, n := range []int{1, fewBytes/requestBytes - 1, fewBytes / requestBytes} {
		r, err := NewReader(Options{})
		if err != nil {
			t.Fatal(err)
		}
		reqs := make([]Request, n)
		for i := range reqs {
			reqs[i] = Request{File: f, Off: int64(i) * 8000, Buf: make([]byte, 300)}
		}
		if err := r.ReadBatch(t.Context(), reqs); err != nil {
			t.Fatal(err)
		}
		if r.Stats().Fallback == "" && (r.ring != nil) != (n*requestBytes >= fewBytes) {
			t.Errorf("%d requests: queue %v", n, r.ring != nil)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}
