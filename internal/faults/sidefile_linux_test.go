package faults

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// besideShards are the files that a conversion writes beside its shards, whole, at once.
var besideShards = []string{".ffconvert/plan", "index/PART_00000.arrow", "index/PART_00001.arrow", "index/PART_00002.arrow", "meta.json", "manifest.json"}

// A harmer changes a byte of a file after it was synced, before the process opens or renames it.
type harmer struct {
	name string  // of the file
	at   float64 // which byte, as a share of its size

	mu     sync.Mutex
	synced bool
	done   bool
	err    error
}

func (h *harmer) decide(c *call) verdict {
	h.mu.Lock()
	defer h.mu.Unlock()
	path := c.path()
	switch {
	case h.done || !strings.HasSuffix(path, "/"+filepath.Base(h.name)+".tmp"):
	case c.kind().name == "fsync":
		h.synced = true
	case h.synced:
		h.done, h.err = true, harmAt(path, h.at)
	}
	return verdict{}
}

// harmAt changes a byte of a file in its place.
func harmAt(path string, share float64) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	st, err := f.Stat()
	if err == nil {
		b := make([]byte, 1)
		off := int64(share * float64(st.Size()))
		_, err = f.ReadAt(b, off)
		b[0] ^= 16
		if err == nil {
			_, err = f.WriteAt(b, off)
		}
	}
	return errors.Join(err, f.Close())
}

// TestFaultH9 changes a byte of each file beside the shards: after it was written, which the run
// itself must find before the file gets its name; and in a finished dataset, which the same command
// must heal.
func TestFaultH9(t *testing.T) {
	slow(t)
	t.Parallel()
	want, err := reference()
	if err != nil {
		t.Fatal(err)
	}
	const places = 30
	n := places * len(besideShards)
	share := func(i int) float64 { return float64(i%places) / places }
	sum := each(t, spread(n, len(besideShards)), func(i int, dir string) error {
		h := harmer{name: besideShards[i/places], at: share(i)}
		out := filepath.Join(dir, "out")
		r, err := supervise([]string{"fsync", "openat", "renameat", "renameat2"}, h.decide, convert(out, "-j1")...)
		if err == nil {
			err = h.err
		}
		if err == nil && !h.done {
			err = fmt.Errorf("it was never synced, nor opened or renamed after that: %v", r)
		}
		if err == nil && r.code == 0 {
			err = fmt.Errorf("%w as sound", errBad)
		}
		if err == nil {
			err = r.clean(2)
		}
		if err == nil {
			err = noneBeside(out, h.name)
		}
		if err == nil {
			err = again(out, "-j1")
		}
		if err != nil {
			return fmt.Errorf("%s, byte %d/%d of it: %w", h.name, i%places, places, err)
		}
		return nil
	})
	t.Logf("H9 [written] %v", sum)

	sum = each(t, spread(n, len(besideShards)), func(i int, dir string) error {
		name := besideShards[i/places]
		out := filepath.Join(dir, "out")
		if err := os.CopyFS(out, os.DirFS(filepath.Join(base, "reference"))); err != nil {
			return err
		}
		if err := harmAt(filepath.Join(out, filepath.FromSlash(name)), share(i)); err != nil {
			return err
		}
		if err := complete(out, want, convert(out)); err != nil {
			return fmt.Errorf("%s, byte %d/%d of it: %w", name, i%places, places, err)
		}
		r, err := run("verify", "--progress", "none", out)
		if err == nil && r.code != 0 {
			err = fmt.Errorf("%s: healed, but verify says %v", name, r)
		}
		return err
	})
	t.Logf("H9 [healed] %v", sum)
}

// noneBeside says that a file has a name which it must not have got.
func noneBeside(out, name string) error {
	if _, err := os.Lstat(filepath.Join(out, filepath.FromSlash(name))); err == nil {
		return fmt.Errorf("a bad %s is %w", name, errBad)
	}
	return half(out)
}
