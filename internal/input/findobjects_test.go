package input

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/store"
	"github.com/ffconvert/ffconvert/internal/test/inputtest"
)

// A listing that lacks objects loses none that the directory names, and of others it is said what was found.
func TestIncompleteListing(t *testing.T) {
	t.Parallel()
	f := inputtest.ObjectsOf()
	for i := range 6 {
		f.Objects[fmt.Sprintf("s3://b/set/%d.ffr", i)] = "x"
		f.Objects[fmt.Sprintf("s3://b/bare/%d.ffr", i)] = "x"
	}
	f.Objects["s3://b/set/names"] = "0.ffr 1.ffr 2.ffr 3.ffr 4.ffr 5.ffr"
	f.Hidden = map[string]bool{"s3://b/set/names": true, "s3://b/set/0.ffr": true, "s3://b/set/3.ffr": true, "s3://b/set/5.ffr": true, "s3://b/bare/2.ffr": true, "s3://b/bare/4.ffr": true}
	errMissing := errors.New("not there")
	contents := func(read func(string) ([]byte, string, error)) (*Contents, error) {
		text, _, err := read("names")
		if errors.Is(err, ErrNotFound) {
			return nil, nil
		}
		return &Contents{strings.Fields(string(text)), errMissing, "mend"}, err
	}
	shards := func(name string) bool { return strings.HasSuffix(name, ".ffr") }
	whole := "s3://b/set/0.ffr s3://b/set/1.ffr s3://b/set/2.ffr s3://b/set/3.ffr s3://b/set/4.ffr s3://b/set/5.ffr"
	const bare = "s3://b/bare/0.ffr s3://b/bare/1.ffr s3://b/bare/3.ffr s3://b/bare/5.ffr"
	for _, tt := range []struct {
		arg, want, notes string
		contents         func(func(string) ([]byte, string, error)) (*Contents, error)
	}{
		{"s3://b/set/", whole, "", contents},
		{"s3://b/set/*.ffr", whole, "", contents},
		{"s3://b/set/[0-3].ffr", "s3://b/set/0.ffr s3://b/set/1.ffr s3://b/set/2.ffr s3://b/set/3.ffr", "", contents},
		{"s3://b/s*t/", whole, "", contents},
		{"s3://b/set", whole, "", contents}, // as the commands that look into a dataset take it
		{"s3://b/bare/", bare, "s3://b/bare/: 4 bare shards, 0.ffr to 5.ffr; no manifest there says whether that is all", contents},
		{"s3://b/bare/*.ffr", bare, "s3://b/bare/*.ffr: 4 objects, 0.ffr to 5.ffr", nil},
		{"s3://b/bare/{0..5}.ffr", "s3://b/bare/0.ffr s3://b/bare/1.ffr s3://b/bare/2.ffr s3://b/bare/3.ffr s3://b/bare/4.ffr s3://b/bare/5.ffr", "", nil},
	} {
		var notes []string
		got, err := findRemote(t, f, Options{Match: shards, Contents: tt.contents, Note: func(name, text string) { notes = append(notes, name+": "+text) }}, tt.arg)
		if err != nil || strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %q, %v", tt.arg, got, err)
		}
		if strings.Join(notes, "|") != tt.notes {
			t.Errorf("%s: %q", tt.arg, notes)
		}
	}
	for _, arg := range []string{"s3://b/bare", "s3://b/se", "s3://b/set/0", "s3://b/s*"} { // no file there says what it must hold
		if got, err := findRemote(t, f, Options{Match: shards, Contents: contents}, arg); !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrNoMatch) {
			t.Errorf("%s: %q, %v", arg, got, err)
		}
	}
	if got, err := findRemote(t, f, Options{Match: shards}, "s3://b/set"); !errors.Is(err, ErrNotFound) {
		t.Errorf("a prefix, where directories do not say what they hold: %q, %v", got, err)
	}
	f.Fails["s3://b/set/names"] = &store.Error{URL: "s3://b/set/names", Kind: store.ErrDenied}
	if _, err := findRemote(t, f, Options{Match: shards, Contents: contents}, "s3://b/set"); !errors.Is(err, store.ErrDenied) {
		t.Errorf("what a directory holds may not be read: %v", err)
	}
	delete(f.Fails, "s3://b/set/names")
	f.Objects["s3://b/set"] = "an object of that name"
	if got, err := findRemote(t, f, Options{Match: shards, Contents: contents}, "s3://b/set"); err != nil || !slices.Equal(got, []string{"s3://b/set"}) {
		t.Errorf("an object of the name: %q, %v", got, err)
	}
	delete(f.Objects, "s3://b/set")
	all := slices.Clone(strings.Fields(whole))
	for _, url := range all { // a listing without any of them
		f.Hidden[url] = true
	}
	if got, err := findRemote(t, f, Options{Match: shards, Contents: contents}, "s3://b/set/"); err != nil || !slices.Equal(got, all) {
		t.Errorf("%q, %v", got, err)
	}
	delete(f.Objects, "s3://b/set/4.ffr")
	if _, err := findRemote(t, f, Options{Match: shards, Contents: contents}, "s3://b/set/"); !errors.Is(err, errMissing) || !strings.Contains(err.Error(), "s3://b/set/4.ffr: not there (mend s3://b/set)") {
		t.Errorf("a shard that is missing: %v", err)
	}
	f.Objects["s3://b/set/4.ffr"] = "x" // one fault at a time: the names are asked for side by side, and either error may be first
	f.Fails["s3://b/set/3.ffr"] = &store.Error{URL: "s3://b/set/3.ffr", Kind: store.ErrDenied}
	if _, err := findRemote(t, f, Options{Match: shards, Contents: contents}, "s3://b/set/"); !errors.Is(err, store.ErrDenied) {
		t.Errorf("a shard that may not be read: %v", err)
	}
}

// A local directory that lacks a file which it says it holds is refused, whatever else it has.
func TestIncompleteDirectory(t *testing.T) {
	t.Parallel()
	root := tree(t, "set/0.ffr", "set/1.ffr", "bare/0.ffr", "pipe/0.ffr")
	must(t, os.WriteFile(filepath.Join(root, "set/names"), []byte("0.ffr 1.ffr"), 0o644))
	must(t, os.Mkdir(filepath.Join(root, "pipe/names"), 0o755)) // neither a file nor missing
	errMissing := errors.New("not there")
	opts := Options{LookupEnv: noEnv, Match: func(name string) bool { return strings.HasSuffix(name, ".ffr") }, Contents: func(read func(string) ([]byte, string, error)) (*Contents, error) {
		text, _, err := read("names")
		if errors.Is(err, ErrNotFound) {
			return nil, nil
		}
		return &Contents{strings.Fields(string(text)), errMissing, "mend"}, err
	}}
	for _, dir := range []string{"set", "bare"} {
		if _, err := Find(t.Context(), []string{root + "/" + dir}, opts); err != nil {
			t.Errorf("%s: %v", dir, err)
		}
	}
	if _, err := Find(t.Context(), []string{root + "/pipe"}, opts); !errors.Is(err, ErrNotRegular) {
		t.Errorf("a directory in the place of the list: %v", err)
	}
	must(t, os.Remove(filepath.Join(root, "set/1.ffr")))
	if _, err := Find(t.Context(), []string{root + "/set/"}, opts); !errors.Is(err, errMissing) || !strings.Contains(err.Error(), "/set/1.ffr: not there (mend "+root+"/set)") {
		t.Errorf("a file that is missing: %v", err)
	}
}
