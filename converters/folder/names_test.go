package folder

import (
	"regexp"
	"strings"
	"testing"
)

// cut divides a path as listing.fields does.
func cut(path string) (dir, base []byte) {
	at := strings.LastIndexByte(path, '/') + 1
	return []byte(path[:at]), []byte(path[at:])
}

// The table of FORMATS, that of WebDataset's names.
func TestSplitName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path, key, suffix string // no key: no match
	}{
		{"a.jpg", "a", "jpg"},
		{"a.seg.png", "a", "seg.png"},
		{"x.y/b.c.d", "x.y/b", "c.d"},
		{"./a.jpg", "./a", "jpg"},
		{"../a.jpg", "../a", "jpg"},
		{"a.", "a", ""},
		{"a..b", "a", ".b"},
		{"dir/.hidden", "dir/", "hidden"},
		{"./d/._a.jpg", "./d/", "_a.jpg"},
		{"x.y/z/.a", "x.y/z/", "a"},
		{"grüß.漢字", "grüß", "漢字"},
		{".hidden", "", ""},
		{"a", "", ""},
		{"a.b/c", "", ""},
		{"..a", "", ""},
		{"x.y/.DS_Store", "", ""},
	} {
		dir, base := cut(c.path)
		dot := splitName(dir, base)
		if c.key == "" {
			if dot != -1 {
				t.Errorf("%q: a dot at %d", c.path, dot)
			}
			continue
		}
		if dot < 0 || string(dir)+string(base[:dot]) != c.key || string(base[dot+1:]) != c.suffix {
			t.Errorf("%q: dot %d, want %q, %q", c.path, dot, c.key, c.suffix)
		}
	}
}

// webdataset's expression, by Go's engine.
var nameExpression = regexp.MustCompile(`^((?:.*/|)[^.]+)[.]([^/]*)$`)

func FuzzSplitName(f *testing.F) {
	for _, path := range []string{"a.jpg", "x.y/b.c.d", "x.y/.a", "x.y/z/.a", "a/b.c/.d.e", "..", ".a", "a/..b", "a//.b"} {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, path string) {
		dir, base := cut(path)
		if strings.Contains(path, "\n") || strings.Contains("/"+path, "//") || len(base) == 0 {
			return // nothing that a folder has
		}
		dot, want := splitName(dir, base), nameExpression.FindStringSubmatch(path)
		switch {
		case (dot < 0) != (want == nil):
			t.Fatalf("%q: dot %d, want %q", path, dot, want)
		case want != nil && (string(dir)+string(base[:dot]) != want[1] || string(base[dot+1:]) != want[2]):
			t.Fatalf("%q: dot %d, want %q", path, dot, want)
		}
	})
}

func TestLastDot(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{
		"a.jpg": 1, "a.tar.gz": 5, "a": -1, ".bashrc": -1, ".a.b": 2, "..": -1, "..a": -1, "a.": -1, "a.b.": -1, "a..": -1, "a..b": 2,
	} {
		if got := lastDot([]byte(name)); got != want {
			t.Errorf("%q: %d, want %d", name, got, want)
		}
	}
}

func TestSelects(t *testing.T) {
	t.Parallel()
	o := Options{Ext: []string{"jpg", ".Png", "tar.gz"}}
	for name, want := range map[string]bool{
		"a.jpg": true, "a.JPG": true, "a.png": true, "a.tar.gz": true, ".jpg": true, "a.seg.png": true,
		"jpg": false, "ajpg": false, "a.gz": false, "a.jpg.txt": false, "": false, "a": false, "a.jpeg": false,
	} {
		if got := o.selects(name); got != want {
			t.Errorf("%q: %t", name, got)
		}
	}
	if !(&Options{}).selects("a") || (&Options{Ext: []string{}}).selects("a.b") {
		t.Error("nil selects all, an empty list nothing")
	}
}
