package input

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/store"
	"github.com/ffconvert/ffconvert/internal/test/inputtest"
)

// directoryOptions are those of a format whose inputs are directories.
func directoryOptions(r store.Store) Options {
	return Options{Directories: true, LookupEnv: noEnv, Remote: r}
}

func TestFindTreeRefuses(t *testing.T) {
	t.Parallel()
	r := inputtest.ObjectsOf("s3://b/d/x", "s3://b/d/y", "s3://b/f.tar", "https://h/d/x")
	for _, tt := range []struct {
		args []string
		want error
		says string
	}{
		{[]string{"s3://b/none"}, ErrNotFound, "s3://b/none: no such file (no object lies below it"},
		{[]string{"s3://b/none", "s3://b/f.tar/"}, ErrNotFound, "2 names in all, also s3://b/f.tar/"},
		{[]string{"s3://b/d*/"}, errPattern, "{train,val}"},
		{[]string{"https://h/d/"}, ErrScheme, "https: gives no lists"},
		{[]string{"az://b/d/"}, ErrScheme, "local directory"},
		{[]string{"s3://b/d", "s3://b/d//"}, errRepeated, "s3://b/d: given twice"},
	} {
		_, err := Find(t.Context(), tt.args, directoryOptions(r))
		if e := (*place.Error)(nil); !errors.Is(err, tt.want) || !errors.As(err, &e) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%q: %v", tt.args, err)
		}
	}
	opts := directoryOptions(r)
	opts.MaxNames = 1
	if _, err := Find(t.Context(), []string{"s3://b/d"}, opts); !errors.Is(err, errPattern) || !strings.Contains(err.Error(), "option max-names") {
		t.Error(err)
	}
}

// A list is a file where directories are inputs, too.
func TestTreesOfAList(t *testing.T) {
	t.Parallel()
	r := inputtest.ObjectsOf("s3://b/d/x", "https://h/list")
	r.Objects["https://h/list"] = "# trees\ns3://b/d/\n"
	found, err := Find(t.Context(), []string{"@https://h/list"}, directoryOptions(r))
	if err != nil || len(found) != 1 || found[0].Tree == nil {
		t.Errorf("%+v, %v", found, err)
	}
}

// Keys are the choice of whoever has written to the bucket.
func TestSecurityTreeKeys(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("n", 255)
	for _, tt := range []struct {
		name string
		keys []string // below s3://b/d/, in order
		says string   // "": taken
	}{
		{"plain", []string{"a", "a.b", "a0/b", "b/...", "b/..c", "c/ d "}, ""},
		{"longest name", []string{long + "/" + long}, ""},
		{"above", []string{"../x"}, "leads elsewhere"},
		{"above, further down", []string{"a/b/../../../x"}, "leads elsewhere"},
		{"above at the end", []string{"a/.."}, "leads elsewhere"},
		{"only above", []string{".."}, "leads elsewhere"},
		{"here", []string{"./x"}, "leads elsewhere"},
		{"here, further down", []string{"a/./x"}, "leads elsewhere"},
		{"absolute", []string{"/etc/passwd"}, "no letters"},
		{"two slashes", []string{"a//b"}, "no letters"},
		{"a slash at the end, and bytes", []string{"a/"}, "no letters"},
		{"zero byte", []string{"a\x00b"}, "a zero byte"},
		{"long name", []string{"a/n" + long}, "255 bytes"},
		{"long path", []string{strings.Repeat("abc/", 512) + "x"}, "2048 bytes"},
		{"file and directory", []string{"a", "a/b"}, "cannot be below s3://b/d/a, which is a file, too"},
		{"file and directory, others between", []string{"a", "a-b", "a.jpg", "a/b"}, "s3://b/d/a/b: its key cannot be the path of a file: a file cannot be below s3://b/d/a,"},
		{"file and directory, further down", []string{"x/a", "x/a!/1", "x/a/b/c/d"}, "s3://b/d/x/a/b/c/d: "},
		{"file within a directory", []string{"a/b", "a/b/c"}, "below s3://b/d/a/b,"},
		{"twice", []string{"a", "a"}, "lists it after"},
		{"out of order", []string{"b", "a/c"}, "lists it after s3://b/d/b"},
		{"a terminal's", []string{"a", "a/\x1b[2J\n"}, "s3://b/d/a/%1B[2J%0A: "},
	} {
		var err error
		tree := NewTree("s3://b/d")
		for _, key := range tt.keys {
			if err == nil {
				err = tree.Add(store.Object{URL: "s3://b/d/" + key, Size: 1})
			}
		}
		if e := (*place.Error)(nil); (err == nil) != (tt.says == "") || err != nil && (!errors.As(err, &e) || !strings.Contains(err.Error(), tt.says)) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	for _, o := range []store.Object{
		{URL: "s3://b/other/x"}, {URL: "s3://b/d/x", Size: -1}, {URL: "s3://b/d/x", Size: math.MaxInt64}, {URL: "s3://b/d/x", Size: math.MaxInt64 / 4},
	} {
		if err := NewTree("s3://b/d").Add(o); !errors.Is(err, ErrMalformed) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// Whatever a list holds, nothing is made out of the directory, and nothing where a key is refused.
func FuzzTreeKeys(f *testing.F) {
	for _, seed := range [][2]string{{"a", "a/b"}, {"../x", "y"}, {"a//b", "a/./b"}, {"x/", "x/y"}, {"a\\b", "c:d"}, {"con", "nul/x"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, one, two string) {
		tree := NewTree("s3://b/d")
		for _, key := range []string{one, two} {
			if err := tree.Add(store.Object{URL: "s3://b/d/" + key, Size: 1}); err != nil {
				return
			}
		}
		outer := t.TempDir()
		base := filepath.Join(outer, "base")
		must(t, os.Mkdir(base, 0o700))
		for _, key := range []string{one, two} {
			path := filepath.Join(base, filepath.FromSlash(key))
			if rel, err := filepath.Rel(base, path); err != nil || rel != filepath.FromSlash(key) {
				t.Fatalf("%q becomes %q", key, rel)
			}
			if os.MkdirAll(filepath.Dir(path), 0o700) != nil || os.WriteFile(path, nil, 0o600) != nil {
				t.Fatalf("%q and %q: no files", one, two)
			}
		}
		if entries, err := os.ReadDir(outer); err != nil || len(entries) != 1 {
			t.Fatalf("%v, %v", entries, err)
		}
	})
}

// Files have the same time in every run, and another one when the object has.
func TestTreeTimes(t *testing.T) {
	t.Parallel()
	at := time.Date(2024, 5, 6, 7, 8, 9, 123_000_000, time.UTC)
	timeOf := func(o store.Object) time.Time {
		tree := NewTree("s3://b")
		o.URL = "s3://b/x"
		must(t, tree.Add(o))
		if got := tree.Object(0); got.Version != o.Version || got.Size != o.Size || got.URL != o.URL {
			t.Errorf("%+v became %+v", o, got)
		}
		return tree.ModTime(0)
	}
	v, w := timeOf(store.Object{Modified: at, Version: "v"}), timeOf(store.Object{Modified: at, Version: "w"})
	if second := at.Truncate(time.Second); !v.Truncate(time.Second).Equal(second) || !w.Truncate(time.Second).Equal(second) || v.Equal(w) {
		t.Errorf("%v, %v", v, w)
	}
	one, two := timeOf(store.Object{Version: "1"}), timeOf(store.Object{Version: "2"})
	if one.Equal(two) || !one.Equal(timeOf(store.Object{Version: "1"})) || one.Year() < 1970 || one.Year() > 2038 {
		t.Errorf("%v, %v", one, two)
	}
	for _, odd := range []time.Time{{}, time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), time.Unix(-1<<40, 0)} {
		if got := timeOf(store.Object{Version: "1", Modified: odd}); !got.Equal(one) {
			t.Errorf("%v: %v", odd, got)
		}
	}
}
