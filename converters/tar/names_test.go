package tar

import (
	"math/rand/v2"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"

	"github.com/ffconvert/ffconvert/converters/internal/scan"
	"github.com/ffconvert/ffconvert/internal/test/python"
)

func TestSplitName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, key, suffix string // no key: no match
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
		{"x.y//.a", "x.y//", "a"},
		{"a.b/c/.d", "a.b/c/", "d"},
		{"a\nb/c.d", "a\nb/c", "d"},
		{"a\nb/.d", "a\nb/", "d"},
		{"a\n/x.y/b.c", "", ""},
		{"x.y/\n/b.c", "x.y/\n/b", "c"},
		{"a.b\n", "a", "b\n"},
		{"grüß.漢字", "grüß", "漢字"},
		{"/a.b", "/a", "b"},
		{"/.b", "/", "b"},
		{"a b.c d", "a b", "c d"},
		{".hidden", "", ""},
		{"a", "", ""},
		{"a.b/c", "", ""},
		{"..a", "", ""},
		{"x.y/.DS_Store", "", ""},
		{"", "", ""},
		{".", "", ""},
		{"a.b/", "", ""},
	} {
		key, suffix, ok := splitName([]byte(c.name))
		if string(key) != c.key || string(suffix) != c.suffix || ok != (c.key != "") {
			t.Errorf("%q: %q, %q, %t, want %q, %q", c.name, key, suffix, ok, c.key, c.suffix)
		}
	}
}

func TestIsMetaName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"__x__": true, "__": true, "___": true, "____": true, "__x__/a.jpg": true, "____/a": true, "__x__\n": true,
		"__/a": false, "___/a": false, "__x": false, "x__": false, "a/__x__": false, "__x__.jpg": false, "_x_": false, "": false,
		"__x__\ny": false, "___\n": false,
	} {
		if got := isMetaName([]byte(name)); got != want {
			t.Errorf("%q: %t", name, got)
		}
	}
}

// randomName has what decides in a name, often.
func randomName(rnd *rand.Rand) string {
	pieces := [...]string{"a", "b", ".", ".", "/", "/", "\n", "__", "_", "x", "ü", "漢", " ", "JPG", "É", "\xff"}
	var name string
	for range 1 + rnd.IntN(10) {
		name += pieces[rnd.IntN(len(pieces))]
	}
	return name
}

func TestNamesAgainstPython(t *testing.T) {
	t.Parallel()
	need.Time(t, "thousands of names, in Python too")
	py := python.Start(t, pythonNames+`
def reply(data):
    name = data.decode("utf-8", "surrogateescape")
    key, suffix = split(name)
    hexed = lambda s: None if s is None else s.encode("utf-8", "surrogateescape").decode("latin-1")
    return [hexed(key), hexed(suffix and suffix.lower()), meta(name)]`)
	rnd := rand.New(rand.NewPCG(1, 2))
	latin1 := func(b []byte) string {
		r := make([]rune, len(b))
		for i, c := range b {
			r[i] = rune(c)
		}
		return string(r)
	}
	for range 5000 {
		name := []byte(randomName(rnd))
		var want [3]any
		py.Ask(name, &want)
		key, suffix, ok := splitName(name)
		if ok != (want[0] != nil) || isMetaName(name) != want[2] {
			t.Fatalf("%q: %q, %q, %t, metadata %t; Python has %q", name, key, suffix, ok, isMetaName(name), want)
		}
		if !ok || checkName(name) != nil {
			continue
		}
		field, err := new(scan.FieldNames).Of(suffix)
		if err != nil || latin1(key) != want[0] || latin1([]byte(field)) != want[1] {
			t.Fatalf("%q: %q, %q, %v; Python has %q", name, key, field, err, want)
		}
	}
}
