package arrow

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/convertertest"
	"github.com/ffconvert/ffconvert/internal/test/arrowtest"
)

// pictures are images of some 100 KB, so that those of a batch are more than what is read at once.
func pictures(first, n int) (all []arrowtest.Image) {
	for i := first; i < first+n; i++ {
		all = append(all, arrowtest.Image{Data: bytes.Repeat([]byte{byte(i)}, 100_000+i), Path: fmt.Sprintf("%d.jpg", i), Label: int64(i % 2)})
	}
	return all
}

func TestSource(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name        string
		form, codec string
		opts        Options
	}{
		{"stream", arrowtest.Stream, arrowtest.Plain, Options{}},
		{"file", arrowtest.File, arrowtest.Plain, Options{}},
		{"all read", arrowtest.Stream, arrowtest.Plain, Options{Load: func(string) bool { return true }}},
		{"zstd", arrowtest.File, arrowtest.Zstd, Options{}},
		{"labels", arrowtest.File, arrowtest.LZ4, Options{Fields: [][]string{{"label", "cls"}}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			data := [][]byte{
				arrowtest.Write(row.form, row.codec, arrowtest.Batches(pictures(0, 7), 3)...),
				arrowtest.Write(row.form, row.codec, arrowtest.Batches(pictures(7, 3), 2)...),
			}
			convertertest.Test(t, func(t *testing.T) convertertest.Fixture {
				dir := t.TempDir()
				var paths []string
				for i, b := range data {
					paths = append(paths, filepath.Join(dir, fmt.Sprintf("%d.arrow", i)))
					if err := os.WriteFile(paths[i], b, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				open, use := convertertest.Count(new(converters.Files).Open)
				reopen := func(t *testing.T) converters.Source {
					// Some of the files that the suite cuts are refused when they are opened.
					parts := convertertest.Parts(t, paths...)
					s, err := openSource(parts, row.opts, open)
					if err != nil {
						return convertertest.Refused(parts, err)
					}
					return s
				}
				size := int64(len(data[0]))
				f := convertertest.Fixture{Source: reopen(t), Files: paths, Reopen: reopen, Cuts: []int64{0, 3, 11, 100, size / 2, size - 9, size - 8, size - 1}}
				if row.codec == arrowtest.Plain && row.opts.Load == nil {
					f.BytesRead, f.Nearby = use.Read.Load, 1
				}
				return f
			})
		})
	}
}

// Classes are those of the column of labels; a part that numbers them otherwise is refused, one with other
// columns told.
func TestClasses(t *testing.T) {
	t.Parallel()
	some := arrowtest.Write(arrowtest.Stream, arrowtest.Plain, arrowtest.Batches(pictures(0, 1), 1)...)
	other := bytes.Replace(some, []byte("circle"), []byte("square"), 1)
	unlike := arrowtest.Write(arrowtest.Stream, arrowtest.Plain, texts("label", "x"))
	parts, open := convertertest.InMemory(".arrow", some, other, unlike)
	s, err := openSource(parts, Options{}, open)
	if err != nil {
		t.Fatal(err)
	}
	want := []converters.ColumnType{{Name: "image", DType: "bytes"}, {Name: "image.path", DType: "str"}, {Name: "label", DType: "int64"}}
	if says := s.Describe(); !slices.Equal(says.Classes, []string{"circle", "glyphs", "stripes"}) || !slices.Equal(says.Columns, want) {
		t.Errorf("described as %+v", says)
	}
	for p, wrong := range []bool{false, true, false} {
		for _, err := range s.Index(t.Context(), p) {
			if (err != nil) != wrong {
				t.Errorf("part %d: error %v", p, err)
			}
		}
	}
	if doubts := s.Doubts(); len(doubts) != 1 || doubts[0].Part != "part-2.arrow" || !strings.Contains(doubts[0].Text, "has no column") {
		t.Errorf("doubts %+v", doubts)
	}
}

// The bytes of media that are null are those of a file beside the part, never of one elsewhere.
func TestBeside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.jpg"), []byte("beside"), 0o600); err != nil {
		t.Fatal(err)
	}
	part := filepath.Join(dir, "x.arrow")
	for path, want := range map[string]string{"a.jpg": "beside", "missing.jpg": "", "../" + filepath.Base(dir) + "/a.jpg": "", "/etc/passwd": ""} {
		data := arrowtest.Write(arrowtest.Stream, arrowtest.Plain, arrowtest.Batches([]arrowtest.Image{{Path: path}}, 1)...)
		if err := os.WriteFile(part, data, 0o600); err != nil {
			t.Fatal(err)
		}
		s := openFiles(t, Options{}, part)
		var failed error
		for span, err := range s.Index(t.Context(), 0) {
			if failed = err; err == nil && span.Shape.Fields[0].Value.Len() != int64(len(want)) {
				t.Errorf("%s: %d bytes", path, span.Shape.Fields[0].Value.Len())
			}
		}
		for sample, err := range s.Read(t.Context(), converters.Run{Count: 1}) {
			if (err != nil) != (failed != nil) || err == nil && string(sample.Fields[0].Value.Data()) != want {
				t.Errorf("%s: read %v, the index says %v", path, err, failed)
			}
		}
		if (failed == nil) != (want != "") {
			t.Errorf("%s: error %v", path, failed)
		}
	}
}
