package folder

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/convertertest"
)

func TestSource(t *testing.T) {
	t.Parallel()
	files := map[string]string{"z.txt": "about", "b/.hidden": "x", "c/": ""}
	for i := range 20 {
		files[fmt.Sprintf("a/%02d.jpg", i)] = strings.Repeat("x", i*100)
		files[fmt.Sprintf("b/deep/%02d.png", i%5)] = strings.Repeat("y", i)
		files[fmt.Sprintf("b/deep/%02d.json", i%5)] = "{}"
	}
	for _, opts := range []Options{
		{Group: true},
		{Flat: true},
		{Flat: true, Group: true, FollowOutside: true},
		{Ext: []string{"jpg", "png"}, Hidden: true},
		{Group: true, Load: func(field string) bool { return field == "json" }},
	} {
		t.Run(fmt.Sprintf("%+v", opts), func(t *testing.T) {
			t.Parallel()
			convertertest.Test(t, func(t *testing.T) convertertest.Fixture {
				root := build(t, files)
				add(t, root, "b/link.jpg", "-> ../a/01.jpg")
				src := mustOpen(t, opts, root)
				use := counted(src)
				t.Cleanup(func() {
					if opened, closed := use.opened.Load(), use.closed.Load(); opened != closed {
						t.Errorf("%d files opened, %d closed", opened, closed)
					}
				})
				fixture := convertertest.Fixture{
					Source: src, Files: []string{filepath.Join(root, "a/00.jpg")}, BytesRead: use.read.Load,
					Reopen: func(t *testing.T) converters.Source { return mustOpen(t, opts, root) },
				}
				if opts.Load != nil { // then Index reads some
					fixture.BytesRead = nil
				}
				return fixture
			})
		})
	}
}

func TestModes(t *testing.T) {
	t.Parallel()
	tree := map[string]string{
		"a/1.JPG": "j", "a/1.json": "{}", "a/sub/1.seg.png": "png", "a/README": "r",
		"b/2.jpg": "jj", "b/.DS_Store": "x", "b/.git/x": "x",
		"b-/3.jpg": "j", "top.txt": "t", "z.tar.gz": "z", "empty/": "",
	}
	for _, c := range []struct {
		name    string
		opts    Options
		tree    map[string]string
		want    []string
		classes []string
	}{
		{
			name: "classes", tree: tree, opts: Options{Ext: []string{"jpg", "PNG"}},
			classes: []string{"a", "b", "b-", "empty"},
			want: []string{
				`data/a: a/1 at 0: jpg="j" cls=0`,
				`data/a: extension not selected: a/1.json`,
				`data/a: extension not selected: a/README`,
				`data/a: a/sub/1 at 1: seg.png="png" cls=0`,
				`data/b-: b-/3 at 0: jpg="j" cls=2`,
				`data/b: hidden file: b/.DS_Store`,
				`data/b: hidden directory: b/.git`,
				`data/b: b/2 at 0: jpg="jj" cls=1`,
				`data/top.txt: file outside a class: top.txt`,
				`data/top.txt: file outside a class: z.tar.gz`,
			},
		},
		{
			name: "grouped", tree: tree, opts: Options{Group: true, Classes: []string{"zebra", "b-", "b", "a", "empty"}},
			classes: []string{"zebra", "b-", "b", "a", "empty"},
			want: []string{
				`data/a: a/1 at 0: jpg="j" json="{}" cls=3`,
				`data/a: a/README at 3: data="r" cls=3`,
				`data/a: a/sub/1 at 4: seg.png="png" cls=3`,
				`data/b-: b-/3 at 0: jpg="j" cls=1`,
				`data/b: hidden file: b/.DS_Store`,
				`data/b: hidden directory: b/.git`,
				`data/b: b/2 at 0: jpg="jj" cls=2`,
				`data/top.txt: file outside a class: top.txt`,
				`data/top.txt: file outside a class: z.tar.gz`,
			},
		},
		{
			name: "flat", tree: tree, opts: Options{Flat: true},
			want: []string{
				`data/a: a/1.JPG at 0: jpg="j"`,
				`data/a: a/1.json at 1: json="{}"`,
				`data/a: a/README at 3: data="r"`,
				`data/a: a/sub/1.seg.png at 4: png="png"`,
				`data/b-: b-/3.jpg at 0: jpg="j"`,
				`data/b: hidden file: b/.DS_Store`,
				`data/b: hidden directory: b/.git`,
				`data/b: b/2.jpg at 0: jpg="jj"`,
				`data/top.txt: top.txt at 0: txt="t"`,
				`data/top.txt: z.tar.gz at 1: gz="z"`,
			},
		},
		{
			name: "hidden", opts: Options{Flat: true, Hidden: true},
			tree: map[string]string{".x": "1", ".d/.y.z": "2", ".d/a.": "3", "d/..e": "4"},
			want: []string{
				`data/.d: .d/.y.z at 0: z="2"`,
				`data/.d: .d/a. at 1: data="3"`,
				`data/.x: .x at 0: data="1"`,
				`data/d: d/..e at 0: data="4"`,
			},
		},
		{
			name: "hidden, grouped", opts: Options{Flat: true, Group: true, Hidden: true},
			tree: map[string]string{".x": "1", ".x.y": "2", "d/.a": "3", "d/.b/c": "4", "d/.b/.d": "5", "d/.z": "6", "a.": "7"},
			want: []string{
				`data: .x at 0: data="1"`,
				`data: .x.y at 1: data="2"`,
				`data: a at 2: ="7"`,
				`data/d: d/ at 0: a="3" z="6"`,
				`data/d: d/.b/.d at 2: data="5"`,
				`data/d: d/.b/c at 3: data="4"`,
			},
		},
		{
			name: "a directory inside a sample", opts: Options{Group: true},
			tree: map[string]string{"c/a.cls2": "1", "c/a.d/x.jpg": "2", "c/a.jpg": "3", "c/a.b/y.jpg": "4", "c/a-b.jpg": "5"},
			want: []string{
				`data/c: c/a-b at 0: jpg="5" cls=0`,
				`data/c: c/a.b/y at 1: jpg="4" cls=0`,
				`data/c: c/a at 2: cls2="1" jpg="3" cls=0`,
				`data/c: c/a.d/x at 4: jpg="2" cls=0`,
			},
			classes: []string{"c"},
		},
		{
			name: "a directory inside a sample of the first level", opts: Options{Flat: true, Group: true},
			tree: map[string]string{"a.cls": "1", "a.d/x.jpg": "2", "a.jpg": "3", "b.x": "4", "b.y/z.q": "5", "c": "6"},
			want: []string{
				`data: a at 0: cls="1" jpg="3"`,
				`data/a.d: a.d/x at 0: jpg="2"`,
				`data/b.x: b at 0: x="4"`,
				`data/b.y: b.y/z at 0: q="5"`,
				`data/c: c at 0: data="6"`,
			},
		},
		{
			name: "splits", opts: Options{Splits: []string{"val", "train"}}, classes: []string{"a", "b", "c"},
			tree: map[string]string{"train/a/1.jpg": "1", "train/c/2.jpg": "2", "val/b/3.jpg": "3", "val/a/": "", "val/x.jpg": "", "test/d/4.jpg": "4"},
			want: []string{
				`data/val/b: val/b/3 at 0: jpg="3" cls=1`,
				`data/val/x.jpg: file outside a class: val/x.jpg`,
				`data/train/a: train/a/1 at 0: jpg="1" cls=0`,
				`data/train/c: train/c/2 at 0: jpg="2" cls=2`,
			},
		},
		{
			name: "one of the splits", opts: Options{Splits: []string{"val", "train"}, Only: "train"}, classes: []string{"a", "b", "c"},
			tree: map[string]string{"train/a/1.jpg": "1", "train/c/2.jpg": "2", "val/b/3.jpg": "3", "val/x.jpg": ""},
			want: []string{
				`data/train/a: train/a/1 at 0: jpg="1" cls=0`,
				`data/train/c: train/c/2 at 0: jpg="2" cls=2`,
			},
		},
		{
			name: "order", opts: Options{Flat: true},
			tree: map[string]string{"a/b": "1", "a-": "2", "a.": "3", "a0": "4", "a/b-/x": "5", "a/b.": "6", "a/é": "7", "a/z": "8", "a/\U0001F600": "9", "a/\uffee": "x"},
			want: []string{
				`data: a- at 0: data="2"`, `data: a. at 1: data="3"`,
				`data/a: a/b at 0: data="1"`, `data/a: a/b-/x at 1: data="5"`, `data/a: a/b. at 2: data="6"`,
				`data/a: a/z at 3: data="8"`, `data/a: a/é at 4: data="7"`, "data/a: a/\uffee at 5: data=\"x\"", "data/a: a/\U0001F600 at 6: data=\"9\"",
				`data/a0: a0 at 0: data="4"`,
			},
		},
		{
			name: "duplicates kept", opts: Options{KeepDuplicates: true}, classes: []string{"c"},
			tree: map[string]string{"c/a": "1", "c/a-": "2", "c/a.jpg": "3", "c/a.m/x": "4", "c/a.png": "5"},
			want: []string{
				`data/c: c/a at 0: data="1" cls=0`, `data/c: c/a- at 1: data="2" cls=0`,
				`data/c: waived: key that came back: c/a`, `data/c: c/a at 2: jpg="3" cls=0`,
				`data/c: c/a.m/x at 3: data="4" cls=0`,
				`data/c: waived: key that came back: c/a`, `data/c: c/a at 4: png="5" cls=0`,
			},
		},
		{
			name: "links", opts: Options{Flat: true},
			tree: map[string]string{"a/1.txt": "one", "b/1.txt": "-> ../a/1.txt", "b/2.txt": "-> 1.txt", "c": "-> a", "d/e": "-> ../a", "f.txt": "-> c/1.txt"},
			want: []string{
				`data/a: a/1.txt at 0: txt="one"`,
				`data/b: b/1.txt at 0: txt="one"`, `data/b: b/2.txt at 3: txt="one"`,
				`data/c: c/1.txt at 0: txt="one"`, `data/d: d/e/1.txt at 0: txt="one"`,
				`data/f.txt: f.txt at 0: txt="one"`,
			},
		},
		{name: "nothing", tree: map[string]string{"a/b/c/": ""}, classes: []string{"a"}},
		{name: "no directory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			src := mustOpen(t, c.opts, build(t, c.tree))
			var want []string // what Read has
			for _, line := range c.want {
				if strings.Contains(line, " at ") {
					want = append(want, line)
				}
			}
			got, err := contents(t, src)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, want) {
				t.Errorf("Read: got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
			c.opts.Load = func(string) bool { return true }
			src.opts.Load = c.opts.Load
			if got, err = indexed(t, src); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("Index: got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
			if got := src.Describe().Classes; !slices.Equal(got, c.classes) {
				t.Errorf("classes %q, want %q", got, c.classes)
			}
		})
	}
}

func TestPartNames(t *testing.T) {
	t.Parallel()
	root := build(t, map[string]string{".x": "", "a": "", "b/1": "", "c\nd": "", "e": "", "f/1": "", "g": ""})
	for name, want := range map[string][]string{
		"data":   {"data", "data/b", `data/"c\nd"`, "data/f", "data/g"},
		"data//": {"data", "data/b", `data/"c\nd"`, "data/f", "data/g"},
		".":      {".", "./b", `./"c\nd"`, "./f", "./g"},
		"/":      {"/", "/b", `/"c\nd"`, "/f", "/g"},
	} {
		src, err := Open(t.Context(), []converters.Part{{Name: name, Path: root}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range src.Parts() {
			got = append(got, p.Name)
			if p.Path != "" || p.Size != 0 {
				t.Errorf("%+v is a single file", p)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// Classes are numbered over all roots, and what lies outside is read where that is allowed.
func TestRoots(t *testing.T) {
	t.Parallel()
	one := build(t, map[string]string{"b/1.jpg": "1", "d/2.jpg": "2"})
	two := build(t, map[string]string{"a/3.jpg": "3", "b/1.jpg": "4"})
	add(t, two, "c", "-> "+filepath.Join(one, "d"))
	add(t, two, "b/5.jpg", "-> "+filepath.Join(one, "b/1.jpg"))
	src := mustOpen(t, Options{FollowOutside: true}, one, two)
	got, err := contents(t, src)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`data/b: b/1 at 0: jpg="1" cls=1`, `data/d: d/2 at 0: jpg="2" cls=3`,
		`more/a: a/3 at 0: jpg="3" cls=0`, `more/b: b/1 at 0: jpg="4" cls=1`, `more/b: b/5 at 1: jpg="1" cls=1`, `more/c: c/2 at 0: jpg="2" cls=2`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := src.Describe().Classes; !slices.Equal(got, []string{"a", "b", "c", "d"}) {
		t.Errorf("classes %q", got)
	}
}
