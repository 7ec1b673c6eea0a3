package packed

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/pickle"
	"github.com/ffconvert/ffconvert/record"
)

// A tree is what a directory holds: path to content. A path that ends in / is an empty
// directory.
type tree map[string]string

// small has all kinds of names.
func small() tree {
	return tree{
		".hidden":             "h",
		".git/config":         "[core]\n",
		"a.txt":               "hello",
		"a/b/c/d/e/f/deep":    "down here",
		"empty.bin":           "",
		"empty dir/":          "",
		"nothing/in/here/":    "",
		"train/日本語/ネコ.jpg":    "\xff\xd8\x00",
		"train/\U0001f600":    "emoji",
		"train/z\nnew line":   strings.Repeat("0123456789", 1000),
		"train/back\\slash":   "x",
		"val/-rf":             "dash",
		"val/" + longName:     "long",
		"\u00e9/\u0065\u0301": "two normal forms",
	}
}

var longName = strings.Repeat("n", 255)

// make writes the tree into a directory that exists.
func (tr tree) make(t testing.TB, dir string) {
	t.Helper()
	for name, content := range tr {
		full := filepath.Join(dir, filepath.FromSlash(name))
		var err error
		if strings.HasSuffix(name, "/") {
			err = os.MkdirAll(full, 0o755)
		} else if err = os.MkdirAll(filepath.Dir(full), 0o755); err == nil {
			err = os.WriteFile(full, []byte(content), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// folder makes the tree in a new directory.
func (tr tree) folder(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	tr.make(t, dir)
	return dir
}

// treeOf reads a file system back: a directory, or a Folder.
func treeOf(t testing.TB, fsys fs.FS) tree {
	t.Helper()
	tr := tree{}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.IsDir() {
			data, err := fs.ReadFile(fsys, name)
			tr[name] = string(data)
			return err
		}
		entries, err := fs.ReadDir(fsys, name)
		if len(entries) == 0 && name != "." {
			tr[name+"/"] = ""
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// same fails the test if two trees differ.
func same(t testing.TB, got, want tree) {
	t.Helper()
	if maps.Equal(got, want) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if g, ok := got[name]; !ok || g != want[name] {
			t.Errorf("%q: there %t, %.40q, want %.40q", name, ok, g, want[name])
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%q should not be there", name)
		}
	}
}

// pack writes a folder and returns the file.
func pack(t testing.TB, dir string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "out.ffr")
	if _, err := Write(t.Context(), dir, file, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	return file
}

// open opens a packed folder until the end of the test.
func open(t testing.TB, file string) *Folder {
	t.Helper()
	f, err := Open(file, record.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// memory is a file in memory.
type memory struct{ b []byte }

func (m *memory) WriteAt(p []byte, off int64) (int, error) {
	if n := int(off) + len(p); n > len(m.b) {
		m.b = append(m.b, make([]byte, n-len(m.b))...)
	}
	return copy(m.b[off:], p), nil
}

// shard is a sound FFRecord file of these samples.
func shard(t testing.TB, samples ...string) []byte {
	t.Helper()
	var m memory
	w, err := record.NewWriter(&m, int64(len(samples)))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range samples {
		if _, err := w.Append([]byte(s)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return m.b
}

// onDisk is a file with those bytes.
func onDisk(t testing.TB, data []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "x.ffr")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// dict makes names of keys and values: ints, or []any of a dict below.
func dict(pairs ...any) *pickle.Dict {
	d := &pickle.Dict{}
	for i := 0; i < len(pairs); i += 2 {
		it := pickle.Item{Key: pairs[i].(string)}
		switch v := pairs[i+1].(type) {
		case int:
			it.Int = int64(v)
		case *pickle.Dict:
			it.Dict = v
		}
		d.Items = append(d.Items, it)
	}
	return d
}

// namesOf is the last sample for these names.
func namesOf(d *pickle.Dict) string { return string(appendNames(nil, d)) }

// list is what a directory holds, hidden files too.
func list(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func readFile(t testing.TB, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
