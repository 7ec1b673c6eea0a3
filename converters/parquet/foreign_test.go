package parquet

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/convertertest"
	"github.com/ffconvert/ffconvert/internal/arrowjs"
)

// openFiles opens parts as they are now.
func openFiles(t testing.TB, opts Options, paths ...string) *Source {
	t.Helper()
	s, err := Open(convertertest.Parts(t, paths...), opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// indexOf returns the offsets of the rows of a part, and wants that Index has the sizes of what Read has.
func indexOf(t testing.TB, s *Source, p int) (offs []int64, err error) {
	t.Helper()
	for span, err := range s.Index(t.Context(), p) {
		if err != nil {
			return offs, err
		}
		offs = append(offs, span.Off)
	}
	return offs, nil
}

// The rows that libraries of others write are those that come out: all types, encodings and compressions,
// from any row on, and with some columns alone.
func TestForeignWriters(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"parquet", "flat"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			const n = 10_000
			dir, want := arrowjs.Write(t, what, n)
			files, err := filepath.Glob(filepath.Join(dir, "*.parquet"))
			if err != nil || len(files) < 2 {
				t.Fatal(files, err)
			}
			for _, path := range files {
				t.Run(filepath.Base(path), func(t *testing.T) {
					t.Parallel()
					if strings.HasPrefix(filepath.Base(path), "brotli") {
						_, err := indexOf(t, openFiles(t, Options{}, path), 0)
						if !errors.Is(err, converters.ErrUnsupported) || !strings.Contains(err.Error(), "Brotli") {
							t.Errorf("error %v", err)
						}
						return
					}
					foreign(t, path, want)
				})
			}
		})
	}
}

func foreign(t *testing.T, path string, want [][]string) {
	s := openFiles(t, Options{}, path)
	offs, err := indexOf(t, s, 0)
	if err != nil || len(offs) != len(want) {
		t.Fatalf("%d rows, want %d; error %v", len(offs), len(want), err)
	}
	compare := func(s *Source, first, count int, fields func(string) bool) {
		t.Helper()
		i := first
		for sample, err := range s.Read(t.Context(), converters.Run{First: int64(first), Off: offs[first], Count: int64(count)}) {
			if err != nil {
				t.Fatalf("row %d: %v", i, err)
			}
			expect := want[i]
			if fields != nil {
				expect = slices.DeleteFunc(slices.Clone(expect), func(w string) bool {
					name, _, isField := strings.Cut(w, ":")
					return isField && w != expect[0] && !fields(name)
				})
			}
			if got := arrowjs.Row(sample); !slices.Equal(got, expect) {
				for j := range min(len(got), len(expect)) {
					if got[j] != expect[j] {
						t.Errorf("%.300s, want %.300s", got[j], expect[j])
					}
				}
				t.Fatalf("row %d has %d fields, want %d, or others", i, len(got)-1, len(expect)-1)
			}
			i++
		}
		if i != first+count {
			t.Fatalf("%d rows from %d on, want %d", i-first, first, count)
		}
	}
	compare(s, 0, len(want), nil)
	for first := 3; first < len(want); first += 977 {
		compare(s, first, min(37, len(want)-first), nil)
		compare(s, first, 1, nil)
	}
	for _, keep := range []string{"text", "points", "image", "image.path", "f64"} {
		only := func(field string) bool { return field == keep }
		if !slices.ContainsFunc(want[0], func(w string) bool { return strings.HasPrefix(w, keep+":") }) {
			only = nil // all are read where there is no such field
		}
		some := openFiles(t, Options{Fields: [][]string{{keep}}}, path)
		compare(some, 0, len(want), only)
		compare(some, 4999, 100, only)
	}
}

// Shapes have the kinds and sizes of what is read, of compressed and of plain pages.
func TestForeignSizes(t *testing.T) {
	t.Parallel()
	dir, _ := arrowjs.Write(t, "parquet", 1000)
	for _, name := range []string{"plain", "snappy"} {
		s := openFiles(t, Options{}, filepath.Join(dir, name+".parquet"))
		type size struct {
			kind converters.Kind
			n    int64
		}
		var sizes []size
		unread := 0
		for span, err := range s.Index(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range span.Shape.Fields {
				sizes = append(sizes, size{f.Value.Kind(), f.Value.Len()})
				if f.Value.Unread() {
					unread++
				}
			}
		}
		i := 0
		for sample, err := range s.Read(t.Context(), converters.Run{Count: 1000}) {
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range sample.Fields {
				if got := (size{f.Value.Kind(), f.Value.Len()}); got != sizes[i] {
					t.Fatalf("%s: field %q has %v, its shape %v", name, f.Name, got, sizes[i])
				}
				i++
			}
		}
		if plain := name == "plain"; i != len(sizes) || (unread > 0) != plain {
			t.Errorf("%s: %d fields, %d in the index, %d of them unread", name, i, len(sizes), unread)
		}
		if says := s.Describe(); !slices.Equal(says.Classes, []string{"cat", "dog"}) || len(says.Columns) != 25 {
			t.Errorf("%s: described as %+v", name, says)
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
}
