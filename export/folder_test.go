package export_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/convert"
	"github.com/ffconvert/ffconvert/convert/format"
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/export"
)

func folder(ctx context.Context, t testing.TB, dir, out string, opts export.FolderOptions) (done *export.Report, err error) {
	t.Helper()
	err = with(t.Context(), func(s *export.Source) (err error) {
		done, err = export.Folder(ctx, s, out, opts)
		return err
	}, dir)
	return done, err
}

// files lists the files and empty directories of a folder with their contents, without what is ffconvert's own.
func files(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == ".ffconvert":
			return fs.SkipDir
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
			done, err := folder(t.Context(), t, first, out, export.FolderOptions{})
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
			if again, err := folder(t.Context(), t, first, out, export.FolderOptions{}); err != nil || again.Written != 0 {
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
			_, err := folder(t.Context(), t, dir, out, export.FolderOptions{})
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
	if _, err := folder(t.Context(), t, shards(t, parts, encode.Options{}, 3), out, export.FolderOptions{Key: export.KeyOrdinal}); err != nil {
		t.Fatal(err)
	}
	got := files(t, out)
	for i := range 40 {
		if want := fmt.Sprintf("%09d.txt=%d", i, i); got[i+1] != want {
			t.Errorf("%q, want %q", got[i+1], want)
		}
	}
	parts[0][0].Fields = append(parts[0][0].Fields, converters.Field{Name: "TXT"})
	_, err := folder(t.Context(), t, shards(t, parts, encode.Options{}, 3), filepath.Join(t.TempDir(), "out"), export.FolderOptions{Key: export.KeyOrdinal})
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
	if _, err := folder(t.Context(), t, dir, there, export.FolderOptions{}); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Error(err)
	}
	whole := filepath.Join(t.TempDir(), "whole")
	if _, err := folder(t.Context(), t, dir, whole, export.FolderOptions{}); err != nil {
		t.Fatal(err)
	}
	parts[0] = append(parts[0], converters.Sample{Key: "manifest", Fields: []converters.Field{{Name: "json"}}}) // no dataset's
	dir = shards(t, parts, encode.Options{}, 2)
	whole = filepath.Join(t.TempDir(), "whole")
	if _, err := folder(t.Context(), t, dir, whole, export.FolderOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, after := range []int{0, 100, 299} {
		out := filepath.Join(t.TempDir(), "out")
		ctx, cancel := context.WithCancel(t.Context())
		_, err := folder(ctx, t, dir, out, export.FolderOptions{Workers: 1, Progress: &stopper{after: after, cancel: cancel}})
		cancel()
		if err == nil {
			t.Fatal("it did not stop")
		}
		if _, err := os.Stat(filepath.Join(out, ".ffconvert", "export.json")); err == nil {
			t.Error("a manifest of half a folder")
		}
		if broken := filepath.Join(out, "d1", "1.bin"); after > 0 { // after a loss of power
			if err := os.WriteFile(broken, []byte{9}, 0o644); err != nil {
				t.Error(err)
			}
		}
		if _, err := folder(t.Context(), t, dir, out, export.FolderOptions{}); err != nil {
			t.Fatal(err)
		}
		if got, want := files(t, out), files(t, whole); !slices.Equal(got, want) {
			t.Errorf("after %d: %d files, want %d", after, len(got), len(want))
		}
	}
}
