package store

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/minio/minio-go/v7"
)

// A Client over each of the services: an object of many ranges, one of none, a list. The
// rest is tested with the stores, and with web servers.
func TestFetchFromStores(t *testing.T) {
	whole := strings.Repeat("0123456789abcdef", 1000)
	for _, row := range []struct {
		scheme string
		vars   func(t *testing.T) map[string]string
	}{
		{"s3", func(t *testing.T) map[string]string {
			addr, admin := startGateway(t)
			put(t, admin, "fetched/a #1?.tar", whole, withSum("crc64nvme", whole))
			put(t, admin, "fetched/b", "", minio.PutObjectOptions{})
			return gatewayEnv(addr)
		}},
		{"gs", func(t *testing.T) map[string]string {
			g := newFakeGoogle(t)
			g.put(t, "fetched/a #1?.tar", whole)
			g.put(t, "fetched/b", "")
			return map[string]string{"STORAGE_EMULATOR_HOST": g.URL}
		}},
	} {
		t.Run(row.scheme, func(t *testing.T) {
			env := maps.Clone(row.vars(t))
			c := New(Options{LookupEnv: environment(env), RangeSize: 1000, Connections: 3, Retries: -1})
			defer c.Close()
			var got []string
			for o, err := range c.List(t.Context(), row.scheme+"://train-data/fetched/") {
				if err != nil {
					t.Fatal(err)
				}
				path := filepath.Join(t.TempDir(), "object")
				f, err := os.Create(path)
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				found, err := c.Stat(t.Context(), o.URL)
				if err != nil {
					t.Fatal(err)
				}
				for _, o := range []Object{o, found} { // either may be fetched
					var n int64
					if err := c.Fetch(t.Context(), o, f, func(more int64) { n += more }); err != nil || n != o.Size {
						t.Errorf("%s: %d bytes, %v", o.URL, n, err)
					}
				}
				text, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, string(text))
			}
			if len(got) != 2 || got[0] != whole || got[1] != "" {
				t.Errorf("%d objects come, or other bytes", len(got))
			}
		})
	}
}
