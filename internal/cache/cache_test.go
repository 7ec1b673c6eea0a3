package cache

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/checksum"
	"github.com/ffconvert/ffconvert/internal/test/need"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func keyOf(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:])
}

func request(name string, size int64) Request {
	return Request{Keys: []string{keyOf(name)}, Size: size}
}

// openCache opens a cache. Two that are open at once are as those of two processes: the locks of
// each are those of its own open file.
func openCache(t testing.TB, dir string, quota int64) *Cache {
	t.Helper()
	c, err := Open(dir, quota, Options{})
	must(t, err)
	if c.locks == nil {
		need.Missing(t, "the system has no locks on open files")
	}
	return c
}

// put stages data under a name and returns what holds it.
func put(t testing.TB, c *Cache, name string, data []byte) (*Lease, *Copy) {
	t.Helper()
	l := reserve(t, c, request(name, int64(len(data))))[0]
	copied, err := l.Copy(t.Context())
	must(t, err)
	if copied == nil {
		_, err := l.WriteAt(data, 0)
		must(t, err)
		copied, err = l.Commit()
		must(t, err)
	}
	return l, copied
}

func reserve(t testing.TB, c *Cache, requests ...Request) []*Lease {
	t.Helper()
	leases, err := c.Reserve(t.Context(), requests)
	must(t, err)
	return leases
}

// releaseAll releases leases, and returns err or the first error of its own.
func releaseAll(leases []*Lease, err error) error {
	for _, l := range leases {
		err = cmp.Or(err, l.Release())
	}
	return err
}

// alike tells whether two caches say the same of a copy.
func alike(a, b *Copy) bool {
	return a.Path == b.Path && a.Size == b.Size && a.ModTime.Equal(b.ModTime) && a.Sums.Digest() == b.Sums.Digest()
}

// namesIn lists what is in dir beside the lock.
func namesIn(t testing.TB, dir string) (names []string) {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range all {
		if e.Name() != lockName {
			names = append(names, e.Name())
		}
	}
	return names
}

func TestNames(t *testing.T) {
	t.Parallel()
	key := keyOf("x")
	for name, ok := range map[string]bool{
		stagedName(key, 0, 0, false): true, stagedName(key, 1<<62, 1<<32-1, true): true, key + ".ABC.tmp": true,
		key: false, key + ".staged": false, key + "-1.staged": false, key + "--1-00000000.staged": false, key + "-01-00000000.staged": false,
		key + "-1-0.staged": false, key + "-1-0000000G.staged": false, key + "-1-00000000.once": false, key + ".ABC": false, "x.tmp": false,
		strings.ToUpper(key) + "-1-00000000.staged": false, key[1:] + "-1-00000000.staged": false, lockName: false, "": false,
	} {
		if e, got := parseName(name); got != ok {
			t.Errorf("%q: %v, %+v", name, got, e)
		}
	}
	e, _ := parseName(stagedName(key, 12, 0xab, true))
	if e.key != key || e.size != 12 || e.sum != 0xab || !e.once || e.temp {
		t.Errorf("%+v", e)
	}
}

func TestCopies(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "deep", "cache")
	c := openCache(t, dir, 0)
	leases := reserve(t, c, request("a", 5), request("b", -1), Request{Keys: []string{keyOf("c")}, Size: 10, Once: true}, request("d", 0))
	data := [][]byte{[]byte("hello"), bytes.Repeat([]byte("b"), 70_000), []byte("short"), nil}
	var paths []string
	for i, d := range data {
		draft := leases[i]
		for at := len(d); at > 0; at -= min(at, 1000) { // from behind
			from := at - min(at, 1000)
			_, err := draft.WriteAt(d[from:at], int64(from))
			must(t, err)
		}
		back := make([]byte, len(d))
		if n, err := draft.ReadAt(back, 0); n != len(d) || !bytes.Equal(back, d) {
			t.Errorf("%d: read %d bytes, %v", i, n, err)
		}
		copied, err := draft.Commit()
		must(t, err)
		fi, err := os.Stat(copied.Path)
		must(t, err)
		got, err := os.ReadFile(copied.Path)
		must(t, err)
		if !bytes.Equal(got, d) || copied.Size != int64(len(d)) || !copied.ModTime.Equal(fi.ModTime()) || fi.Mode() != 0o600 || filepath.Ext(copied.Path) != ".staged" {
			t.Errorf("%d: %+v, %v", i, copied, fi.Mode())
		}
		paths = append(paths, copied.Path)
	}
	must(t, releaseAll(leases, nil))
	must(t, releaseAll(leases, nil))
	must(t, c.Close())
	for i, path := range paths {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) != (i == 2) {
			t.Errorf("%d: %v", i, err)
		}
	}

	c = openCache(t, dir, 0) // a later run
	leases = reserve(t, c, request("a", 5), Request{Keys: []string{keyOf("other"), keyOf("b")}, Size: 1}, request("c", -1))
	for i, path := range []string{paths[0], paths[1], ""} {
		copied, err := leases[i].Copy(t.Context())
		must(t, err)
		if (copied == nil) != (path == "") || copied != nil && copied.Path != path {
			t.Errorf("%d: %+v", i, copied)
		}
	}
	must(t, releaseAll(leases, nil))
	if n, size, err := c.Clean(func(Entry) bool { return true }); n != 3 || size != 70_005 || err != nil {
		t.Errorf("cleaned %d, %d bytes, %v", n, size, err)
	}
	must(t, c.Close())
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("left %q, %v", namesIn(t, dir), err)
	}
}

// A kept copy that is not what its name says is never handed out.
func TestDamage(t *testing.T) {
	t.Parallel()
	data := bytes.Repeat([]byte("0123456789abcdef"), 1000)
	for _, tt := range []struct {
		name   string
		damage func(path string) error
		found  bool // by its name; reading it through tells
	}{
		{"none", func(string) error { return nil }, true},
		{"a flipped bit", func(path string) error { return edit(path, func(b []byte) []byte { b[777] ^= 4; return b }) }, true},
		{"a hole", func(path string) error { return edit(path, func(b []byte) []byte { clear(b[4096:8192]); return b }) }, true},
		{"nothing but holes", func(path string) error {
			return errors.Join(os.Truncate(path, 0), os.Truncate(path, int64(len(data))))
		}, true},
		{"cut", func(path string) error { return os.Truncate(path, 100) }, false},
		{"longer", func(path string) error { return os.Truncate(path, 100_000) }, false},
		{"others may write", func(path string) error { return os.Chmod(path, 0o666) }, false},
		{"a link", func(path string) error {
			return errors.Join(os.Rename(path, path+"x"), os.Symlink(path+"x", path))
		}, false},
		{"a directory", func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "cache")
			c := openCache(t, dir, 0)
			h, copied := put(t, c, "x", data)
			must(t, h.Release())
			must(t, c.Close())
			must(t, tt.damage(copied.Path))
			c = openCache(t, dir, 0)
			h = reserve(t, c, request("x", 1))[0]
			got, err := h.Copy(t.Context())
			switch {
			case tt.name == "none":
				if err != nil || got == nil {
					t.Error(got, err)
				}
			case tt.found:
				if _, serr := os.Lstat(copied.Path); !errors.Is(err, ErrDamaged) || got != nil || !errors.Is(serr, fs.ErrNotExist) {
					t.Error(got, err, serr)
				}
			case err != nil || got != nil:
				t.Error(got, err)
			}
			must(t, h.Release())
			if tt.name != "a directory" { // in whose place no file can be
				h, copied = put(t, c, "x", data)
				if b, err := os.ReadFile(copied.Path); err != nil || !bytes.Equal(b, data) {
					t.Error("it is not staged anew", err)
				}
				must(t, h.Release())
			}
			must(t, c.Close())
		})
	}
}

func edit(path string, change func([]byte) []byte) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, change(b), 0o600)
}

func TestRemove(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "cache")
	c := openCache(t, dir, 0)
	first, copied := put(t, c, "x", []byte("x"))
	second, again := put(t, c, "x", []byte("x"))
	if *copied != *again {
		t.Errorf("%+v, then %+v", copied, again)
	}
	must(t, first.Remove())
	if _, err := os.Stat(copied.Path); err != nil {
		t.Error("it is in use:", err)
	}
	must(t, second.Remove())
	if names := namesIn(t, dir); names != nil {
		t.Errorf("left %q", names)
	}
	must(t, c.Close())
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// Every operation fails in turn: it is reported, and nothing half done is left.
func TestFaults(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	run := func(c *Cache) error {
		leases, err := c.Reserve(t.Context(), []Request{request("old", 1), request("a", 1000), request("b", -1)})
		for _, l := range leases {
			copied, lerr := l.Copy(t.Context())
			if copied == nil && lerr == nil {
				if _, lerr = l.WriteAt(make([]byte, 900), 50); lerr == nil {
					_, lerr = l.Commit()
				}
			}
			err = errors.Join(err, lerr, l.Release())
		}
		return err
	}
	for k, done := 0, false; !done; k++ {
		dir := filepath.Join(t.TempDir(), "cache")
		c := openCache(t, dir, 3000)
		h, _ := put(t, c, "old", []byte("x"))
		must(t, h.Release())
		h, _ = put(t, c, "evicted", make([]byte, 1500))
		must(t, h.Release())
		must(t, c.Close())
		n, op := 0, ""
		c, err := Open(dir, 3000, Options{Fault: func(o string) error {
			if n++; n-1 == k {
				op = o
				return fmt.Errorf("%s: %w", o, broken)
			}
			return nil
		}})
		if err == nil {
			err = errors.Join(run(c), c.Close())
		}
		done = n <= k
		if errors.Is(err, broken) == done || done && err != nil {
			t.Errorf("operation %d, %s: %v", k, op, err)
		}
		for _, name := range namesIn(t, dir) {
			if strings.HasSuffix(name, tempSuffix) && op != "remove" {
				t.Errorf("operation %d, %s: left %s", k, op, name)
			}
		}
		c = openCache(t, dir, 3000)
		if err := run(c); err != nil {
			t.Errorf("operation %d, %s: then %v", k, op, err)
		}
		must(t, c.Close())
		if done && k < 12 {
			t.Errorf("%d operations alone", k)
		}
	}
}

// Where two processes stage the same copy, the second uses that of the first, which may be being
// read: its file stays. Where that was damaged meanwhile, reading it tells, and the next run makes it anew.
func TestBothStage(t *testing.T) {
	t.Parallel()
	for _, damaged := range []bool{false, true} {
		dir := t.TempDir()
		first, second := openCache(t, dir, 0), openCache(t, dir, 0)
		data := []byte("the same")
		slow := reserve(t, second, request("x", 8))[0]
		h, copied := put(t, first, "x", data)
		if damaged {
			must(t, edit(copied.Path, func(b []byte) []byte { b[0]++; return b }))
		}
		before, err := os.Stat(copied.Path)
		must(t, err)
		_, err = slow.Write(data)
		must(t, err)
		got, err := slow.Commit()
		must(t, err)
		after, err := os.Stat(got.Path)
		must(t, err)
		if !os.SameFile(before, after) || !damaged && !alike(got, copied) || len(namesIn(t, dir)) != 1 {
			t.Errorf("%+v, the first was %+v", got, copied)
		}
		f, err := os.Open(got.Path)
		must(t, err)
		r := got.Sums.Check(f)
		if _, err := r.ReadAt(make([]byte, 8), 0); errors.Is(err, checksum.ErrChanged) != damaged {
			t.Errorf("damaged %v: %v", damaged, err)
		}
		must(t, r.Close())
		must(t, h.Release())
		must(t, slow.Release())
		must(t, first.Close())
		must(t, second.Close())
		third := openCache(t, dir, 0)
		h = reserve(t, third, request("x", 8))[0]
		if _, err := h.Copy(t.Context()); errors.Is(err, ErrDamaged) != damaged || exists(got.Path) == damaged {
			t.Errorf("damaged %v: then %v", damaged, err)
		}
		must(t, h.Release())
		must(t, third.Close())
	}
}

// Without locks the quota holds in a process, copies are found, and nothing is evicted.
func TestNoLocks(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "cache")
	c, err := Open(dir, 100, Options{noLocks: true})
	must(t, err)
	h, copied := put(t, c, "x", make([]byte, 60))
	must(t, h.Release())
	if _, err := c.Reserve(t.Context(), []Request{request("y", 41)}); !errors.Is(err, ErrQuota) {
		t.Error(err)
	}
	leases := reserve(t, c, request("x", 1), Request{Keys: []string{keyOf("once")}, Size: 40, Once: true})
	if again, err := leases[0].Copy(t.Context()); err != nil || !alike(again, copied) {
		t.Errorf("%+v, %v", again, err)
	}
	_, err = leases[1].Write(make([]byte, 40))
	must(t, err)
	_, err = leases[1].Commit()
	must(t, err)
	must(t, leases[0].Release())
	must(t, leases[1].Remove())
	if n, _, err := c.Clean(func(Entry) bool { return true }); n != 0 || err != nil {
		t.Errorf("%d cleaned, %v; nobody can tell what is in use", n, err)
	}
	if got := kept(t, dir, "x", "once"); got != "x" || exists(filepath.Join(dir, lockName)) {
		t.Errorf("left %s", got)
	}
	must(t, reserve(t, c, request("x", 1))[0].Remove())
	must(t, c.Close())
	if exists(dir) {
		t.Errorf("left %q", namesIn(t, dir))
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func Example() {
	dir, err := os.MkdirTemp("", "cache")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	c, err := Open(dir, 1<<20, Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		leases, err := c.Reserve(context.Background(), []Request{{Keys: []string{strings.Repeat("0", 64)}, Size: 5}})
		if err != nil {
			fmt.Println(err)
			return
		}
		copied, err := leases[0].Copy(context.Background())
		if err == nil && copied == nil {
			fmt.Println("it is not there")
			leases[0].Write([]byte("bytes"))
			copied, err = leases[0].Commit()
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(copied.Size, filepath.Ext(copied.Path))
		if err := leases[0].Release(); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(c.Close())
	// Output:
	// it is not there
	// 5 .staged
	// 5 .staged
	// <nil>
}
