package jsonl

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/convertertest"
)

// tree writes files below a new directory, and returns it.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(data), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func openTree(t *testing.T, dir string, opts Options) *paths {
	t.Helper()
	return OpenFiles(convertertest.Parts(t, filepath.Join(dir, MetadataName)), []string{dir}, opts)
}

const pictured = `{"file_name": "n01/A.JPG", "caption": "one"}

{"__key__": "k", "mask_file_name": "m/a.seg.PNG", "depth_file_name": null, "x": [1]}
{"file_names": ["n01/A.JPG", "plain"], "clip_file_names": []}
`

func TestFiles(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{
		MetadataName: pictured, "n01/A.JPG": "jpeg", "m/a.seg.PNG": "png", "plain": "",
		"n01/b.jpg": "x", ".DS_Store": "x", ".git/config": "x", "other/" + MetadataName: "{}", "other/c.jpg": "x", MetadataName + ".bak": "",
	})
	src := openTree(t, dir, Options{Load: func(string) bool { return true }})
	got, err := contents(t, src)
	want := []string{
		"n01/A.JPG file_name:t" + hex("n01/A.JPG") + " jpg:b" + hex("jpeg") + " caption:t" + hex("one"),
		"k mask_file_name:t" + hex("m/a.seg.PNG") + " mask.png:b" + hex("png") + " depth_file_name:null x:[1]",
		" file_names:[t" + hex("n01/A.JPG") + ",t" + hex("plain") + "] 0.jpg:b" + hex("jpeg") + " 1.data:b clip_file_names:[]",
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v\nwant %q", got, err, want)
	}
	var skipped []string
	for span, err := range src.Index(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if span.Shape == nil {
			skipped = append(skipped, span.Skip+" "+span.Name)
		}
	}
	if want := []string{"empty line ", "hidden file .DS_Store", "hidden directory .git", "file that no line names n01/b.jpg"}; !slices.Equal(skipped, want) {
		t.Errorf("skipped %q, want %q", skipped, want)
	}
}

func hex(s string) string { return fmt.Sprintf("%x", s) }

func TestFilesSource(t *testing.T) {
	t.Parallel()
	convertertest.Test(t, func(t *testing.T) convertertest.Fixture {
		var parts, dirs []string
		var files []string
		for range 2 {
			all := map[string]string{}
			var lines strings.Builder
			for i := range 40 {
				name := fmt.Sprintf("%02d.jpg", i)
				all[name] = strings.Repeat(name, 10*i*i)
				fmt.Fprintf(&lines, "{\"file_name\": %q, \"n\": %d}\n", name, i)
			}
			all[MetadataName] = lines.String()
			dir := tree(t, all)
			dirs, parts, files = append(dirs, dir), append(parts, filepath.Join(dir, MetadataName)), append(files, filepath.Join(dir, "07.jpg"))
		}
		reopen := func(t *testing.T) converters.Source {
			return OpenFiles(convertertest.Parts(t, parts...), dirs, Options{})
		}
		return convertertest.Fixture{Source: reopen(t), Files: files, Reopen: reopen}
	})
}

func TestFilesRefuse(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(tree(t, map[string]string{"x.jpg": "x"}), "x.jpg")
	for _, row := range []struct {
		name, line string
		want       error
		text       string
	}{
		{"missing", `{"file_name": "none.jpg"}`, os.ErrNotExist, `"none.jpg"`},
		{"out of the directory", `{"file_name": "../a.jpg"}`, converters.ErrUnsupported, "leads out of the directory"},
		{"out and back", `{"file_name": "d/../../x/a.jpg"}`, converters.ErrUnsupported, "leads out of the directory"},
		{"absolute", `{"file_name": "/etc/passwd"}`, converters.ErrUnsupported, "leads out of the directory"},
		{"empty", `{"file_name": ""}`, converters.ErrUnsupported, "leads out of the directory"},
		{"a link out", `{"file_name": "link.jpg"}`, converters.ErrUnsupported, "symbolic link leads out"},
		{"a directory", `{"file_name": "d"}`, converters.ErrUnsupported, "not a regular file"},
		{"no name", `{"image": "a.jpg"}`, converters.ErrMalformed, `no "file_name"`},
		{"null", `{"file_name": null}`, converters.ErrUnsupported, "want a text"},
		{"a number", `{"x_file_name": 1}`, converters.ErrUnsupported, "want a text"},
		{"a text in place of a list", `{"file_names": "a.jpg"}`, converters.ErrUnsupported, "want a list of texts"},
		{"a list of lists", `{"file_names": [["a.jpg"]]}`, converters.ErrUnsupported, "want a list of texts"},
		{"a field that is there", `{"file_name": "a.jpg", "jpg": 1}`, converters.ErrDuplicate, `field "jpg"`},
		{"a field twice", `{"a_file_name": "a.jpg", "a__file_name": "a.jpg", "a.jpg": 1}`, converters.ErrDuplicate, `field "a.jpg"`},
		{"too large", `{"file_name": "large.jpg"}`, converters.ErrLimit, "more than 100 bytes"},
	} {
		dir := tree(t, map[string]string{MetadataName: "{\"file_name\": \"a.jpg\"}\n" + row.line + "\n", "a.jpg": "x", "d/b.jpg": "x", "large.jpg": strings.Repeat("x", 101)})
		if err := os.Symlink(outside, filepath.Join(dir, "link.jpg")); err != nil {
			t.Fatal(err)
		}
		_, _, _, err := indexed(t, openTree(t, dir, Options{MaxSample: 100}))
		if err == nil {
			t.Errorf("%s: accepted", row.name)
			continue
		}
		placed := wantPlaced(t, err)
		if !errors.Is(err, row.want) || !strings.Contains(err.Error(), row.text) || placed.Off != 23 || placed.Entry != "line 2" {
			t.Errorf("%s: %v; want %v, %q", row.name, err, row.want, row.text)
		}
	}
}

// A file that has changed since it was listed is refused, whatever its size.
func TestFilesChanged(t *testing.T) {
	t.Parallel()
	for _, data := range []string{"abc", "ab", "abcd", ""} {
		dir := tree(t, map[string]string{MetadataName: `{"file_name": "a.jpg"}`, "a.jpg": "xyz"})
		src := openTree(t, dir, Options{Load: func(string) bool { return true }})
		if _, err := contents(t, src); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "a.jpg")
		if err := errors.Join(os.WriteFile(path, []byte(data), 0o600), os.Chtimes(path, time.Time{}, time.Now().Add(time.Minute))); err != nil {
			t.Fatal(err)
		}
		for _, err := range src.Read(t.Context(), converters.Run{Count: 1}) {
			if !errors.Is(err, converters.ErrChanged) {
				t.Errorf("%q: %v", data, err)
			}
		}
	}
}
