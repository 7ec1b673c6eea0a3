package packed

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/fuzz"
	"github.com/ffconvert/ffconvert/internal/pickle"
)

// FuzzTree: no last sample makes parseNames panic or allocate more than it warrants; the
// names that it accepts are local paths, lead to every sample once, and survive being
// written and read again.
func FuzzTree(f *testing.F) {
	for _, c := range hostile() {
		if len(c.last) < 10_000 {
			f.Add(c.last, uint16(2))
		}
	}
	f.Add(namesOf(dict()), uint16(0))
	f.Add(namesOf(dict("b", 1, "a", 0)), uint16(2))
	f.Add(namesOf(dict("a", 0, "d", dict("e", dict(), "f", 1))), uint16(2))
	f.Add(prefix+"\x80\x02ccollections\nOrderedDict\nq\x00)Rq\x01(X\x01\x00\x00\x00aq\x02K\x00X\x01\x00\x00\x00bq\x03h\x00)Rq\x04u.", uint16(1))
	f.Fuzz(func(t *testing.T, sample string, files uint16) {
		var root *pickle.Dict
		var dirs int64
		var err error
		fuzz.WantAllocated(t, 1<<20+500*len(sample), func() { root, dirs, err = parseNames(sample, int64(files)) })
		if err != nil {
			if !errors.Is(err, errMalformed) && !errors.Is(err, ErrNotPacked) {
				t.Fatal(err)
			}
			if strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Fatalf("refused with %q", err)
			}
			return
		}
		seen := make(map[int64]bool)
		paths := make(map[string]bool)
		for name, it := range walk(root, ".") {
			if !fs.ValidPath(name) || !filepath.IsLocal(name) || len(name) > maxPath || paths[name] {
				t.Fatalf("name %q", name)
			}
			paths[name] = true
			if found, err := (&Folder{root: root}).find("", name); err != nil || found != it {
				t.Fatalf("%q is not found: %v", name, err)
			}
			if it.Dict == nil {
				if seen[it.Int] || it.Int < 0 || it.Int >= int64(files) {
					t.Fatalf("%q is sample %d of %d", name, it.Int, files)
				}
				seen[it.Int] = true
			} else {
				dirs--
			}
		}
		if len(seen) != int(files) || dirs != 0 {
			t.Fatalf("%d names for %d files, %d directories too many", len(seen), files, dirs)
		}
		again, _, err := parseNames(namesOf(root), int64(files))
		if err != nil || !equal(again, root) {
			t.Fatalf("written and read again: %v", err)
		}
	})
}

func equal(a, b *pickle.Dict) bool {
	if len(a.Items) != len(b.Items) {
		return false
	}
	for i, x := range a.Items {
		y := b.Items[i]
		if x.Key != y.Key || x.Int != y.Int || (x.Dict == nil) != (y.Dict == nil) || x.Dict != nil && !equal(x.Dict, y.Dict) {
			return false
		}
	}
	return true
}
