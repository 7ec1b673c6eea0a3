package input

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/inputtest"
	"github.com/ffconvert/ffconvert/internal/test/need"
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
	nobody := inputtest.ObjectsOf()
	both := Options{AllowPipe: true, Remote: nobody}
	refused(Options{}, slices.Concat(network, programs, never)...)
	refused(Options{AllowPipe: true}, slices.Concat(network, never)...)
	refused(Options{Remote: nobody}, slices.Concat(programs, never)...)
	refused(both, never...)
	both.Directories = true
	refused(both, slices.Concat(network[:2], programs, never)...)
	if len(nobody.Asked) > 0 {
		t.Errorf("the network was asked: %q", nobody.Asked)
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
