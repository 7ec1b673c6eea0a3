package input

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// No name leads to the network, to a program or to a shell.
func TestSecuritySchemes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ran := filepath.Join(dir, "ran")
	for _, name := range []string{
		"pipe:touch " + ran, "pipe:cat /etc/passwd", "PIPE:touch " + ran, "http://127.0.0.1:1/x.tar", "https://example.invalid/x.tar", "ftp://example.invalid/x",
		"s3://bucket/x.tar", "gs://bucket/x.tar", "az://c/x.tar", "ais://b/x.tar", "ssh://host/x", "data:,x", "javascript:x", "file+ssh://x/y",
	} {
		_, err := findNames(t, dir, []string{name}, Options{})
		if !errors.Is(err, ErrScheme) && !errors.Is(err, ErrNotFound) || err == nil {
			t.Errorf("%q: %v", name, err)
		}
		if strings.Contains(name, "://") && !errors.Is(err, ErrScheme) || strings.HasPrefix(name, "pipe:") && !errors.Is(err, ErrScheme) {
			t.Errorf("%q is taken for a file: %v", name, err)
		}
	}
	// What the environment makes of a name gets no more than the name itself.
	env := func(key string) (string, bool) {
		v, ok := map[string]string{"GOPEN_REWRITE": "x=pipe:touch " + ran, "WDS_WHERE": "pipe:touch " + ran}[key]
		return v, ok
	}
	for _, name := range []string{"x.tar", "${WHERE}"} {
		if _, err := findNames(t, dir, []string{name}, Options{LookupEnv: env}); !errors.Is(err, ErrScheme) {
			t.Errorf("%q by the environment: %v", name, err)
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
