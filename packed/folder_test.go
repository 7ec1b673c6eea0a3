package packed

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/ffconvert/ffconvert/record"
)

// unsorted is a packed folder as no writer we know makes it: names and samples in no order.
func unsorted(t testing.TB) *Folder {
	t.Helper()
	names := namesOf(dict("z", 2, "dir", dict("b", 0, "a", dict(), "c", 3), "a", 1))
	return open(t, onDisk(t, shard(t, "zero", "one", "two", "", names)))
}

func TestFS(t *testing.T) {
	t.Parallel()
	tr := small()
	delete(tr, "train/back\\slash") // a name like any other, but TestFS wants none such
	f := open(t, pack(t, tr.folder(t)))
	var files []string
	for name := range tr {
		files = append(files, strings.TrimSuffix(name, "/"))
	}
	if err := fstest.TestFS(f, files...); err != nil {
		t.Error(err)
	}
	same(t, treeOf(t, f), tr)
	if err := fstest.TestFS(unsorted(t), "z", "a", "dir/a", "dir/b", "dir/c"); err != nil {
		t.Error(err)
	}
	if err := fstest.TestFS(open(t, pack(t, t.TempDir()))); err != nil {
		t.Error(err)
	}
}

func TestFSErrors(t *testing.T) {
	t.Parallel()
	f := unsorted(t)
	_, notDir := f.ReadDir("z")
	_, isDir := f.ReadFile("dir")
	_, under := f.Stat("z/a")
	for name, c := range map[string]struct{ err, want error }{
		"directory of a file": {notDir, errAny},
		"file of a directory": {isDir, errAny},
		"below a file":        {under, fs.ErrNotExist},
	} {
		var placed *fs.PathError
		if !errors.As(c.err, &placed) || c.want != errAny && !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v", name, c.err)
		}
	}
	o, err := f.Open("z")
	must(t, err)
	must(t, o.Close())
	if _, err := o.Read(make([]byte, 1)); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
}

func TestClean(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"": ".", ".": ".", "/": ".", "//": ".", "./": ".", "..": ".", "../..": ".",
		"a": "a", "/a": "a", "a/": "a", "./a": "a", "a//b/": "a/b", "/a/./b": "a/b", "a/../b": "b", "../a": "a",
		" a": " a", "a\\b": "a\\b", "...": "...", "a/b\n": "a/b\n",
	} {
		if got := Clean(name); got != want || !fs.ValidPath(got) {
			t.Errorf("Clean(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		list, walk string // "-": not there
	}{
		{"", "z=2:3 dir/ a=1:3", "z=2:3 dir/ dir/b=0:4 dir/a/ dir/c=3:0 a=1:3"},
		{"/", "z=2:3 dir/ a=1:3", "z=2:3 dir/ dir/b=0:4 dir/a/ dir/c=3:0 a=1:3"},
		{"dir", "dir/b=0:4 dir/a/ dir/c=3:0", "dir/b=0:4 dir/a/ dir/c=3:0"},
		{"/dir/", "dir/b=0:4 dir/a/ dir/c=3:0", "dir/b=0:4 dir/a/ dir/c=3:0"},
		{"dir/a", "", ""},
		{"dir/b", "dir/b=0:4", "dir/b=0:4"},
		{"z", "z=2:3", "z=2:3"},
		{"no", "-", "-"},
		{"z/a", "-", "-"},
		{"dir/no", "-", "-"},
	} {
		f := unsorted(t)
		entries, err := f.List(c.name)
		if got := lineOf(slices.Values(entries)); err == nil && got != c.list || err != nil && (c.list != "-" || !errors.Is(err, fs.ErrNotExist)) {
			t.Errorf("List(%q) = %q, %v; want %q", c.name, got, err, c.list)
		}
		err = nil
		got := lineOf(func(yield func(Entry) bool) {
			for e, bad := range f.Walk(c.name) {
				if bad != nil {
					err = bad
				} else if !yield(e) {
					return
				}
			}
		})
		if err == nil && got != c.walk || err != nil && (c.walk != "-" || !errors.Is(err, fs.ErrNotExist)) {
			t.Errorf("Walk(%q) = %q, %v; want %q", c.name, got, err, c.walk)
		}
	}
}

// A walk can be left at any entry.
func TestWalkStops(t *testing.T) {
	t.Parallel()
	f := unsorted(t)
	for most := range 7 {
		n := 0
		for range f.Walk("") {
			if n++; n > most {
				break
			}
		}
		if n != min(most+1, 6) {
			t.Errorf("stopped after %d, had %d", most, n)
		}
	}
}

// lineOf is path=sample:size of files, path/ of directories.
func lineOf(entries func(yield func(Entry) bool)) string {
	var words []string
	for e := range entries {
		if e.IsDir() {
			words = append(words, e.Path+"/")
		} else {
			words = append(words, fmt.Sprintf("%s=%d:%d", e.Path, e.Sample, e.Size()))
		}
	}
	return strings.Join(words, " ")
}

func TestReadConcurrently(t *testing.T) {
	t.Parallel()
	f := open(t, pack(t, small().folder(t)))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for name := range maps.Keys(small()) {
				if strings.HasSuffix(name, "/") {
					continue
				}
				o, err := f.Open(name)
				if err != nil {
					t.Error(err)
					return
				}
				data, err := io.ReadAll(o)
				if err != nil || string(data) != small()[name] {
					t.Errorf("%q: %v", name, err)
				}
			}
		})
	}
	wg.Wait()
}

// The names of a hundred thousand files cost no allocation each, and neither does a look-up.
func TestFolderAllocs(t *testing.T) {
	samples := make([]string, 100_001)
	names := dict()
	for i := range 100_000 {
		names.Items = append(names.Items, dict(fmt.Sprintf("%08d", i), i).Items...)
	}
	samples[100_000] = namesOf(names)
	file := onDisk(t, shard(t, samples...))
	if n := testing.AllocsPerRun(2, func() {
		f, err := Open(file, record.Options{})
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
	}); n > 200 {
		t.Errorf("%.0f allocations to open", n)
	}
	f := open(t, file)
	if n := testing.AllocsPerRun(100, func() {
		if _, err := f.find("", "00099999"); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%.0f allocations to find", n)
	}
}

// A folder whose file is cut keeps its names and sizes; contents that are gone are an error.
func TestFolderCut(t *testing.T) {
	t.Parallel()
	path := pack(t, small().folder(t))
	f := open(t, path)
	before := f.Totals()
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	bytes := int64(0)
	for e, err := range f.Walk("") {
		if err != nil {
			t.Fatal(err)
		}
		if bytes += e.Size(); !e.IsDir() && e.Size() > 0 {
			if _, err := f.ReadFile(e.Path); !errors.Is(err, record.ErrTruncated) {
				t.Errorf("%s: %v", e.Path, err)
			}
		}
	}
	if bytes != before.Bytes || bytes == 0 {
		t.Errorf("%d bytes, want %d", bytes, before.Bytes)
	}
}
