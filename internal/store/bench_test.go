package store

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// What one object costs from a server on this machine into a file, by the connections, and
// with a checksum.
func BenchmarkFetch(b *testing.B) {
	data := random(64<<20, 17)
	for _, row := range []struct {
		connections int
		sum         bool
	}{{1, false}, {4, false}, {4, true}} {
		name := fmt.Sprintf("connections=%d,sum=%v", row.connections, row.sum)
		b.Run(name, func(b *testing.B) {
			srv := start(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Etag", `"1"`)
				w.Header().Set("Content-Type", "application/octet-stream")
				http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
			}))
			c := client(b, Options{Connections: row.connections, RangeSize: 8 << 20})
			o, err := c.Stat(b.Context(), srv.URL+"/x")
			must(b, err)
			if row.sum {
				h := Sum{Kind: "crc32c", Value: "00000000"}.NewHash()
				h.Write(data)
				o.Sum = Sum{Kind: "crc32c", Value: fmt.Sprintf("%x", h.Sum(nil))}
			}
			f, err := os.Create(filepath.Join(b.TempDir(), "x"))
			must(b, err)
			b.Cleanup(func() { f.Close() })
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				must(b, c.Fetch(b.Context(), o, f, nil))
			}
		})
	}
}

// The same bytes by net/http and io.Copy, to compare with.
func BenchmarkCopy(b *testing.B) {
	data := random(64<<20, 17)
	srv := start(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "x.bin", time.Time{}, bytes.NewReader(data))
	}))
	f, err := os.Create(filepath.Join(b.TempDir(), "x"))
	must(b, err)
	b.Cleanup(func() { f.Close() })
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		_, err := f.Seek(0, io.SeekStart)
		must(b, err)
		resp, err := srv.Client().Get(srv.URL)
		must(b, err)
		_, err = io.Copy(f, resp.Body)
		must(b, err)
		must(b, resp.Body.Close())
	}
}
