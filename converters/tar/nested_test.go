package tar

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/convertertest"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
)

// outer is a tar of two classes, in the order in which ImageNet has them, and a file beside them.
func outer() []byte {
	return archive(
		entry(typeRegular, "n02.tar", archive(regular("n02_1.JPEG", "first"), regular("n02_2.JPEG", strings.Repeat("x", 9000)), regular("n02_2.txt", "a caption"))),
		regular("README", "about"),
		regular("about.txt", "about"),
		entry(typeDirectory, "more/", nil),
		entry(typeRegular, "more/n01.TAR", archive(entry(typeDirectory, "d/", nil), regular("d/n01_1.JPEG", "second"))),
		entry(typeRegular, "n03.tar", archive()),
	)
}

func nestedOf(t *testing.T, opts Options, tars ...[]byte) (*nested, error) {
	return openNested(t.Context(), memory(opts, tars...))
}

func TestNested(t *testing.T) {
	t.Parallel()
	n, err := nestedOf(t, Options{}, outer(), archive(entry(typeRegular, "n00.tar", archive(regular("z.JPEG", "z")))))
	if err != nil {
		t.Fatal(err)
	}
	if got := n.Describe().Classes; !slices.Equal(got, []string{"n00", "n01", "n02", "n03"}) {
		t.Errorf("classes %q", got)
	}
	var got []string
	run := converters.Run{}
	entries := 0
	for span, err := range n.Index(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		entries += span.Entries
		if span.Skip != "" {
			got = append(got, fmt.Sprintf("%s: %s", span.Skip, span.Name))
			continue
		}
		if run.Count == 0 {
			run.Off = span.Off
		}
		run.Count++
		last := span.Shape.Fields[len(span.Shape.Fields)-1]
		got = append(got, fmt.Sprintf("%s: %d entries, %s %d", span.Shape.Key, span.Entries, last.Name, last.Value.Int()))
	}
	want := []string{"n02/n02_1: 1 entries, cls 2", "n02/n02_2: 2 entries, cls 2", "name without key: README", "not a tar: about.txt", "directory: more/", "directory: more/n01.TAR: d/", "n01/d/n01_1: 1 entries, cls 1"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if entries != 8 { // the members that are not inner tars
		t.Errorf("%d entries", entries)
	}
	got = nil
	for s, err := range n.Read(t.Context(), run) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %.6s %d fields", s.Key, s.Fields[0].Value.Data(), len(s.Fields)))
	}
	if want := []string{"n02/n02_1 first 2 fields", "n02/n02_2 xxxxxx 3 fields", "n01/d/n01_1 second 2 fields"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Errors name the part, the inner tar, the member in it and the offset in the part.
func TestNestedRefuses(t *testing.T) {
	t.Parallel()
	one := func(name string, content []byte) []byte { return archive(entry(typeRegular, name, content)) }
	for _, row := range []struct {
		name   string
		outer  []byte
		opts   Options
		open   bool // the error comes when it is opened
		want   error
		text   string
		off    int64
		member string
	}{
		{"no tar in it", archive(regular("a.jpg", "x")), Options{}, true, converters.ErrUnsupported, "none of its members is a tar", -1, ""},
		{"a class twice", archive(entry(typeRegular, "a.tar", archive()), entry(typeRegular, "b/a.tar", archive())), Options{}, true, converters.ErrDuplicate, "class", 1536, "b/a.tar"},
		{"no name", one("x/.tar", archive()), Options{}, true, converters.ErrUnsupported, "without a name", 0, "x/.tar"},
		{"compressed", one("a.tar.gz", []byte("x")), Options{}, true, converters.ErrUnsupported, "compressed", 0, "a.tar.gz"},
		{"other classes", one("a.tar", archive()), Options{Classes: []string{"b"}}, false, converters.ErrUnsupported, "named", 0, "a.tar"},
		{"outer cut", outer()[:20000], Options{}, true, converters.ErrTruncated, "", -2, ""},
		{"inner not a tar", one("a.tar", []byte(strings.Repeat("noise", 300))), Options{}, false, converters.ErrMalformed, "checksum", 512, "a.tar"},
		{"inner empty", one("a.tar", nil), Options{}, false, converters.ErrTruncated, "", 512, "a.tar"},
		{"inner cut", one("a.tar", archive(regular("b.jpg", "x"))[:1024]), Options{}, false, converters.ErrTruncated, "two zero blocks", 1536, "a.tar"},
		{"inner cut in a member", one("a.tar", archive(regular("b.jpg", strings.Repeat("x", 2000)))[:1024]), Options{}, false, converters.ErrTruncated, "", 512, "a.tar: b.jpg"},
		{"a key that came back", one("a.tar", archive(regular("b.jpg", "x"), regular("c.jpg", "x"), regular("b.png", "x"))), Options{}, false, converters.ErrDuplicate, "key", 512 + 2048, "a.tar: a/b"},
		{"a field cls of a later sample", one("a.tar", archive(regular("a.jpg", "x"), regular("b.cls", "1"))), Options{}, false, converters.ErrDuplicate, `field "cls"`, 512 + 1024, "a.tar: b.cls"},
		{"a field cls, and classes", one("a.tar", archive(regular("b.jpg", "x"), regular("b.cls", "1"))), Options{Classes: []string{"a"}}, false, converters.ErrDuplicate, `field "cls"`, 512 + 1024, "a.tar: b.cls"},
		{"a field cls, and a label", archive(regular("a.cls", "3"), entry(typeRegular, "a.tar", archive(regular("b.cls", "1")))), Options{}, false, converters.ErrDuplicate, `field "cls"`, 1024 + 512, "a.tar: b.cls"},
		{"no field cls of a later sample", one("a.tar", archive(regular("a.cls", "1"), regular("b.jpg", "x"))), Options{}, false, converters.ErrUnsupported, "has no field cls", 512 + 1024, "a.tar: b"},
		{"no label of a tar", archive(regular("a.cls", "3"), entry(typeRegular, "a.tar", archive(regular("b.jpg", "1"))), entry(typeRegular, "c.tar", archive(regular("d.jpg", "1")))), Options{}, false, converters.ErrUnsupported, "has no field cls", 1024 + 512 + 2048 + 512, "c.tar: d"},
		{"a label twice", archive(regular("a.cls", "3"), entry(typeRegular, "a.tar", archive()), regular("d/a.CLS", "3")), Options{}, true, converters.ErrDuplicate, "label", 1024 + 512 + 1024, "d/a.CLS"},
		{"a label that is a word", archive(regular("a.cls", "cat"), entry(typeRegular, "a.tar", archive())), Options{}, true, converters.ErrMalformed, `"cat"`, 0, "a.cls"},
		{"a long label", archive(regular("a.cls", "1"+strings.Repeat(" ", 64)), entry(typeRegular, "a.tar", archive())), Options{}, true, converters.ErrMalformed, "not an integer", 0, "a.cls"},
		{"another tar behind the end", one("a.tar", slices.Concat(archive(regular("b.jpg", "x")), archive(regular("c.jpg", "x")))), Options{}, false, converters.ErrUnsupported, "another archive", 512 + 2048, "a.tar"},
	} {
		n, err := nestedOf(t, row.opts, row.outer)
		if (err != nil) != row.open {
			t.Errorf("%s: opened: %v", row.name, err)
			continue
		}
		if err == nil {
			for _, err = range n.Index(t.Context(), 0) {
			}
		}
		e, ok := errors.AsType[*converters.Error](err)
		if !ok || !errors.Is(err, row.want) || !strings.Contains(err.Error(), row.text) || row.off > -2 && e.Off != row.off || row.off > -2 && e.Entry != row.member {
			t.Errorf("%s: %v", row.name, err)
		}
	}
}

// Labels that are given are kept, beside a tar or in its samples, and no class is numbered. Opened for some parts alone it is the same.
func TestNestedLabels(t *testing.T) {
	t.Parallel()
	first := archive(
		entry(typeRegular, "b.tar", archive(regular("1.jpg", "x"), regular("2.jpg", "x"))),
		regular("b.cls", " 7\n"),
		entry(typeRegular, "a.tar", archive(regular("1.jpg", "x"), regular("1.cls", "12"), regular("2.cls", "cat"))),
		regular("c.cls", "1"),
	)
	second := archive(regular("a.cls", "-3"), entry(typeRegular, "a.tar", archive(regular("3.jpg", "x"))))
	for _, opts := range []Options{{}, {Classes: []string{}}} {
		n, err := nestedOf(t, opts, first, second)
		if err != nil {
			t.Fatal(err)
		}
		if got := n.Describe().Classes; got != nil {
			t.Errorf("classes %q", got)
		}
		var src converters.Source = n
		if opts.Classes != nil {
			src = n.WithParts(0, n.Parts())
		}
		var got, read []string
		entries := 0
		for p := range 2 {
			run := converters.Run{Part: p, Off: -1}
			for span, err := range src.Index(t.Context(), p) {
				if err != nil {
					t.Fatal(err)
				}
				if entries += span.Entries; span.Skip != "" {
					got = append(got, span.Skip+": "+span.Name)
					continue
				}
				if run.Count++; run.Off < 0 {
					run.Off = span.Off
				}
				got = append(got, span.Shape.Key)
			}
			for s, err := range src.Read(t.Context(), run) {
				if err != nil {
					t.Fatal(err)
				}
				last := s.Fields[len(s.Fields)-1]
				if last.Value.Kind() == converters.KindInt {
					read = append(read, fmt.Sprintf("%s %s=%d", s.Key, last.Name, last.Value.Int()))
				} else {
					read = append(read, fmt.Sprintf("%s %s=%q", s.Key, last.Name, last.Value.Data()))
				}
			}
		}
		if want := []string{"b/1", "b/2", "the label of a tar: b.cls", "a/1", "a/2", "not a tar: c.cls", "the label of a tar: a.cls", "a/3"}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		if want := []string{"b/1 cls=7", "b/2 cls=7", `a/1 cls="12"`, `a/2 cls="cat"`, "a/3 cls=-3"}; !slices.Equal(read, want) {
			t.Errorf("%q, want %q", read, want)
		}
		if entries != 9 {
			t.Errorf("%d entries", entries)
		}
	}
	// Without a label, and without a sample that has one, tars are numbered, whatever else is named so.
	n, err := nestedOf(t, Options{}, archive(regular("x.cls", "1"), entry(typeRegular, "b.tar", archive()), entry(typeRegular, "a.tar", archive(regular("1.jpg", "x")))))
	if err != nil || !slices.Equal(n.Describe().Classes, []string{"a", "b"}) {
		t.Errorf("classes %q, %v", n.Describe().Classes, err)
	}
	// Named classes number the tars, and labels beside them are not read.
	n, err = nestedOf(t, Options{Classes: []string{"a", "b"}}, archive(regular("b.cls", "x"), entry(typeRegular, "b.tar", archive(regular("1.jpg", "x")))))
	if err != nil {
		t.Fatal(err)
	}
	for span, err := range n.Index(t.Context(), 0) {
		if err != nil || span.Skip != "" && span.Skip != skipNotTar || span.Skip == "" && span.Shape.Fields[1].Value.Int() != 1 {
			t.Errorf("%+v, %v", span, err)
		}
	}
}

// A tar that is cut is refused wherever that is.
func TestNestedCuts(t *testing.T) {
	t.Parallel()
	whole := outer()
	for n := 0; n < len(whole); n += 256 {
		src, err := nestedOf(t, Options{}, whole[:n])
		for p := 0; err == nil && p < 1; p++ {
			for _, err = range src.Index(t.Context(), 0) {
			}
		}
		if !errors.Is(err, converters.ErrTruncated) && !errors.Is(err, converters.ErrUnsupported) {
			t.Errorf("cut at %d of %d: %v", n, len(whole), err)
		}
	}
}

// A cutNested is a source that could not be opened: the conformance suite wants its error from Index.
type cutNested struct {
	*nested
	err error
}

func (c cutNested) Index(context.Context, int) iter.Seq2[*converters.Span, error] {
	return func(yield func(*converters.Span, error) bool) { yield(nil, c.err) }
}

func TestNestedSource(t *testing.T) {
	t.Parallel()
	for name, given := range map[string]bool{"numbered": false, "labels": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testNested(t, given)
		})
	}
}

// testNested tests sources of tars with labels beside them, or without.
func testNested(t *testing.T, given bool) {
	convertertest.Test(t, func(t *testing.T) convertertest.Fixture {
		var paths []string
		for i := range 2 {
			var members [][]byte
			for class := range 3 {
				var files [][]byte
				for k := range 12 {
					files = append(files, regular(fmt.Sprintf("%d.jpg", k), strings.Repeat("x", k/11*100_000+700*k+class)))
				}
				members = append(members, entry(typeRegular, fmt.Sprintf("c%d%d.tar", i, class), archive(files...)))
				if given {
					members = append(members, regular(fmt.Sprintf("c%d%d.cls", i, class), fmt.Sprint(class)))
				}
			}
			paths = append(paths, filepath.Join(t.TempDir(), fmt.Sprintf("%d.tar", i)))
			if err := os.WriteFile(paths[i], archive(members...), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		src, use := counted(openFiles(t, Options{}, paths...))
		n, err := openNested(t.Context(), src)
		if err != nil {
			t.Fatal(err)
		}
		opened := use.Read.Load()
		return convertertest.Fixture{
			Source: n, Files: paths, BytesRead: func() int64 { return use.Read.Load() - opened }, Nearby: scan.SmallRead,
			Reopen: func(t *testing.T) converters.Source {
				n, err := OpenNested(t.Context(), convertertest.Parts(t, paths...), Options{})
				if err != nil {
					return cutNested{&nested{src: openFiles(t, Options{}, paths...)}, err}
				}
				return n
			},
			Cuts: []int64{0, 1, 511, 512, 1024, 2000, 100_000},
		}
	})
}
