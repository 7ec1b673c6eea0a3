package cache

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// grown makes a tree of a draft of its own, with a file in it.
func grown(t testing.TB, c *Cache, name string, size int64) (h *Lease, path string, err error) {
	t.Helper()
	leases, err := c.Reserve(t.Context(), []Request{request(name, size)})
	if err != nil {
		return nil, "", err
	}
	h = leases[0]
	root, path, err := h.Tree()
	if err != nil {
		return h, "", err
	}
	defer root.Close()
	must(t, root.MkdirAll("a/b", 0o700))
	must(t, root.WriteFile("a/b/c", []byte("text"), 0o600))
	must(t, root.Symlink("../../..", "out")) // not that anybody makes one
	return h, path, nil
}

func TestTree(t *testing.T) {
	t.Parallel()
	for _, size := range []int64{0, 60} {
		dir := filepath.Join(t.TempDir(), "cache")
		c := openCache(t, dir, 100)
		h, path, err := grown(t, c, "x", size)
		must(t, err)
		fi, err := os.Stat(path)
		if err != nil || fi.Mode() != fs.ModeDir|0o700 || filepath.Dir(path) != dir {
			t.Errorf("%s: %v, %v", path, fi, err)
		}
		entries, err := c.Entries()
		if err != nil || len(entries) != 1 || entries[0].Size != size || !entries[0].InUse || !entries[0].Unfinished {
			t.Errorf("%+v, %v", entries, err)
		}
		other := openCache(t, dir, 100)
		if _, err := other.Reserve(t.Context(), []Request{request("y", 101)}); !errors.Is(err, ErrQuota) {
			t.Error(err)
		}
		must(t, other.Close())
		if got, err := os.ReadFile(filepath.Join(path, "a/b/c")); err != nil || string(got) != "text" {
			t.Errorf("another one has opened the cache: %q, %v", got, err)
		}
		must(t, h.Release())
		must(t, c.Close())
		if exists(dir) {
			t.Errorf("left %q", namesIn(t, dir))
		}
	}
}

// What a killed run leaves goes when the cache is opened, cleaned, or needs the room; and no more
// than that.
func TestTreeDebris(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		remove func(c *Cache) error
	}{
		{"opened", func(c *Cache) error { return c.removeDebris() }},
		{"cleaned", func(c *Cache) error {
			_, _, err := c.Clean(func(Entry) bool { return true })
			return err
		}},
		{"evicted", func(c *Cache) error {
			leases, err := c.Reserve(t.Context(), []Request{request("y", 90)})
			return releaseAll(leases, err)
		}},
	} {
		base := t.TempDir()
		dir := filepath.Join(base, "cache")
		must(t, os.WriteFile(filepath.Join(base, "precious"), nil, 0o600))
		c := openCache(t, dir, 100)
		dead := openCache(t, dir, 100)
		_, path, err := grown(t, dead, "x", 60)
		must(t, err)
		must(t, dead.shut()) // as the kernel does
		must(t, row.remove(c))
		if exists(path) || !exists(filepath.Join(base, "precious")) {
			t.Errorf("%s: %q is left", row.name, namesIn(t, base))
		}
		if got := kept(t, dir, "y"); row.name != "evicted" && got != "" {
			t.Errorf("%s: left %q", row.name, got)
		}
		must(t, c.Close())
	}
}

// A directory whose file is gone is removed, another one is not.
func TestStrayTrees(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{keyOf("x") + ".R.tree", keyOf("y") + ".R.tree.d", "mine.tree"} {
		must(t, os.MkdirAll(filepath.Join(dir, name, "d"), 0o700))
	}
	must(t, os.WriteFile(filepath.Join(dir, keyOf("z")+".R.tree"), nil, 0o600))
	c := openCache(t, dir, 0)
	must(t, c.Close())
	if got := namesIn(t, dir); len(got) != 3 || exists(filepath.Join(dir, keyOf("x")+".R.tree")) {
		t.Errorf("left %q", got)
	}
}

// Whatever fails is reported, and nothing is left once it no longer does.
func TestTreeFaults(t *testing.T) {
	t.Parallel()
	for at := 0; ; at++ {
		dir := filepath.Join(t.TempDir(), "cache")
		n, failed := 0, ""
		c, err := Open(dir, 1000, Options{Fault: func(op string) error {
			n++
			if n-1 == at {
				failed = op
				return fmt.Errorf("%s: %w", op, syscall.EIO)
			}
			return nil
		}})
		if err == nil {
			var h *Lease
			h, _, err = grown(t, c, "x", 60)
			if h != nil {
				err = errors.Join(err, h.Release())
			}
			err = errors.Join(err, c.Close())
		}
		if failed == "" {
			must(t, err)
			if at < 5 {
				t.Errorf("%d operations", at)
			}
			return
		}
		// The first try to remove a tree may fail: there is a second one.
		if err == nil && failed != "remove" || err != nil && !errors.Is(err, syscall.EIO) {
			t.Errorf("%s, operation %d: %v", failed, at, err)
		}
		again := openCache(t, dir, 1000)
		must(t, again.Close())
		if exists(dir) {
			t.Errorf("%s, operation %d: left %q", failed, at, namesIn(t, dir))
		}
	}
}
