package export_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/convert/format"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/export"
)

func folder(ctx context.Context, t testing.TB, dir, out string, opts export.Options) (done *export.Report, err error) {
	t.Helper()
	err = with(t.Context(), func(s *export.Source) (err error) {
		done, err = export.Folder(ctx, s, out, opts)
		return err
	}, dir)
	return done, err
}

// files lists the files and empty directories of a folder with their contents.
func files(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			all = append(all, name+"/")
			return nil
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		all = append(all, name+"="+string(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A folder becomes shards and the same folder again: with classes, also one without files, with captions beside the
// pictures, with files that have no suffix; and the shards of that are the same.
func TestFolder(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		options map[string]string
		files   map[string]string // a name with / at its end is a directory
	}{
		"classes": {nil, map[string]string{"cat/1.jpg": "a", "cat/deep/2.jpg": "", "dog/1.jpg": "c", "dog/plain": "d", "empty/": "", "grüße/3.txt": "e"}},
		"groups":  {map[string]string{"group": "true"}, map[string]string{"cat/1.jpg": "a", "cat/1.txt": "b", "dog/2.seg.png": "c"}},
		"flat":    {map[string]string{"flat": "true"}, map[string]string{"README": "a", "x/b.txt": "b", "x/c.d.JPG": "c", "x/y/z.tar.gz": "d"}},
		"names":   {map[string]string{"flat": "true"}, map[string]string{"index": "a", "manifest.json": "b", "meta.json/x.txt": "c", "PART_00000.ffr/y.txt": "d"}},
		"both":    {map[string]string{"flat": "true", "group": "true"}, map[string]string{"a.jpg": "a", "a.txt": "b", "x/plain": "c"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, base := filepath.Join(t.TempDir(), "in"), t.TempDir()
			for name, text := range row.files {
				path := filepath.Join(in, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if !strings.HasSuffix(name, "/") {
					if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
						t.Fatal(err)
					}
				} else if err := os.MkdirAll(path, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			shardsOf := func(in, name string) string {
				f, _ := format.Named("folder")
				r := f.Reader()
				for name, value := range row.options {
					if err := r.Set.Set(name, value); err != nil {
						t.Fatal(err)
					}
				}
				out := filepath.Join(base, name)
				c := &convert.Conversion{Reader: r, Sources: []string{in}, Out: out}
				if _, err := c.Write(t.Context()); err != nil {
					t.Fatal(err)
				}
				return out
			}
			first := shardsOf(in, "first")
			out := filepath.Join(base, "out")
			done, err := folder(t.Context(), t, first, out, export.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got, want := files(t, out), files(t, in); !slices.Equal(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
			if n := len(row.files); int(done.Totals.Files) != n && name != "classes" || !done.Verified {
				t.Errorf("%+v of %d", done.Totals, n)
			}
			same(t, first, shardsOf(out, "second"), ".ffr")
			if again, err := folder(t.Context(), t, first, out, export.Options{}); err != nil || again.Written != 0 {
				t.Errorf("again: %+v, %v", again, err)
			}
		})
	}
}

// What is not one file on every file system is refused before anything is written.
func TestFolderRefuses(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("n", 252)
	for _, row := range []struct {
		name   string
		keys   []string
		fields []string
		want   string
	}{
		{"up", []string{"../a"}, nil, `".." is not the name of a file`},
		{"up inside", []string{"a/../b"}, nil, `".." is not the name`},
		{"here", []string{"./a"}, nil, `"." is not the name`},
		{"absolute", []string{"/a"}, nil, "it is absolute"},
		{"an empty name", []string{"a//b"}, nil, `"" is not the name`},
		{"a long name", []string{long}, nil, "a name of 256 bytes"},
		{"a long path", []string{strings.Repeat("dir/", 1000) + "a"}, nil, "at most 3072"},
		{"our own directory", []string{".FFconvert/tmp/a"}, nil, "ffconvert's own"},
		{"case", []string{"Cat", "cat"}, nil, "in case alone"},
		{"case of a directory", []string{"Cat/1", "cat/2"}, nil, "in case alone"},
		{"forms of Unicode", []string{"\u00e9", "e\u0301"}, nil, "in case alone, or in the form of Unicode"},
		{"twice", []string{"a", "b", "a"}, nil, "two files"},
		{"twice by a dot", []string{"a", "a.b"}, []string{"b.jpg", "jpg"}, "two files"},
		{"a file and a directory", []string{"a", "a.jpg/b"}, nil, "a file and a directory"},
		{"a directory and a file", []string{"a.jpg/b", "a"}, nil, "a file and a directory"},
		{"a field that leads out", []string{"a"}, []string{"/../../b"}, `".." is not the name`},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			parts := [][]converters.Sample{nil}
			for i, key := range row.keys {
				field := "jpg"
				if row.fields != nil {
					field = row.fields[i]
				}
				parts[0] = append(parts[0], converters.Sample{Key: key, Fields: []converters.Field{{Name: field, Value: converters.Bytes([]byte("x"))}}})
			}
			dir := shards(t, parts, encode.Options{}, 1)
			base := t.TempDir()
			out := filepath.Join(base, "out")
			_, err := folder(t.Context(), t, dir, out, export.Options{})
			if err == nil || !strings.Contains(err.Error(), row.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, want %s", err, row.want)
			}
			if left, _ := os.ReadDir(base); len(left) > 0 {
				t.Errorf("left %v", left)
			}
		})
	}
}

// Ordinals name what has no key, or keys that are no paths.
func TestFolderOrdinal(t *testing.T) {
	t.Parallel()
	parts := [][]converters.Sample{nil, nil}
	for i := range 40 {
		parts[i/20] = append(parts[i/20], converters.Sample{Key: "../same", Fields: []converters.Field{{Name: "txt", Value: converters.Bytes(fmt.Append(nil, i))}}})
	}
	out := filepath.Join(t.TempDir(), "out")
	if _, err := folder(t.Context(), t, shards(t, parts, encode.Options{}, 3), out, export.Options{Ordinal: true}); err != nil {
		t.Fatal(err)
	}
	got := files(t, out)
	for i := range 40 {
		if want := fmt.Sprintf("%09d.txt=%d", i, i); got[i+1] != want {
			t.Errorf("%q, want %q", got[i+1], want)
		}
	}
	parts[0][0].Fields = append(parts[0][0].Fields, converters.Field{Name: "TXT"})
	_, err := folder(t.Context(), t, shards(t, parts, encode.Options{}, 3), filepath.Join(t.TempDir(), "out"), export.Options{Ordinal: true})
	if err == nil || !strings.Contains(err.Error(), "in case alone") {
		t.Error(err)
	}
}

// A directory with other files is refused; an export that was stopped goes on, and mends what it has left.
func TestFolderTarget(t *testing.T) {
	t.Parallel()
	parts := [][]converters.Sample{nil}
	for i := range 300 {
		parts[0] = append(parts[0], converters.Sample{Key: fmt.Sprintf("d%d/%d", i%7, i), Fields: []converters.Field{{Name: "bin", Value: converters.Bytes(bytes.Repeat([]byte{byte(i)}, i))}}})
	}
	dir := shards(t, parts, encode.Options{}, 2)
	there := t.TempDir()
	if err := os.WriteFile(filepath.Join(there, ".hidden"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := folder(t.Context(), t, dir, there, export.Options{}); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Error(err)
	}
	parts[0] = append(parts[0], converters.Sample{Key: "manifest", Fields: []converters.Field{{Name: "json"}}}) // no dataset's
	dir = shards(t, parts, encode.Options{}, 2)
	whole := filepath.Join(t.TempDir(), "whole")
	if _, err := folder(t.Context(), t, dir, whole, export.Options{}); err != nil {
		t.Fatal(err)
	}
	for _, after := range []int{0, 100, 299} {
		out := filepath.Join(t.TempDir(), "out")
		ctx, cancel := context.WithCancel(t.Context())
		_, err := folder(ctx, t, dir, out, export.Options{Workers: 1, Progress: &stopper{after: after, cancel: cancel}})
		cancel()
		if err == nil {
			t.Fatal("it did not stop")
		}
		if _, err := os.Stat(filepath.Join(out, ".ffconvert", "export.json")); err == nil {
			t.Error("a manifest of half a folder")
		}
		if _, err := os.Stat(filepath.Join(out, ".ffconvert", "export.json.journal")); err != nil {
			t.Errorf("after %d: no journal: %v", after, err)
		}
		if broken := filepath.Join(out, "d1", "1.bin"); after > 0 { // after a loss of power
			if err := os.WriteFile(broken, []byte{9}, 0o644); err != nil {
				t.Error(err)
			}
		}
		if _, err := folder(t.Context(), t, dir, out, export.Options{}); err != nil {
			t.Fatal(err)
		}
		if got, want := files(t, out), files(t, whole); !slices.Equal(got, want) {
			t.Errorf("after %d: %d files, want %d", after, len(got), len(want))
		}
	}
}

// A finished folder is compared by the same call, whatever a run that was killed at its end, or an earlier version, has left beside the files.
func TestFolderAgain(t *testing.T) {
	t.Parallel()
	parts := [][]converters.Sample{nil}
	for i := range 50 {
		parts[0] = append(parts[0], converters.Sample{Key: fmt.Sprintf("d%d/%d", i%3, i), Fields: []converters.Field{{Name: "bin", Value: converters.Bytes(bytes.Repeat([]byte{byte(i)}, i))}}})
	}
	dir := shards(t, parts, encode.Options{}, 2)
	for _, ordinal := range []bool{false, true} {
		out := filepath.Join(t.TempDir(), "out")
		first, err := folder(t.Context(), t, dir, out, export.Options{Ordinal: ordinal})
		if err != nil {
			t.Fatal(err)
		}
		want := files(t, out)
		manifest, err := json.Marshal(first.Manifest)
		if err != nil {
			t.Fatal(err)
		}
		file, _, _ := strings.Cut(want[len(want)-1], "=")
		for name, row := range map[string]struct {
			make func(path func(...string) string) error
			want string // "": all is as it was
		}{
			"nothing":           {func(func(...string) string) error { return nil }, ""},
			"killed at its end": {func(path func(...string) string) error { return os.MkdirAll(path(".ffconvert", "tmp"), 0o755) }, ""},
			"an earlier version": {func(path func(...string) string) error {
				return errors.Join(os.MkdirAll(path(".ffconvert"), 0o755), os.WriteFile(path(".ffconvert", "export.json"), manifest, 0o644))
			}, ""},
			"a file is gone":   {func(path func(...string) string) error { return os.Remove(path(file)) }, ""},
			"a file more":      {func(path func(...string) string) error { return os.WriteFile(path("zz.bin"), nil, 0o644) }, "zz.bin: the target is not empty"},
			"a directory more": {func(path func(...string) string) error { return os.Mkdir(path("zz"), 0o755) }, "zz: the target is not empty"},
			"other content":    {func(path func(...string) string) error { return os.WriteFile(path(file), []byte("x"), 0o644) }, ": the target is not empty (the export has another file by this name; name an empty"},
			"a link":           {func(path func(...string) string) error { return os.Symlink(os.DevNull, path("zz")) }, "zz: the target is not empty"},
		} {
			copied := filepath.Join(t.TempDir(), "copied")
			if err := os.CopyFS(copied, os.DirFS(out)); err != nil {
				t.Fatal(err)
			}
			if err := row.make(func(names ...string) string { return filepath.Join(append([]string{copied}, names...)...) }); err != nil {
				t.Fatal(err)
			}
			before := files(t, copied)
			done, err := folder(t.Context(), t, dir, copied, export.Options{Ordinal: ordinal})
			switch after := files(t, copied); {
			case row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want) || !slices.Equal(after, before)):
				t.Errorf("%s: %v, want %q", name, err, row.want)
			case row.want == "" && (err != nil || !slices.Equal(after, want) || (done.Written != 0) != (name == "a file is gone")):
				t.Errorf("%s: %v, %d of %d files", name, err, len(after), len(want))
			}
		}
	}
}

// Progress counts the bytes of the files: what it says at its end is what the report says.
func TestFolderProgress(t *testing.T) {
	t.Parallel()
	parts := [][]converters.Sample{nil}
	for i := range 4200 { // two pieces
		parts[0] = append(parts[0], converters.Sample{Key: fmt.Sprint(i), Fields: []converters.Field{{Name: "a", Value: converters.Bytes([]byte("12345"))}, {Name: "b"}}})
	}
	var p phases
	done, err := folder(t.Context(), t, shards(t, parts, encode.Options{}, 2), filepath.Join(t.TempDir(), "out"), export.Options{Progress: &p})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(p.all[1:]), "[write 21000 21000 4200 verify 21000 21000 4200]"; got != want || done.Totals.Bytes != 21000 || done.Totals.Files != 8400 {
		t.Errorf("%s, want %s; %+v", got, want, done.Totals)
	}
}

// phases is a progress that adds up what each phase is told.
type phases struct {
	mu  sync.Mutex
	all []phase
}

type phase struct {
	name                  string
	total, bytes, samples int64
}

func (p phase) String() string { return fmt.Sprint(p.name, " ", p.total, p.bytes, p.samples) }

func (p *phases) Start(name string, bytes int64) {
	p.all = append(p.all, phase{name: name, total: bytes})
}

func (p *phases) Add(samples, bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := &p.all[len(p.all)-1]
	last.samples, last.bytes = last.samples+samples, last.bytes+bytes
}
