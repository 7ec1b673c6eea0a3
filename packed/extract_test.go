package packed

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"

	"github.com/ffconvert/ffconvert/record"
	"github.com/ffconvert/ffconvert/verify"
)

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	f := open(t, pack(t, small().folder(t)))
	there := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(t.TempDir(), link))
	for name, dst := range map[string]string{
		"new":           filepath.Join(t.TempDir(), "new"),
		"new, slash":    filepath.Join(t.TempDir(), "new") + "/",
		"empty":         there,
		"link to empty": link,
	} {
		if _, err := f.Extract(t.Context(), dst, ExtractOptions{}); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		same(t, treeOf(t, os.DirFS(dst)), small())
		if got := list(t, filepath.Dir(filepath.Clean(dst))); slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, ".ffconvert") }) {
			t.Errorf("%s: left %q", name, got)
		}
		// Packed again it is the same file.
		if string(readFile(t, pack(t, dst))) != string(readFile(t, f.path)) {
			t.Errorf("%s: packed again it has other bytes", name)
		}
	}
	if info, err := os.Stat(there + "/a.txt"); err != nil || info.Mode()&^0o644 != 0 || info.Mode()&0o600 != 0o600 {
		t.Error(info, err)
	}
	if info, err := os.Stat(there + "/val"); err != nil || info.Mode().Perm()&^0o755 != 0 || info.Mode().Perm()&0o700 != 0o700 {
		t.Error(info, err)
	}
}

// Random trees, packed, unpacked, and packed again.
func TestRandomTrees(t *testing.T) {
	t.Parallel()
	need.Time(t, "many trees")
	dirs := []string{"a", "B", ".c", "é", "\U0001f600", "a b", "deep"}
	n := 20
	if os.Getenv("FFCONVERT_FAULTS") != "" {
		n = 500
	}
	for seed := range n {
		r := rand.New(rand.NewPCG(uint64(seed), 0))
		tr := tree{}
		for i := range r.IntN(60) {
			name := ""
			for range r.IntN(6) {
				name += dirs[r.IntN(len(dirs))] + "/"
			}
			tr[fmt.Sprintf("%s%x.%d", name, r.IntN(1000), i)] = strings.Repeat(string(rune(r.IntN(2000))), r.IntN(3000)*r.IntN(2))
			if r.IntN(5) == 0 {
				tr[fmt.Sprintf("%sempty%d/", name, i)] = ""
			}
		}
		f := open(t, pack(t, tr.folder(t)))
		same(t, treeOf(t, f), tr)
		if seed < 5 || n > 20 { // each unpacking syncs the whole file system
			dst := filepath.Join(t.TempDir(), "new")
			_, err := f.Extract(t.Context(), dst, ExtractOptions{})
			must(t, err)
			same(t, treeOf(t, os.DirFS(dst)), tr)
		}
	}
	if !t.Failed() {
		t.Logf("F2 [packed] cases=%d undetected=0 lost=0", n)
	}
}

func TestExtractRefuses(t *testing.T) {
	t.Parallel()
	f := open(t, pack(t, small().folder(t)))
	for _, c := range []struct {
		name string
		make func(t *testing.T, dst string)
		want error
	}{
		{"a file", func(t *testing.T, dst string) { must(t, os.WriteFile(dst, nil, 0o600)) }, errNotEmpty},
		{"not empty", func(t *testing.T, dst string) { must(t, os.MkdirAll(dst+"/x", 0o755)) }, errNotEmpty},
		{"not empty, hidden", func(t *testing.T, dst string) { must(t, os.MkdirAll(dst+"/.x", 0o755)) }, errNotEmpty},
		{"a link to nothing", func(t *testing.T, dst string) { must(t, os.Symlink("nowhere", dst)) }, errNotEmpty},
		{"no parent", func(t *testing.T, dst string) { must(t, os.Remove(filepath.Dir(dst))) }, fs.ErrNotExist},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			base := filepath.Join(t.TempDir(), "base")
			must(t, os.Mkdir(base, 0o755))
			dst := base + "/dst"
			c.make(t, dst)
			before := found(t, filepath.Dir(base))
			_, err := f.Extract(t.Context(), dst, ExtractOptions{})
			if !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
			if got := found(t, filepath.Dir(base)); !slices.Equal(got, before) {
				t.Errorf("left %q, before %q", got, before)
			}
		})
	}
}

// found lists all below a directory.
func found(t testing.TB, dir string) (names []string) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		names = append(names, name)
		return err
	}))
	return names
}

// A sample that is damaged, or a name that cannot be made, ends the unpacking, and nothing
// is left of it.
func TestExtractFails(t *testing.T) {
	t.Parallel()
	damaged := shard(t, "first", "second", namesOf(dict("a", 0, "d", dict("b", 1))))
	damaged[strings.Index(string(damaged), "second")] ^= 1
	for _, c := range []struct {
		name string
		data []byte
		want error
		why  string
	}{
		{"a damaged sample", damaged, record.ErrChecksum, `"d/b"`},
		{"a name too long", shard(t, "first", "second", namesOf(dict("a", 0, longName+"n", 1))), errAny, "nnn"},
	} {
		for _, exists := range []bool{false, true} {
			base := t.TempDir()
			dst := base
			if !exists {
				dst = filepath.Join(base, "dst")
			}
			_, err := open(t, onDisk(t, c.data)).Extract(t.Context(), dst, ExtractOptions{})
			if err == nil || c.want != errAny && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.why) {
				t.Errorf("%s: %v", c.name, err)
			}
			if got := list(t, base); len(got) > 0 {
				t.Errorf("%s: left %q", c.name, got)
			}
		}
	}
}

// What another process puts into the directory meanwhile is not overwritten.
func TestExtractRace(t *testing.T) {
	t.Parallel()
	f := open(t, pack(t, tree{"a": "ours", "b": "ours"}.folder(t)))
	base := t.TempDir()
	for dst, theirs := range map[string]string{base + "/new": base + "/new/b", base + "/empty": base + "/empty/b"} {
		if filepath.Base(dst) == "empty" {
			must(t, os.Mkdir(dst, 0o755))
		}
		_, err := f.Extract(t.Context(), dst, ExtractOptions{Progress: calls(func() {
			must(t, os.MkdirAll(dst, 0o755))
			must(t, os.WriteFile(theirs, []byte("theirs"), 0o600))
		})})
		if !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: %v", dst, err)
		}
		same(t, treeOf(t, os.DirFS(dst)), tree{"b": "theirs"})
	}
}

// A rereading is told when files begin to be re-read.
type rereading func()

func (r rereading) Start(phase string, _ int64) {
	if phase == "verify" {
		r()
	}
}
func (rereading) Add(int64, int64) {}

// A file that is not what was written, once it was synced, ends the unpacking, and nothing is left.
func TestExtractReread(t *testing.T) {
	t.Parallel()
	f := open(t, pack(t, small().folder(t)))
	for _, harm := range []func(file string) error{
		func(file string) error { return os.WriteFile(file, []byte("other"), 0o644) },
		func(file string) error { return os.Truncate(file, 1<<20) },
		os.Remove,
	} {
		base := t.TempDir()
		_, err := f.Extract(t.Context(), filepath.Join(base, "dst"), ExtractOptions{Progress: rereading(func() {
			var files []string
			must(t, filepath.WalkDir(base, func(name string, d fs.DirEntry, err error) error {
				if err == nil && d.Type().IsRegular() {
					files = append(files, name)
				}
				return err
			}))
			must(t, harm(files[len(files)/2]))
		})})
		if !errors.Is(err, verify.ErrCorrupt) {
			t.Errorf("error %v", err)
		}
		if got := list(t, base); len(got) > 0 {
			t.Errorf("left %q", got)
		}
	}
	from, err := f.Extract(t.Context(), filepath.Join(t.TempDir(), "dst"), ExtractOptions{})
	if err != nil || from == "" {
		t.Errorf("from %q, %v", from, err)
	}
}
