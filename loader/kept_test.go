package loader_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/loader"
)

// A dataset on a web server gives the batches, the keys and the states of its directory, whatever is kept of it.
func TestKept(t *testing.T) {
	t.Parallel()
	dir := made(t, "msgpack", 0, 500, 6)
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(server.Close)
	all := func(t *testing.T, path string, opts loader.Options) (lines []string) {
		l, err := loader.Open([]string{path}, opts)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		for epoch := range uint64(3) {
			if err := l.SetEpoch(epoch); err != nil {
				t.Fatal(err)
			}
			for b, err := range l.Batches(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				for k, i := range b.Indices {
					if v := b.Field(k, 0); string(v.Data()) != string(content(i)) {
						t.Fatalf("sample %d has other bytes", i)
					}
				}
				lines = append(lines, fmt.Sprint(b.Keys, b.Indices, b.State))
			}
		}
		return lines
	}
	for _, mode := range []loader.Mode{loader.Global, loader.Window(64)} {
		opts := loader.Options{Order: loader.Order{Batch: 16, Seed: 5, Mode: mode}, Keys: true, Fields: []string{"bin"}}
		want := all(t, dir, opts)
		for _, size := range []int64{0, 60_000, 1} {
			t.Run(fmt.Sprint(mode, size), func(t *testing.T) {
				t.Parallel()
				opts := opts
				opts.Cache, opts.CacheSize, opts.Warn = t.TempDir(), size, func(text string) { t.Error(text) }
				if got := all(t, server.URL, opts); !slices.Equal(got, want) {
					t.Errorf("other batches: %.300s, want %.300s", strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			})
		}
	}
}
