package parquet

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/convertertest"
	"github.com/ffconvert/ffconvert/internal/test/arrowjs"
)

// openFiles opens parts as they are now.
func openFiles(t testing.TB, opts Options, paths ...string) *source {
	t.Helper()
	s, err := Open(t.Context(), convertertest.Parts(t, paths...), opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// indexOf returns the offsets of the rows of a part, and wants that Index has the sizes of what Read has.
func indexOf(t testing.TB, s *source, p int) (offs []int64, err error) {
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
			n := 10_000
			if testing.Short() {
				n = 1000
			}
			dir, want := arrowjs.Write(t, what, n)
			files, err := filepath.Glob(filepath.Join(dir, "*.parquet"))
			if err != nil || len(files) < 2 {
				t.Fatal(files, err)
			}
			for _, path := range files {
				t.Run(filepath.Base(path), func(t *testing.T) {
					t.Parallel()
					froms := []int64{flowFrom}
					if slices.Contains([]string{"gzip.parquet", "zstd.parquet", "brotli.parquet"}, filepath.Base(path)) {
						froms = append(froms, 1) // pages are decompressed piece by piece, whatever their size
					}
					for _, from := range froms {
						arrowjs.Same(t, want, func(fields [][]string) converters.Source {
							s := openFiles(t, Options{Fields: fields}, path)
							s.flowFrom = from
							return s
						})
					}
				})
			}
		})
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
