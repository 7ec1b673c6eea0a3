package input

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/place"
)

// rooted returns the names with root in place of @.
func rooted(root string, names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = strings.ReplaceAll(n, "@", root)
	}
	return out
}

func TestFindDirectories(t *testing.T) {
	t.Parallel()
	root := tree(t, "imagenet/train/cat/1.jpg", "imagenet/val/dog/1.jpg", "imagenet/.git/x", "b-0/x", "b-1/x", "b-2/", "b-x", "g*/x", "gx/x", "a b/x", "dir:/x", "p q/x")
	must(t, os.Symlink("imagenet", filepath.Join(root, "link")))
	for _, tt := range []struct {
		name  string
		args  []string
		want  []string // names
		paths []string // nil: as the names
	}{
		{"plain", []string{"@/imagenet"}, []string{"@/imagenet"}, nil},
		{"slash", []string{"@/imagenet/"}, []string{"@/imagenet"}, nil},
		{"slashes", []string{"@/imagenet//"}, []string{"@/imagenet"}, nil},
		{"an empty one", []string{"@/b-2"}, []string{"@/b-2"}, nil},
		{"order of arguments", []string{"@/imagenet/val/", "@/b-0"}, []string{"@/imagenet/val", "@/b-0"}, nil},
		{"braces", []string{"@/b-{2..0}/"}, []string{"@/b-2", "@/b-1", "@/b-0"}, nil},
		{"joined", []string{"@/b-1::@/b-0"}, []string{"@/b-1", "@/b-0"}, nil},
		{"glob", []string{"@/b-[0-9]"}, []string{"@/b-0", "@/b-1", "@/b-2"}, nil},
		{"glob of directories alone", []string{"@/b-*/"}, []string{"@/b-0", "@/b-1", "@/b-2"}, nil},
		{"glob leaves hidden out", []string{"@/imagenet/*"}, []string{"@/imagenet/train", "@/imagenet/val"}, nil},
		{"glob below", []string{"@/imagenet/*/cat"}, []string{"@/imagenet/train/cat"}, nil},
		{"literal asterisk wins", []string{"@/g*"}, []string{"@/g*"}, nil},
		{"link", []string{"@/link/"}, []string{"@/link"}, nil},
		{"link and its parent", []string{"@/link/..", "@/imagenet"}, []string{"@/link/..", "@/imagenet"}, nil},
		{"space", []string{"@/a b/"}, []string{"@/a b"}, nil},
		{"colon", []string{"@/dir:/", "@/dir:/../imagenet"}, []string{"@/dir:/", "@/dir:/../imagenet"}, nil},
		{"file URL", []string{"file:@/imagenet/"}, []string{"file:@/imagenet"}, []string{"@/imagenet"}},
		{"file URL, escaped", []string{"file://@/p%20q/"}, []string{"file://@/p%20q"}, []string{"@/p q"}},
		{"root", []string{"/"}, []string{"/"}, nil},
		{"root, twice the slash", []string{"//"}, []string{"/"}, nil},
		{"root as a URL", []string{"file:///"}, []string{"file:/"}, []string{"/"}},
		{"here", []string{"."}, []string{"."}, nil},
		{"here, with slash", []string{"./"}, []string{"."}, nil},
		{"above", []string{"../"}, []string{".."}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			opts := Options{Directories: true, Match: func(string) bool { return false }, LookupEnv: noEnv}
			found, err := Find(t.Context(), rooted(root, tt.args), opts)
			must(t, err)
			if tt.paths == nil {
				tt.paths = tt.want
			}
			var want []Name
			for i, path := range rooted(root, tt.paths) {
				want = append(want, Name{Name: strings.ReplaceAll(tt.want[i], "@", root), Path: path, Directory: true})
			}
			if !slices.Equal(found, want) {
				t.Fatalf("got %+v, want %+v", found, want)
			}
		})
	}
}

func TestFindDirectoriesRewritten(t *testing.T) {
	t.Parallel()
	root := tree(t, "imagenet/train/1.jpg")
	env := func(key string) (string, bool) { return "/data=" + root, key == "GOPEN_REWRITE" }
	found, err := Find(t.Context(), []string{"/data/imagenet/"}, Options{Directories: true, LookupEnv: env})
	must(t, err)
	if want := []Name{{Name: "/data/imagenet", Path: root + "/imagenet", Directory: true}}; !slices.Equal(found, want) {
		t.Fatalf("%+v", found)
	}
}

func TestFindDirectoriesRefuses(t *testing.T) {
	t.Parallel()
	root := tree(t, "d/x", "e/x", "file", "two-0/x", "two-1")
	must(t, os.Symlink("d", filepath.Join(root, "link")))
	must(t, os.Symlink("file", filepath.Join(root, "filelink")))
	must(t, os.Symlink("nowhere", filepath.Join(root, "dangling")))
	for _, tt := range []struct {
		name string
		args []string
		want error
		says string
	}{
		{"file", []string{"@/file"}, ErrNotDirectory, "@/file: not a directory: a regular file"},
		{"link to a file", []string{"@/filelink"}, ErrNotDirectory, "a regular file"},
		{"device", []string{"/dev/null"}, ErrNotDirectory, "a device"},
		{"file among the matches", []string{"@/two-*"}, ErrNotDirectory, "@/two-1"},
		{"file with slash", []string{"@/file/"}, ErrNotFound, "@/file/"},
		{"standard input", []string{"-"}, ErrNotDirectory, "-: not a directory: standard input"},
		{"missing", []string{"@/no/"}, ErrNotFound, "@/no/"},
		{"missing two", []string{"@/d", "@/no", "@/none"}, ErrNotFound, "2 names"},
		{"dangling link", []string{"@/dangling"}, ErrNotFound, "@/dangling"},
		{"no match", []string{"@/x*/"}, ErrNoMatch, "hidden directories"},
		{"nothing", nil, errPattern, "name directories"},
		{"scheme without what reads it", []string{"s3://bucket/imagenet/"}, ErrScheme, "local directory"},
		{"program", []string{"pipe:cat x"}, ErrScheme, "local directory"},
		{"too many", []string{"@/{d,e}", "@/two-0"}, errPattern, "more than 2"},
		{"twice", []string{"@/d", "@/d"}, errRepeated, "@/d"},
		{"twice, with slash", []string{"@/d", "@/d/"}, errRepeated, "@/d"},
		{"twice by another path", []string{"@/d", "@/e/../d/."}, errRepeated, "the first time as @/d"},
		{"twice by a link", []string{"@/link/", "@/d"}, errRepeated, "the first time as @/link"},
		{"twice by a link's parent", []string{"@/link/..", "@/"}, errRepeated, ""},
		{"root twice", []string{"/", "/usr/.."}, errRepeated, ""},
		{"here twice", []string{".", "../input"}, errRepeated, "the first time as ."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			opts := Options{Directories: true, LookupEnv: noEnv, MaxNames: 100}
			if tt.name == "too many" {
				opts.MaxNames = 2
			}
			_, err := Find(t.Context(), rooted(root, tt.args), opts)
			var e *place.Error
			if says := strings.ReplaceAll(tt.says, "@", root); !errors.Is(err, tt.want) || !errors.As(err, &e) || !strings.Contains(err.Error(), says) {
				t.Fatalf("got %v; want %v, saying %q", err, tt.want, says)
			}
			opts.AllowRepeats = true
			if _, err := Find(t.Context(), rooted(root, tt.args), opts); (err == nil) != (tt.want == errRepeated) {
				t.Fatalf("with repeats: %v", err)
			}
		})
	}
}

// What .. means is for links to say: these are two files, and these one.
func TestRepeatsBehindLinks(t *testing.T) {
	t.Parallel()
	root := tree(t, "x.tar", "far/x.tar", "far/d/")
	must(t, os.Symlink("far/d", filepath.Join(root, "link")))
	got, err := findNames(t, root, []string{"@/x.tar", "@/link/../x.tar"}, Options{})
	if err != nil || len(got) != 2 {
		t.Fatal(got, err)
	}
	if _, err := findNames(t, root, []string{"@/far/x.tar", "@/link/../x.tar"}, Options{}); !errors.Is(err, errRepeated) {
		t.Fatal(err)
	}
}

func TestArrange(t *testing.T) {
	t.Parallel()
	root := tree(t, "d/part-10", "d/part-2", "d/part-1", "d/notes", "d/.hidden", "d/sub/x", "file")
	why := errors.New("a part is missing")
	for _, tt := range []struct {
		name    string
		arrange func([]string) ([]string, error)
		want    []string
		err     error
	}{
		{"its order", func(names []string) ([]string, error) {
			if !slices.Equal(names, []string{"part-1", "part-10", "part-2"}) {
				t.Errorf("given %q", names)
			}
			return []string{"part-1", "part-2", "part-10"}, nil
		}, []string{"d/part-1", "d/part-2", "d/part-10", "file"}, nil},
		{"its choice", func([]string) ([]string, error) { return []string{"part-2"}, nil }, []string{"d/part-2", "file"}, nil},
		{"nothing", func([]string) ([]string, error) { return nil, nil }, nil, ErrNoMatch},
		{"its refusal", func([]string) ([]string, error) { return nil, why }, nil, why},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			opts := Options{Arrange: tt.arrange, Match: func(name string) bool { return strings.HasPrefix(name, "part-") }}
			got, err := findNames(t, root, []string{"@/d", "@/file"}, opts)
			var e *place.Error
			if !errors.Is(err, tt.err) || err == nil && !slices.Equal(got, tt.want) || err != nil && (!errors.As(err, &e) || e.Where != root+"/d") {
				t.Fatalf("got %q, %v; want %q, %v", got, err, tt.want, tt.err)
			}
		})
	}
}
