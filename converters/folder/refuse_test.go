package folder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/converters"
)

// wantPlaced wants an error of a kind, on one line, that names part, entry and remedy.
func wantPlaced(t *testing.T, err, want error, part, entry, hint string) {
	t.Helper()
	var placed *converters.Error
	switch {
	case !errors.Is(err, want):
		t.Fatalf("error %v, want %v", err, want)
	case !errors.As(err, &placed) || placed.Where != part || placed.Entry != entry:
		t.Errorf("error %v, want it to name %q and %q", err, part, entry)
	case !strings.Contains(placed.Hint, hint) || (hint == "") != (placed.Hint == ""):
		t.Errorf("hint %q, want %q", placed.Hint, hint)
	case strings.Contains(err.Error(), "\n"):
		t.Errorf("more than one line: %q", err)
	}
}

func TestRefuseFiles(t *testing.T) {
	t.Parallel()
	fifo := func(t *testing.T, root string) {
		if err := syscall.Mkfifo(filepath.Join(root, "c/fifo.jpg"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name    string
		tree    map[string]string
		make    func(t *testing.T, root string)
		opts    Options
		want    error
		entry   string
		hint    string
		relaxed func(o *Options) // with it the part is accepted
	}{
		{name: "two suffixes", tree: map[string]string{"c/a.jpg": "", "c/a.m/x": "", "c/a.png": ""}, want: converters.ErrDuplicate, entry: "c/a.png", hint: "option group",
			relaxed: func(o *Options) { o.Group = true }},
		{name: "two suffixes, kept", tree: map[string]string{"c/a.jpg": "", "c/a.png": ""}, want: converters.ErrDuplicate, entry: "c/a.png", hint: "option on-duplicate-key keep",
			relaxed: func(o *Options) { o.KeepDuplicates = true }},
		{name: "no suffix and one", tree: map[string]string{"c/a": "", "c/a-b": "", "c/a.png": ""}, opts: Options{Group: true}, want: converters.ErrDuplicate, entry: "c/a.png", hint: "option on-duplicate-key keep",
			relaxed: func(o *Options) { o.KeepDuplicates = true }},
		{name: "one suffix in two cases", tree: map[string]string{"c/a.JPG": "", "c/a.jpg": ""}, opts: Options{Group: true, KeepDuplicates: true}, want: converters.ErrDuplicate, entry: "c/a.jpg"},
		{name: "one suffix of many", tree: func() map[string]string {
			tree := map[string]string{"c/a.x20": "", "c/a.X20": ""}
			for i := range 100 {
				tree[fmt.Sprintf("c/a.x%d", i)] = ""
			}
			return tree
		}(), opts: Options{Group: true}, want: converters.ErrDuplicate, entry: "c/a.x20"},
		{name: "a class of its own", tree: map[string]string{"c/a.cls": "7"}, want: converters.ErrDuplicate, entry: "c/a.cls",
			relaxed: func(o *Options) { o.Flat = true }},
		{name: "a class of its own, grouped", tree: map[string]string{"c/a.jpg": "", "c/a.CLS": "7"}, opts: Options{Group: true}, want: converters.ErrDuplicate, entry: "c/a.CLS",
			relaxed: func(o *Options) { o.Ext = []string{"jpg"} }},
		{name: "the field of the key", tree: map[string]string{"c/a.__KEY__": ""}, want: converters.ErrUnsupported, entry: "c/a.__KEY__"},
		{name: "a suffix that has no sure lower case", tree: map[string]string{"c/a.Σ": ""}, want: converters.ErrUnsupported, entry: "c/a.Σ"},
		{name: "not UTF-8", tree: map[string]string{"c/\xff.jpg": ""}, want: converters.ErrUnsupported, entry: "c/\xff.jpg", hint: "rename"},
		{name: "a newline", tree: map[string]string{"c/a\nb.jpg": ""}, want: converters.ErrUnsupported, entry: "c/a\nb.jpg", hint: "rename"},
		{name: "a directory that is not UTF-8", tree: map[string]string{"c/\xff/a.jpg": ""}, want: converters.ErrUnsupported, entry: "c/\xff/", hint: "rename"},
		{name: "too large", tree: map[string]string{"c/a.jpg": "0123456789"}, opts: Options{MaxSample: 521}, want: converters.ErrLimit, entry: "c/a.jpg", hint: "option max-sample-size",
			relaxed: func(o *Options) { o.MaxSample++ }},
		{name: "too large together", tree: map[string]string{"c/a.jpg": "0123456789", "c/a.json": "{}"}, opts: Options{Group: true, MaxSample: 1035}, want: converters.ErrLimit, entry: "c/a.json", hint: "option max-sample-size",
			relaxed: func(o *Options) { o.MaxSample++ }},
		{name: "a link to nothing", tree: map[string]string{"c/a.jpg": "-> b.jpg"}, want: converters.ErrMalformed, entry: "c/a.jpg"},
		{name: "a link to itself", tree: map[string]string{"c/a.jpg": "-> a.jpg"}, want: converters.ErrMalformed, entry: "c/a.jpg"},
		{name: "a link to its directory", tree: map[string]string{"c/d/e": "-> .", "c/x": ""}, want: converters.ErrMalformed, entry: "c/d/e/"},
		{name: "a link to the root", tree: map[string]string{"c/d/e": "-> ../..", "c/x": ""}, want: converters.ErrMalformed, entry: "c/d/e/"},
		{name: "links in a ring", tree: map[string]string{"c/d/e": "-> ../../x", "x/f": "-> ../c/d"}, opts: Options{Flat: true}, want: converters.ErrDuplicate, entry: "c/d/e/f/e/"},
		{name: "links to one directory", tree: map[string]string{"c/d": "-> ../x", "c/e": "-> ../x", "x/f": ""}, want: converters.ErrDuplicate, entry: "c/e/"},
		{name: "a file outside", tree: map[string]string{"../f": "x", "c/a.jpg": "-> ../../f"}, want: converters.ErrUnsupported, entry: "c/a.jpg", hint: "option follow-outside",
			relaxed: func(o *Options) { o.FollowOutside = true }},
		{name: "a file outside, by way of another link", tree: map[string]string{"../f": "x", "x/l": "-> ../../f", "c/a.jpg": "-> ../x/l"}, want: converters.ErrUnsupported, entry: "c/a.jpg", hint: "option follow-outside",
			relaxed: func(o *Options) { o.FollowOutside = true }},
		{name: "a directory outside", tree: map[string]string{"../f/a.jpg": "x", "c/d": "-> ../../f"}, want: converters.ErrUnsupported, entry: "c/d/", hint: "option follow-outside",
			relaxed: func(o *Options) { o.FollowOutside = true }},
		{name: "a directory that begins as the root does", tree: map[string]string{"../root2/a.jpg": "x", "c/d": "-> ../../root2"}, want: converters.ErrUnsupported, entry: "c/d/", hint: "option follow-outside"},
		{name: "a fifo", tree: map[string]string{"c/a.jpg": ""}, make: fifo, want: converters.ErrUnsupported, entry: "c/fifo.jpg",
			relaxed: func(o *Options) { o.Ext = []string{"txt"} }},
		{name: "a link to a fifo", tree: map[string]string{"c/a.jpg": "-> fifo.jpg"}, make: fifo, want: converters.ErrUnsupported, entry: "c/a.jpg"},
		{name: "a link to a device", tree: map[string]string{"c/a.jpg": "-> /dev/null"}, opts: Options{FollowOutside: true}, want: converters.ErrUnsupported, entry: "c/a.jpg"},
		{name: "a socket", tree: map[string]string{"c/a.jpg": ""}, make: func(t *testing.T, root string) {
			if err := syscall.Mknod(filepath.Join(root, "c/socket"), syscall.S_IFSOCK|0o600, 0); err != nil {
				t.Fatal(err)
			}
		}, want: converters.ErrUnsupported, entry: "c/socket"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root := build(t, c.tree)
			if c.make != nil {
				c.make(t, root)
			}
			src := mustOpen(t, c.opts, root)
			p := slices.IndexFunc(src.Parts(), func(p converters.Part) bool { return p.Name == "data/c" })
			check := func(err error) {
				t.Helper()
				wantPlaced(t, err, c.want, "data/c", c.entry, c.hint)
			}
			for span, err := range src.Index(t.Context(), p) {
				if err == nil {
					t.Fatalf("%q comes before the error", span.Name)
				}
				check(err)
			}
			for _, err := range src.Read(t.Context(), converters.Run{Part: p, Count: 1}) {
				check(err)
			}
			if c.relaxed != nil {
				c.relaxed(&c.opts)
				if _, err := indexed(t, mustOpen(t, c.opts, root)); err != nil {
					t.Errorf("relaxed: %v", err)
				}
			}
		})
	}
}

func TestRefuseOpen(t *testing.T) {
	t.Parallel()
	tree := map[string]string{"train/a/1.jpg": "1", "train/b/2.jpg": "2", "file": "", "../outside/x/y": "z", "out": "-> ../outside", "self": "-> ."}
	for _, c := range []struct {
		name  string
		path  string // below the root
		opts  Options
		want  error
		entry string
		hint  string
	}{
		{name: "no root", path: "missing", want: fs.ErrNotExist},
		{name: "a file", path: "file", want: converters.ErrUnsupported},
		{name: "no split", opts: Options{Splits: []string{"train", "val"}}, want: fs.ErrNotExist, entry: "val", hint: "option split"},
		{name: "a split that is a file", opts: Options{Splits: []string{"file"}}, want: converters.ErrUnsupported, entry: "file", hint: "option split"},
		{name: "a split that is a path", opts: Options{Splits: []string{"train/a"}}, want: converters.ErrUnsupported, entry: "train/a", hint: "option split"},
		{name: "a split above", opts: Options{Splits: []string{".."}}, want: converters.ErrUnsupported, entry: "..", hint: "option split"},
		{name: "no name of a split", opts: Options{Splits: []string{""}}, want: converters.ErrUnsupported, hint: "option split"},
		{name: "a split twice", opts: Options{Splits: []string{"train", "train"}}, want: converters.ErrDuplicate, entry: "train", hint: "option split"},
		{name: "a split outside", opts: Options{Splits: []string{"out"}}, want: converters.ErrUnsupported, entry: "out", hint: "option follow-outside"},
		{name: "a class that was not named", path: "train", opts: Options{Classes: []string{"a"}}, want: converters.ErrUnsupported, hint: "option classes"},
		{name: "a class outside", want: converters.ErrUnsupported, entry: "out/", hint: "option follow-outside"},
		{name: "a class that is the root", opts: Options{FollowOutside: true}, want: converters.ErrMalformed, entry: "self/"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			part := "data"
			if c.name == "a class that was not named" {
				part = "data/b"
			}
			_, err := open(t, c.opts, filepath.Join(build(t, tree), c.path))
			wantPlaced(t, err, c.want, part, c.entry, c.hint)
		})
	}
	if _, err := open(t, Options{Classes: []string{"x", "y", "x"}}, build(t, nil)); !errors.Is(err, converters.ErrDuplicate) {
		t.Errorf("a class named twice: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, []converters.Part{{Name: "data", Path: build(t, nil)}}, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// What happens between Index and Read.
func TestChanged(t *testing.T) {
	t.Parallel()
	const file, other = "c/b.jpg", "c/other/x.jpg"
	for _, c := range []struct {
		name   string
		change func(path string) error
		want   error // nil: read as before
	}{
		{"grown", func(path string) error { return os.WriteFile(path, []byte("longer"), 0o600) }, converters.ErrChanged},
		{"cut", func(path string) error { return os.Truncate(path, 1) }, converters.ErrChanged},
		{"written", func(path string) error {
			st, err := os.Stat(path)
			for was := st.ModTime(); err == nil && st.ModTime().Equal(was); { // before Linux 6.13 the time of a file goes on by milliseconds
				if err = os.WriteFile(path, []byte("bb!"), 0o600); err == nil {
					st, err = os.Stat(path)
				}
			}
			return err
		}, converters.ErrChanged},
		{"touched by a nanosecond", func(path string) error {
			st, err := os.Stat(path)
			return errors.Join(err, os.Chtimes(path, time.Time{}, st.ModTime().Add(1)))
		}, converters.ErrChanged},
		{"gone", os.Remove, fs.ErrNotExist},
		{"gone with its directory", func(path string) error { return os.RemoveAll(filepath.Dir(path)) }, fs.ErrNotExist},
		{"a directory", func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o755)) }, converters.ErrChanged},
		{"a fifo", func(path string) error { return errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)) }, converters.ErrChanged},
		{"a link out of the root", func(path string) error {
			return errors.Join(os.Rename(path, filepath.Join(path, "../../../moved")), os.Symlink("../../moved", path))
		}, converters.ErrChanged},
		{"its directory a link out of the root", func(path string) error {
			dir := filepath.Dir(path)
			return errors.Join(os.Rename(dir, dir+"/../../moved"), os.Symlink("../moved", dir))
		}, converters.ErrChanged},
		{"replaced by the same file", func(path string) error {
			return errors.Join(os.Rename(path, path+".old"), os.Rename(path+".old", path))
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, count := range []int64{1, 3} {
				root := build(t, map[string]string{"c/a.jpg": "a", file: "bbb", "c/c.jpg": "c"})
				src := mustOpen(t, Options{}, root)
				if got := runOf(t, src, 0); got.Count != 3 {
					t.Fatal(got)
				}
				if err := c.change(filepath.Join(root, file)); err != nil {
					t.Fatal(err)
				}
				run := converters.Run{First: 1, Off: 1, Count: 1}
				if count > 1 {
					run = converters.Run{Count: count}
				}
				var err error
				n := 0
				for _, err = range src.Read(t.Context(), run) {
					n++
				}
				if c.want == nil {
					if err != nil || n != int(count) {
						t.Errorf("%d samples, error %v", n, err)
					}
					continue
				}
				entry := file
				if strings.Contains(c.name, "directory") && c.name != "a directory" && count > 1 {
					entry = "c/a.jpg" // it is the first that is missed
				}
				wantPlaced(t, err, c.want, "data/c", entry, "")
			}
		})
	}
}

// A link that was followed when the part was listed, and leads elsewhere now.
func TestChangedLink(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		target string
		want   error
		hint   string
	}{
		{"../c/1.jpg", nil, ""},
		{"2.jpg", converters.ErrChanged, ""},
		{"../../secret", converters.ErrUnsupported, "option follow-outside"},
		{"3.jpg", fs.ErrNotExist, ""},
	} {
		root := build(t, map[string]string{"c/1.jpg": "one", "c/2.jpg": "two!", "../secret": "one", "c/link.jpg": "-> 1.jpg"})
		src := mustOpen(t, Options{}, root)
		if got := runOf(t, src, 0); got.Count != 3 {
			t.Fatal(got)
		}
		link := filepath.Join(root, "c/link.jpg")
		if err := errors.Join(os.Remove(link), os.Symlink(c.target, link)); err != nil {
			t.Fatal(err)
		}
		for s, err := range src.Read(t.Context(), converters.Run{First: 2, Off: 7, Count: 1}) {
			if c.want != nil {
				wantPlaced(t, err, c.want, "data/c", "c/link.jpg", c.hint)
			} else if err != nil || string(s.Fields[0].Value.Data()) != "one" {
				t.Errorf("%s: %v", c.target, err)
			}
		}
	}
}

// A plan of an earlier time, whose runs do not fit any more.
func TestStalePlan(t *testing.T) {
	t.Parallel()
	root := build(t, map[string]string{"c/a.jpg": "aa", "c/b.jpg": "bbb", "c/c.jpg": "", "d/": ""})
	for _, run := range []converters.Run{
		{First: 1, Off: 3, Count: 1},
		{First: 1, Off: 0, Count: 2},
		{First: 3, Off: 5, Count: 1},
		{First: -1, Off: 0, Count: 1},
		{First: 1 << 60, Off: 0, Count: 1 << 62},
		{Part: 1, Count: 1},
	} {
		n := 0
		for sample, err := range mustOpen(t, Options{}, root).Read(t.Context(), run) {
			if n++; sample != nil || n > 1 {
				t.Errorf("%+v: a sample", run)
			}
			wantPlaced(t, err, converters.ErrChanged, "data/"+"cd"[run.Part:run.Part+1], "", "")
		}
		if n != 1 {
			t.Errorf("%+v: %d results", run, n)
		}
	}
}
