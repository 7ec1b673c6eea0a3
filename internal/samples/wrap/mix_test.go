package wrap

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/convertertest"
	"github.com/ffconvert/ffconvert/converters/csv"
	"github.com/ffconvert/ffconvert/converters/folder"
	"github.com/ffconvert/ffconvert/converters/tar"
)

const testdata = "../../../testdata"

// parts describes files as they are now.
func parts(t testing.TB, paths ...string) []converters.Part {
	t.Helper()
	var parts []converters.Part
	for _, path := range paths {
		st, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, converters.Part{Name: filepath.Base(path), Path: path, Size: st.Size(), ModTime: st.ModTime()})
	}
	return parts
}

func tars(t testing.TB, paths ...string) converters.Source {
	return tar.Open(parts(t, paths...), tar.Options{})
}

func rows(t testing.TB, opts csv.Options, paths ...string) converters.Source {
	t.Helper()
	src, err := csv.Open(parts(t, paths...), opts)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func directory(t testing.TB, path string, opts folder.Options) converters.Source {
	t.Helper()
	src, err := folder.Open(t.Context(), []converters.Part{{Name: filepath.Base(path), Path: path}}, opts)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func open(t testing.TB, seed uint64, collections ...Collection) converters.Source {
	t.Helper()
	src, err := Mix(collections, seed)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// file makes a file of the test's own.
func file(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func copied(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(testdata, name))
	if err != nil {
		t.Fatal(err)
	}
	return file(t, filepath.Base(name), data)
}

// numbers is a CSV of so many rows.
func numbers(n int) []byte {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d,%d\n", i, i*i)
	}
	return []byte(b.String())
}

// A mixture is a source like any other, whole or drawn or repeated.
func TestSource(t *testing.T) {
	t.Parallel()
	for name, times := range map[string]float64{"whole": 1, "drawn": 0.6, "repeated": 2, "repeated and drawn": 1.5} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			convertertest.Test(t, func(t *testing.T) convertertest.Fixture {
				first, second, table := copied(t, "shards-000.tar"), copied(t, "shards-001.tar"), file(t, "rows.csv", numbers(40))
				made := func(t *testing.T) converters.Source {
					return open(t, 3, Collection{Source: tars(t, first, second), Times: times}, Collection{Source: rows(t, csv.Options{}, table), Times: times})
				}
				return convertertest.Fixture{Source: made(t), Files: []string{first, second, table}, Reopen: made, Cuts: []int64{0, 511, 512, 5000}}
			})
		})
	}
}

// A folder is read by the ordinals of its samples: their offsets do not tell empty files apart.
func TestFolder(t *testing.T) {
	t.Parallel()
	for _, times := range []float64{0.5, 1, 1.5} {
		convertertest.Test(t, func(t *testing.T) convertertest.Fixture {
			dir := t.TempDir()
			var paths []string
			for i := range 60 {
				paths = append(paths, filepath.Join(dir, []string{"cat", "dog"}[i/30], fmt.Sprintf("%02d.txt", i)))
				if err := os.MkdirAll(filepath.Dir(paths[i]), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(paths[i], make([]byte, i%3/2*(i+1)), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			made := func(t *testing.T) converters.Source {
				return open(t, 8, Collection{Source: directory(t, dir, folder.Options{}), Times: times})
			}
			src := made(t)
			for span, err := range src.Index(t.Context(), 0) { // the suite wants files that are drawn
				if err != nil {
					t.Fatal(err)
				}
				if span.Shape != nil {
					i := slices.IndexFunc(paths, func(p string) bool { return strings.HasSuffix(p, span.Shape.Key+".txt") })
					paths[0], paths[i] = paths[i], paths[0]
					break
				}
			}
			return convertertest.Fixture{Source: src, Files: paths, Reopen: made}
		})
	}
}

// A mixture divides where all its sources do.
func TestDivisible(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	some := directory(t, dir, folder.Options{})
	whole := struct{ converters.Source }{some}
	for _, row := range []struct {
		of   []converters.Source
		want bool
	}{
		{[]converters.Source{some, some}, true},
		{[]converters.Source{some, whole}, false},
		{[]converters.Source{whole, some}, false},
	} {
		src := open(t, 1, Collection{Source: row.of[0]}, Collection{Source: row.of[1]})
		if _, ok := src.(converters.Divisible); ok != row.want {
			t.Errorf("divisible %v, want %v", ok, row.want)
		}
	}
}

// keys reads all samples of a part, and counts the entries that its index tells of.
func keys(t *testing.T, src converters.Source, p int) (drawn []string, entries, skipped int) {
	t.Helper()
	run := converters.Run{Part: p}
	for span, err := range src.Index(t.Context(), p) {
		entries += span.Entries
		switch {
		case err != nil:
			t.Fatal(err)
		case span.Shape == nil && span.Skip == NotDrawn:
			skipped += span.Entries
		case span.Shape != nil:
			if run.Count == 0 {
				run.Off = span.Off
			}
			run.Count++
		}
	}
	for s, err := range src.Read(t.Context(), run) {
		if err != nil {
			t.Fatal(err)
		}
		drawn = append(drawn, s.Key)
	}
	return drawn, entries, skipped
}

// What is repeated comes again in order; what is not drawn is told of with all its entries.
func TestTimes(t *testing.T) {
	t.Parallel()
	path := filepath.Join(testdata, "shards-002.tar")
	once, all, none := keys(t, tars(t, path), 0)
	if len(once) != 12 || none != 0 {
		t.Fatalf("%d samples", len(once))
	}
	src := open(t, 1, Collection{Source: tars(t, path), Times: 2.5}, Collection{Source: tars(t, path), Times: 0.25}, Collection{Source: tars(t, path)})
	if names := src.Parts(); len(names) != 5 || names[0] != names[4] {
		t.Fatalf("parts %v", names)
	}
	for p, drawn := range []bool{false, false, true, true, false} {
		got, entries, skipped := keys(t, src, p)
		if entries != all {
			t.Errorf("part %d has %d entries, and the tar %d", p, entries, all)
		}
		if !drawn && (!slices.Equal(got, once) || skipped != 0) {
			t.Errorf("part %d: %q", p, got)
		}
		if drawn && (len(got) == 0 || len(got) == 12 || skipped < 12-len(got)) {
			t.Errorf("part %d: %q, %d entries not drawn", p, got, skipped)
		}
		for _, key := range got {
			if !slices.Contains(once, key) {
				t.Errorf("part %d: %s", p, key)
			}
		}
	}
}

// What collections say of themselves is told where all say it.
func TestDescribe(t *testing.T) {
	t.Parallel()
	classes := func(names ...string) string {
		dir := t.TempDir()
		for _, name := range names {
			if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	pets := directory(t, classes("cat", "dog"), folder.Options{})
	twins := directory(t, classes("cat", "dog"), folder.Options{})
	others := directory(t, classes("cat", "cow"), folder.Options{})
	archive := tars(t, filepath.Join(testdata, "shards-000.tar"))
	two, three := rows(t, csv.Options{}, file(t, "2.csv", []byte("1,2\n"))), rows(t, csv.Options{}, file(t, "3.csv", []byte("1,2,3\n")))
	for _, row := range []struct {
		name     string
		sources  []converters.Source
		encoding string
		classes  []string
		columns  int
		refused  bool
	}{
		{"one kind", []converters.Source{two, two}, "raw", nil, 2, false},
		{"other columns", []converters.Source{two, three}, "msgpack", nil, 0, false},
		{"two kinds", []converters.Source{two, archive}, "msgpack", nil, 0, false},
		{"two kinds, the other way round", []converters.Source{archive, two}, "msgpack", nil, 0, false},
		{"one folder", []converters.Source{archive, pets, two}, "msgpack", []string{"cat", "dog"}, 0, false},
		{"a folder behind its like", []converters.Source{pets, archive, twins}, "msgpack", []string{"cat", "dog"}, 0, false},
		{"folders of other classes", []converters.Source{pets, archive, others}, "", nil, 0, true},
	} {
		var collections []Collection
		for i, src := range row.sources {
			collections = append(collections, Collection{Name: fmt.Sprint("number ", i), Source: src})
		}
		src, err := Mix(collections, 0)
		if row.refused {
			if !errors.Is(err, converters.ErrUnsupported) || !strings.Contains(err.Error(), "number 0") || !strings.Contains(err.Error(), "number 2") {
				t.Errorf("%s: error %v", row.name, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		d := src.(converters.Describer).Describe()
		if d.Encoding != row.encoding || !slices.Equal(d.Classes, row.classes) || len(d.Columns) != row.columns {
			t.Errorf("%s: %+v", row.name, d)
		}
	}
	for _, times := range []float64{-1, MaxTimes + 0.5} {
		if _, err := Mix([]Collection{{Name: "x", Source: archive, Times: times}}, 0); err == nil {
			t.Errorf("%v times: accepted", times)
		}
	}
}

// A number in a hostile plan is not counted up to.
func TestReadFar(t *testing.T) {
	t.Parallel()
	src := open(t, 1, Collection{Source: tars(t, filepath.Join(testdata, "shards-000.tar")), Times: 1e-9})
	for _, run := range []converters.Run{{First: 1 << 40, Count: 1}, {First: 0, Count: 1 << 40}} {
		for _, err := range src.Read(t.Context(), run) {
			if !errors.Is(err, converters.ErrChanged) {
				t.Errorf("error %v", err)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range src.Read(ctx, converters.Run{Count: 1}) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	}
}
