package aio_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/ffconvert/ffconvert/aio"
)

// noise returns n bytes that differ from block to block, the same every time.
func noise(n int) []byte {
	b := make([]byte, n)
	c := rand.NewChaCha8([32]byte{1})
	c.Read(b)
	return b
}

func writeFile(t testing.TB, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func newReader(t testing.TB, opts aio.Options) *aio.Reader {
	t.Helper()
	r, err := aio.NewReader(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// open opens path with a reader of its own; both are closed with the test.
func open(t testing.TB, opts aio.Options, path string) (*aio.Reader, *aio.File) {
	t.Helper()
	r := newReader(t, opts)
	f, err := aio.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return r, f
}

// of makes f the file of every request.
func of(f *aio.File, reqs []aio.Request) []aio.Request {
	for i := range reqs {
		reqs[i].File = f
	}
	return reqs
}
