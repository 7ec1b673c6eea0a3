package stage

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/test/need"
)

// What a pipe: writes may be compressed; it is refused whole where the command fails.
func TestOpenPipe(t *testing.T) {
	t.Parallel()
	need.Shell(t)
	dir := t.TempDir()
	data := smallTar(t)
	write(t, dir, "a.tar", data)
	write(t, dir, "a.tar.zst", compress(t, "zstd", data))
	opts := Options{Options: input.Options{AllowPipe: true, LookupEnv: noEnv}, CacheDir: filepath.Join(dir, "cache")}
	for _, name := range []string{"a.tar", "a.tar.zst"} {
		found, err := input.Find(t.Context(), []string{"pipe:cat " + dir + "/" + name}, opts.Options)
		must(t, err)
		set, err := Open(t.Context(), found, opts)
		must(t, err)
		got, err := os.ReadFile(set.Parts[0].Path)
		if err != nil || string(got) != string(data) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
		must(t, set.Release())
	}
	found, err := input.Find(t.Context(), []string{`pipe:sh -c 'cat ` + dir + `/a.tar; exit 3'`}, opts.Options)
	must(t, err)
	if _, err := Open(t.Context(), found, opts); !errors.Is(err, input.ErrCommand) || !strings.Contains(err.Error(), "exit status 3") {
		t.Error(err)
	}
	if _, err := os.Stat(opts.CacheDir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("left %q", left(t, dir))
	}
}
