package stage

import (
	"bytes"
	"crypto/md5"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/store"
)

// A file by the base name of an object, in the cache directory, is used in place of a fetch if it is complete.
func TestByHand(t *testing.T) {
	t.Parallel()
	data := smallTar(t)
	other := bytes.Repeat([]byte{1}, len(data))
	for _, row := range []struct {
		name    string
		file    []byte // nil: none
		sum     bool   // the service has a checksum
		fetches int64
	}{
		{"none", nil, true, 1},
		{"the same", data, false, 0},
		{"the same, with a checksum", data, true, 0},
		{"cut", data[:len(data)-1], false, 1},
		{"longer", append(bytes.Clone(data), 0), false, 1},
		{"other bytes, with a checksum", other, true, 1},
		{"compressed", compress(t, "gzip", data), true, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			stored := data
			if row.name == "compressed" {
				stored = row.file
			}
			r := &heldRemote{}
			found := r.add("s3://b/deep/x-000.tar", stored)
			if row.sum {
				found.Object.Sum = store.Sum{Kind: "md5", Value: fmt.Sprintf("%x", md5.Sum(stored))}
			}
			dir := t.TempDir()
			if row.file != nil {
				if err := os.WriteFile(filepath.Join(dir, "x-000.tar"), row.file, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var mu sync.Mutex
			var said []string
			opts := Options{Options: input.Options{Remote: r}, CacheDir: dir, Verbose: func(line string) {
				mu.Lock()
				defer mu.Unlock()
				said = append(said, line)
			}}
			set, err := Open(t.Context(), []input.Name{found}, opts)
			if err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(set.Parts[0].Path)
			if err != nil || !bytes.Equal(got, data) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
			if n := r.fetches.Load(); n != row.fetches {
				t.Errorf("%d fetches", n)
			}
			want := "# opening " + filepath.Join(dir, "x-000.tar")
			if row.fetches > 0 {
				want = "# downloading s3://b/deep/x-000.tar to " + dir
			}
			if len(said) != 1 || !strings.HasPrefix(said[0], want) {
				t.Errorf("%q, want %q", said, want)
			}
			if err := set.Release(); err != nil {
				t.Fatal(err)
			}
			if now, err := os.ReadFile(filepath.Join(dir, "x-000.tar")); row.file != nil && (err != nil || !bytes.Equal(now, row.file)) {
				t.Errorf("the file was changed: %v", err)
			}
		})
	}
}

// Copies that are used again, and those that make room, are told.
func TestVerboseCache(t *testing.T) {
	t.Parallel()
	data := smallTar(t)
	r := &heldRemote{}
	a, b := r.add("s3://b/a.tar", data), r.add("s3://b/b.tar", bytes.Repeat([]byte{2}, len(data)))
	var said []string
	opts := Options{Options: input.Options{Remote: r}, CacheDir: t.TempDir(), Quota: int64(len(data)), Workers: 1, Verbose: func(line string) { said = append(said, line) }}
	for _, found := range []input.Name{a, a, b} {
		set, err := Open(t.Context(), []input.Name{found}, opts)
		if err != nil {
			t.Fatal(err)
		}
		if err := set.Release(); err != nil {
			t.Fatal(err)
		}
	}
	var verbs []string
	for _, line := range said {
		verbs = append(verbs, strings.Fields(line)[1])
	}
	if got := strings.Join(verbs, " "); got != "downloading opening deleting downloading" {
		t.Errorf("%q", said)
	}
}
