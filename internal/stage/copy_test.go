package stage

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/internal/checksum"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/store"
)

// A copy that was changed is not read, and the error says where it is and what to do.
func TestChangedCopy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	set, err := open(t, dir, Options{Options: input.Options{Stdin: strings.NewReader(strings.Repeat("1,2\n", 10_000))}}, "-")
	must(t, err)
	f := set.Parts[0]
	if f.Copy.Sums == nil || len(f.Copy.Content) != 16 || f.Copy.Mark != "" {
		t.Fatalf("%+v", f)
	}
	read := func() ([]byte, error) {
		file, err := os.Open(f.Path)
		must(t, err)
		r := f.Copy.Sums.Check(file)
		defer r.Close()
		return io.ReadAll(io.NewSectionReader(r, 0, f.Size))
	}
	if b, err := read(); err != nil || int64(len(b)) != f.Size {
		t.Error(len(b), err)
	}
	w, err := os.OpenFile(f.Path, os.O_WRONLY, 0)
	must(t, err)
	_, err = w.WriteAt([]byte("5"), 20_000)
	must(t, err)
	must(t, w.Close())
	b, err := read()
	if !errors.Is(err, ErrCopy) || len(b) > 20_000 || !strings.Contains(err.Error(), "cache") || !strings.Contains(err.Error(), "16384 and 32768") || !strings.Contains(err.Error(), "on another device") {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	must(t, set.Release())
}

// What lies in the directory of a tree must be what was fetched: all of it, and nothing else.
func TestTreeSums(t *testing.T) {
	t.Parallel()
	tree := input.NewTree("s3://b/train")
	at := time.Unix(1e9, 0)
	keys := []string{"a.jpg", "n01!/x", "n01/a", "n01/b", "n01/deep/c", "n010", "z/y"}
	s := &treeSums{tree: tree, dir: "cache"}
	for _, key := range keys {
		must(t, tree.Add(store.Object{URL: "s3://b/train/" + key, Size: int64(len(key)), Modified: at}))
		s.files = append(s.files, checksum.Sum64([]byte(key)))
	}
	for path, n := range map[string]int{"": 5, "n01": 3, "n01/deep": 1, "n01!": 1, "z": 1, "y": 0} {
		if err := s.CheckDir(path, n); err != nil {
			t.Errorf("%q: %v", path, err)
		}
		if err := s.CheckDir(path, n+1); !errors.Is(err, ErrCopy) {
			t.Errorf("%q with one more: %v", path, err)
		}
	}
	for _, key := range keys {
		size := int64(len(key))
		if err := errors.Join(s.CheckFile(key, []byte(key)), s.CheckListed(key, size, at), s.CheckListed(key, size, at.Add(-time.Second))); err != nil {
			t.Errorf("%s: %v", key, err)
		}
		for i, err := range []error{
			s.CheckFile(key, []byte("other")), s.CheckFile(key+"x", []byte(key)), s.CheckFile("", []byte(key)),
			s.CheckListed(key, size+1, at), s.CheckListed(key, size, at.Add(time.Minute)), s.CheckListed(key+"x", size, at),
		} {
			if !errors.Is(err, ErrCopy) {
				t.Errorf("%s, %d: %v", key, i, err)
			}
		}
	}
}
