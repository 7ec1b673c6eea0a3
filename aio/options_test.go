package aio_test

import (
	"flag"
	"io"
	"testing"

	"github.com/ffconvert/ffconvert/aio"
)

var _ flag.Value = new(aio.Backend)

func TestBackendFlag(t *testing.T) {
	t.Parallel()
	for _, want := range []aio.Backend{aio.Auto, aio.AIO, aio.Pread} {
		fs := flag.NewFlagSet("", flag.ContinueOnError)
		var got aio.Backend
		fs.Var(&got, "backend", "")
		if err := fs.Parse([]string{"-backend", want.String()}); err != nil || got != want {
			t.Errorf("%v: got %v, error %v", want, got, err)
		}
	}
	got := aio.Pread
	for _, s := range []string{"", "AIO", "uring"} {
		if err := got.Set(s); err == nil || got != aio.Pread {
			t.Errorf("%q: accepted as %v", s, got)
		}
	}
	if s := aio.Backend(7).String(); s != "Backend(7)" {
		t.Errorf("unknown backend is %q", s)
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		opts aio.Options
		ok   bool
	}{
		{"zero", aio.Options{}, true},
		{"smallest", aio.Options{Depth: 1, BlockSize: 4096}, true},
		{"deepest", aio.Options{Depth: 1024, BlockSize: 4096}, true},
		{"largest block", aio.Options{Depth: 1, BlockSize: 64 << 20}, true},
		{"negative depth", aio.Options{Depth: -1}, false},
		{"too deep", aio.Options{Depth: 1025}, false},
		{"odd block", aio.Options{BlockSize: 4097}, false},
		{"small block", aio.Options{BlockSize: 512}, false},
		{"negative block", aio.Options{BlockSize: -4096}, false},
		{"huge block", aio.Options{BlockSize: 64<<20 + 4096}, false},
		{"unknown backend", aio.Options{Backend: 3}, false},
		{"negative backend", aio.Options{Backend: -1}, false},
	}
	for _, tt := range tests {
		r, err := aio.NewReader(tt.opts)
		if (err == nil) != tt.ok {
			t.Errorf("%s: error %v", tt.name, err)
		}
		if r != nil {
			if st := r.Stats(); st.Reads != 0 || st.Depth == 0 || !st.Direct || st.Backend == aio.Auto {
				t.Errorf("%s: unused reader's stats %+v", tt.name, st)
			}
			if err := r.Close(); err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
		}
	}
}

func TestAlloc(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 4095, 4096, 1 << 20} {
		b, err := aio.Alloc(n)
		if err != nil || len(b) != n {
			t.Fatalf("%d: %d bytes, error %v", n, len(b), err)
		}
		for i := range b {
			if b[i] != 0 {
				t.Fatalf("%d: byte %d is not zero", n, i)
			}
			b[i] = 1
		}
		if err := aio.Free(b); err != nil {
			t.Error(err)
		}
	}
	if b, err := aio.Alloc(-1); err == nil || b != nil {
		t.Error("a negative size was allocated")
	}
	if err := aio.Free(nil); err != nil {
		t.Error(err)
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, path := range []string{dir, dir + "/missing", ""} {
		if f, err := aio.Open(path); err == nil || f != nil {
			t.Errorf("%q was opened", path)
		}
	}
	if _, err := aio.Open(dir + "/missing"); err == nil || err == io.EOF {
		t.Errorf("missing: error %v", err)
	}
}
