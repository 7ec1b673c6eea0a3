package input

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/ffconvert/ffconvert/internal/need"
)

// No name leads to the network or to a program, unless the options let it: each of both by
// its own one. No name leads to a shell, and none is run by being found.
func TestSecuritySchemes(t *testing.T) {
	t.Parallel()
	need.Shell(t)
	dir := t.TempDir()
	ran := filepath.Join(dir, "ran")
	list := filepath.Join(dir, "list")
	must(t, os.WriteFile(list, []byte("# names\npipe:touch "+ran+"\n"), 0o644))
	network := []string{"http://127.0.0.1:1/x.tar", "https://example.invalid/x.tar", "s3://bucket/x.tar", "gs://bucket/x.tar", "ais://b/x.tar", "S3:x", "gs://b", "s3://b/*"}
	programs := []string{"pipe:touch " + ran, "pipe:cat /etc/passwd", "PIPE:touch " + ran, "pipe://touch " + ran}
	never := []string{"ftp://example.invalid/x", "az://c/x.tar", "ssh://host/x", "file+ssh://x/y", "hdfs:x", "hf://x"}
	refused := func(opts Options, names ...string) {
		t.Helper()
		for _, name := range names {
			if _, err := findNames(t, dir, []string{name}, opts); !errors.Is(err, ErrScheme) {
				t.Errorf("%q: %v", name, err)
			}
		}
	}
	nobody := objectsOf()
	both := Options{AllowPipe: true, Remote: nobody}
	refused(Options{}, slices.Concat(network, programs, never)...)
	refused(Options{AllowPipe: true}, slices.Concat(network, never)...)
	refused(Options{Remote: nobody}, slices.Concat(programs, never)...)
	refused(both, never...)
	both.Directories = true
	refused(both, slices.Concat(network[:2], programs, never)...)
	if len(nobody.asked) > 0 {
		t.Errorf("the network was asked: %q", nobody.asked)
	}
	for _, name := range []string{"data:,x", "javascript:x"} {
		if _, err := findNames(t, dir, []string{name}, Options{}); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q: %v", name, err)
		}
	}
	// What the environment, a rule or a list makes of a name gets no more than the name itself.
	env := func(key string) (string, bool) {
		v, ok := map[string]string{"GOPEN_REWRITE": "x=pipe:touch " + ran, "WDS_WHERE": "pipe:touch " + ran}[key]
		return v, ok
	}
	refused(Options{LookupEnv: env, Remote: nobody}, "x.tar", "${WHERE}")
	refused(Options{Rewrite: []string{"x=pipe:touch " + ran}, Remote: nobody}, "x.tar")
	if _, err := Find(t.Context(), []string{"@" + list}, Options{LookupEnv: noEnv, Remote: nobody}); !errors.Is(err, ErrScheme) {
		t.Errorf("by a list: %v", err)
	}
	for _, args := range [][]string{{"pipe:touch " + ran}, {"@" + list}} {
		if _, err := Find(t.Context(), args, Options{LookupEnv: noEnv, AllowPipe: true}); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(ran); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a name was run: %v", err)
	}
}

// A compressed file inside a compressed file is bytes: one layer is taken off, and counted.
func TestSecurityNestedBomb(t *testing.T) {
	t.Parallel()
	inner := compress(t, "zstd", make([]byte, 64<<20))
	dir := t.TempDir()
	write(t, dir, "bomb", compress(t, "gzip", inner))
	set, err := stage(t, dir, Options{Quota: 1 << 20}, "bomb")
	if err != nil {
		t.Fatal(err)
	}
	if f := set.Files[0]; f.Size != int64(len(inner)) {
		t.Errorf("%d bytes, want the inner file's %d", f.Size, len(inner))
	}
	must(t, set.Cleanup())
}

// A window is as large as MaxWindow says, and no larger.
func TestSecurityWindow(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(8<<20))
	must(t, err)
	for i := range 3 {
		_, err := w.Write(bytes.Repeat([]byte{byte(i), 1, 2}, 1<<20))
		must(t, err)
	}
	must(t, w.Close())
	for most, want := range map[int64]error{0: nil, 8 << 20: nil, 8<<20 - 1: ErrMalformed, 1: ErrMalformed} {
		dir := t.TempDir()
		write(t, dir, "x", b.Bytes())
		_, err := stage(t, dir, Options{MaxWindow: most}, "x")
		if !errors.Is(err, want) || (err == nil) != (want == nil) || err != nil && !strings.Contains(err.Error(), "--max-window") {
			t.Errorf("at most %d: %v", most, err)
		}
	}
}

// What is staged only its owner reads, and no name in the cache is taken that is there.
func TestSecurityCache(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("it has no such modes")
	}
	dir := t.TempDir()
	write(t, dir, "a", compress(t, "gzip", []byte("secret")))
	set, err := stage(t, dir, Options{}, "a")
	must(t, err)
	for path, want := range map[string]fs.FileMode{filepath.Join(dir, "cache"): fs.ModeDir | 0o700, set.Files[0].Path: 0o600} {
		if st, err := os.Stat(path); err != nil || st.Mode() != want {
			t.Errorf("%s: %v, %v, want %v", path, st.Mode(), err, want)
		}
	}
	// A copy that another could have written is none, and a link in its place stays unread.
	must(t, os.Chmod(set.Files[0].Path, 0o666))
	must(t, os.WriteFile(set.Files[0].Path, []byte("forged"), 0o666))
	again, err := stage(t, dir, Options{}, "a")
	must(t, err)
	if data, err := os.ReadFile(again.Files[0].Path); err != nil || string(data) != "secret" {
		t.Errorf("staged %q, %v", data, err)
	}
	must(t, os.Remove(again.Files[0].Path))
	write(t, dir, "forged", []byte("forged"))
	must(t, os.Symlink("../forged", again.Files[0].Path))
	if again, err = stage(t, dir, Options{}, "a"); err == nil {
		data, _ := os.ReadFile(again.Files[0].Path)
		if string(data) != "secret" {
			t.Errorf("staged %q through a link", data)
		}
	}
	if data, err := os.ReadFile(filepath.Join(dir, "forged")); err != nil || string(data) != "forged" {
		t.Errorf("a link was written through: %q, %v", data, err)
	}
}
