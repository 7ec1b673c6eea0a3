package aio

import (
	"os"
	"path/filepath"
	"testing"
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
			t.Skip(err)
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
