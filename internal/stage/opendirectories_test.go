package stage

import (
	"path/filepath"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/test/need"
)

// A command among directories is run all the same.
func TestOpenDirectoryAndCommand(t *testing.T) {
	t.Parallel()
	need.Shell(t)
	root := tree(t, "d/x")
	opts := Options{Options: input.Options{Directories: true, LookupEnv: noEnv}, CacheDir: filepath.Join(root, "cache")}
	found, err := input.Find(t.Context(), []string{root + "/d"}, opts.Options)
	must(t, err)
	set, err := Open(t.Context(), append(found, input.FromCommand(shell(root, "printf abc"))), opts)
	must(t, err)
	if set.Parts[0].Path != root+"/d" || set.Parts[0].Copy != nil || set.Parts[1].Copy == nil || set.Parts[1].Size != 3 {
		t.Fatalf("%+v", set.Parts)
	}
	must(t, set.Release())
}

// Directories are handed on unopened, and need no cache.
func TestOpenDirectories(t *testing.T) {
	t.Parallel()
	root := tree(t, "p q/x", "two-0/x")
	opts := Options{Options: input.Options{Directories: true, LookupEnv: noEnv}, CacheDir: "/proc/no/such"}
	found, err := input.Find(t.Context(), []string{root + "/two-0/", "file://" + root + "/p%20q/", "/"}, opts.Options)
	must(t, err)
	set, err := Open(t.Context(), found, opts)
	must(t, err)
	for i, path := range []string{root + "/two-0", root + "/p q", "/"} {
		if f := set.Parts[i]; f != (converters.Part{Name: found[i].Name, Path: path}) {
			t.Errorf("%+v", f)
		}
	}
	must(t, set.Release())
}
