package stage

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

	"github.com/ffconvert/ffconvert/internal/input"
)

// A compressed file inside a compressed file is bytes: one layer is taken off, and counted.
func TestSecurityNestedBomb(t *testing.T) {
	t.Parallel()
	inner := compress(t, "zstd", make([]byte, 64<<20))
	dir := t.TempDir()
	write(t, dir, "bomb", compress(t, "gzip", inner))
	set, err := open(t, dir, Options{Quota: 1 << 20}, "bomb")
	if err != nil {
		t.Fatal(err)
	}
	if f := set.Parts[0]; f.Size != int64(len(inner)) {
		t.Errorf("%d bytes, want the inner file's %d", f.Size, len(inner))
	}
	must(t, set.Release())
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
	for most, want := range map[int64]error{0: nil, 8 << 20: nil, 8<<20 - 1: input.ErrMalformed, 1: input.ErrMalformed} {
		dir := t.TempDir()
		write(t, dir, "x", b.Bytes())
		_, err := open(t, dir, Options{MaxWindow: most}, "x")
		if !errors.Is(err, want) || (err == nil) != (want == nil) || err != nil && !strings.Contains(err.Error(), "option max-window") {
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
	set, err := open(t, dir, Options{}, "a")
	must(t, err)
	for path, want := range map[string]fs.FileMode{filepath.Join(dir, "cache"): fs.ModeDir | 0o700, set.Parts[0].Path: 0o600} {
		if st, err := os.Stat(path); err != nil || st.Mode() != want {
			t.Errorf("%s: %v, %v, want %v", path, st.Mode(), err, want)
		}
	}
	// A copy that another could have written is none, and a link in its place stays unread.
	must(t, os.Chmod(set.Parts[0].Path, 0o666))
	must(t, os.WriteFile(set.Parts[0].Path, []byte("forged"), 0o666))
	again, err := open(t, dir, Options{}, "a")
	must(t, err)
	if data, err := os.ReadFile(again.Parts[0].Path); err != nil || string(data) != "secret" {
		t.Errorf("staged %q, %v", data, err)
	}
	must(t, os.Remove(again.Parts[0].Path))
	write(t, dir, "forged", []byte("forged"))
	must(t, os.Symlink("../forged", again.Parts[0].Path))
	if again, err = open(t, dir, Options{}, "a"); err == nil {
		data, _ := os.ReadFile(again.Parts[0].Path)
		if string(data) != "secret" {
			t.Errorf("staged %q through a link", data)
		}
	}
	if data, err := os.ReadFile(filepath.Join(dir, "forged")); err != nil || string(data) != "forged" {
		t.Errorf("a link was written through: %q, %v", data, err)
	}
}
