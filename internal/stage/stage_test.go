package stage

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/internal/input"
)

// open finds and opens the arguments, which name files in dir, with a cache there.
func open(t testing.TB, dir string, opts Options, args ...string) (*Set, error) {
	t.Helper()
	if opts.CacheDir == "" {
		opts.CacheDir = filepath.Join(dir, "cache")
	}
	opts.LookupEnv = noEnv
	for i, a := range args {
		if a != "-" {
			args[i] = filepath.Join(dir, a)
		}
	}
	found, err := input.Find(t.Context(), args, opts.Options)
	must(t, err)
	return Open(t.Context(), found, opts)
}

func write(t testing.TB, dir, name string, data []byte) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(dir, name), data, 0o644))
}

// left lists what is in dir's cache, its file lock left out; nil when there is no cache.
func left(t testing.TB, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, "cache"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != "lock" {
			names = append(names, e.Name())
		}
	}
	return names
}

func TestOpen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data := smallTar(t)
	args := []string{"plain.tar"}
	write(t, dir, "plain.tar", data)
	for _, c := range compressions {
		write(t, dir, c+".tar", compress(t, c, data)) // the name says nothing
		args = append(args, c+".tar")
	}
	write(t, dir, "empty.tar.gz", nil)
	args = append(args, "empty.tar.gz", "-")
	var read atomic.Int64
	opts := Options{Options: input.Options{Stdin: bytes.NewReader(compress(t, "zstd", data))}, Progress: func(_ string, n int64) { read.Add(n) }}
	set, err := open(t, dir, opts, args...)
	must(t, err)
	var sources int64
	for i, f := range set.Parts {
		if f.Name != args[i] {
			t.Errorf("%d: name %s, want %s", i, f.Name, args[i])
		}
		want := data
		compression := strings.TrimSuffix(filepath.Base(f.Name), ".tar")
		switch compression {
		case "plain":
			compression = ""
		case "-":
			compression = "zstd"
		case "empty.tar.gz":
			compression, want = "", nil
		}
		got, err := os.ReadFile(f.Path)
		must(t, err)
		fi, err := os.Stat(f.Path)
		must(t, err)
		if !bytes.Equal(got, want) || f.Size != int64(len(want)) || !f.ModTime.Equal(fi.ModTime()) ||
			(f.Copy != nil) != (compression != "") || (f.Copy != nil) == (f.Path == f.Name) {
			t.Errorf("%+v", f)
		}
		if f.Copy != nil {
			sources += int64(len(compress(t, compression, want)))
			if fi.Mode() != 0o600 || filepath.Ext(f.Path) != ".staged" {
				t.Errorf("%s: %v", f.Path, fi.Mode())
			}
		}
	}
	if read.Load() != sources {
		t.Errorf("progress of %d bytes, want %d", read.Load(), sources)
	}
	if fi, err := os.Stat(filepath.Join(dir, "cache")); err != nil || fi.Mode().Perm() != 0o700 {
		t.Errorf("cache: %v, %v", fi.Mode(), err)
	}
}

func TestOpenNeedsNoCache(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "plain.tar", smallTar(t))
	set, err := open(t, dir, Options{CacheDir: "/proc/no/such"}, "plain.tar")
	must(t, err)
	must(t, set.Release())
}

func TestReuse(t *testing.T) {
	t.Parallel()
	data := smallTar(t)
	for _, tt := range []struct {
		name   string
		reused bool
		change func(t *testing.T, dir, staged string)
	}{
		{"as it was", true, func(*testing.T, string, string) {}},
		{"source touched", false, func(t *testing.T, dir, _ string) {
			must(t, os.Chtimes(filepath.Join(dir, "x.gz"), time.Time{}, time.Unix(1, 0)))
		}},
		{"source rewritten", false, func(t *testing.T, dir, _ string) {
			write(t, dir, "x.gz", append(compress(t, "gzip", data), 0))
		}},
		{"copy cut by a power failure", false, func(t *testing.T, _, staged string) {
			must(t, os.Truncate(staged, 100))
		}},
		{"copy empty", false, func(t *testing.T, _, staged string) {
			must(t, os.Truncate(staged, 0))
		}},
		{"copy others may write", false, func(t *testing.T, _, staged string) {
			must(t, os.Chmod(staged, 0o666))
		}},
		{"copy a link", false, func(t *testing.T, dir, staged string) {
			must(t, os.Rename(staged, filepath.Join(dir, "elsewhere")))
			must(t, os.Symlink(filepath.Join(dir, "elsewhere"), staged))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir, "x.gz", compress(t, "gzip", data))
			first, err := open(t, dir, Options{}, "x.gz")
			must(t, err)
			tt.change(t, dir, first.Parts[0].Path)
			var read int64
			second, err := open(t, dir, Options{Workers: 1, Progress: func(_ string, n int64) { read += n }}, "x.gz")
			must(t, err)
			got, err := os.ReadFile(second.Parts[0].Path)
			must(t, err)
			source, err := os.Stat(filepath.Join(dir, "x.gz"))
			must(t, err)
			reused := second.Parts[0].ModTime.Equal(first.Parts[0].ModTime)
			if !bytes.Equal(got, data) || reused != tt.reused || read != source.Size() {
				t.Fatalf("%d bytes, reused %v, %d read", len(got), reused, read)
			}
			before := len(left(t, dir))
			must(t, second.Release())
			if len(left(t, dir)) != before {
				t.Error("a copy that the next run can use was removed")
			}
		})
	}
}

func TestStdinIsNeverReused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for range 2 {
		set, err := open(t, dir, Options{Options: input.Options{Stdin: strings.NewReader("the same")}}, "-")
		must(t, err)
		if set.Parts[0].Size != 8 {
			t.Fatalf("%+v", set)
		}
	}
	if n := len(left(t, dir)); n != 2 {
		t.Fatalf("%d copies", n)
	}
}

func TestCleanupRemovesStdin(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "x.gz", compress(t, "gzip", smallTar(t)))
	set, err := open(t, dir, Options{Options: input.Options{Stdin: strings.NewReader("once")}}, "x.gz", "-")
	must(t, err)
	must(t, set.Release())
	must(t, set.Release())
	if _, err := os.Stat(set.Parts[0].Path); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(set.Parts[1].Path); !os.IsNotExist(err) {
		t.Errorf("the copy of standard input is left: %v", err)
	}
}

func TestRepeatsAreStagedOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "x.gz", compress(t, "gzip", smallTar(t)))
	set, err := open(t, dir, Options{Options: input.Options{AllowRepeats: true}}, "x.gz", "x.gz")
	must(t, err)
	if len(set.Parts) != 2 || set.Parts[0] != set.Parts[1] || len(left(t, dir)) != 1 {
		t.Fatalf("%+v", set)
	}
}

// What killed runs have left unfinished is removed; what is not of the cache stays.
func TestOrphansAreRemoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cacheDir := filepath.Join(dir, "cache")
	must(t, os.Mkdir(cacheDir, 0o700))
	key := strings.Repeat("0a", 32)
	for _, name := range []string{key + ".ABC.tmp", key + "-1-0000000000000000.once.staged", "stranger.tmp"} {
		must(t, os.WriteFile(filepath.Join(cacheDir, name), []byte("x"), 0o600))
	}
	set, err := open(t, dir, Options{Options: input.Options{Stdin: strings.NewReader("x")}}, "-")
	must(t, err)
	must(t, set.Release())
	if got := strings.Join(left(t, dir), " "); got != "stranger.tmp" {
		t.Fatalf("left %s", got)
	}
}
