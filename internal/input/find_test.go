package input

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/test/inputtest"
)

// tree makes files (and, of names that end in /, directories) below a new directory.
func tree(t testing.TB, names ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, name := range names {
		path := filepath.Join(root, name)
		if strings.HasSuffix(name, "/") {
			must(t, os.MkdirAll(path, 0o755))
			continue
		}
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(name), 0o644))
	}
	return root
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func noEnv(string) (string, bool) { return "", false }

func findNames(t *testing.T, root string, args []string, opts Options) ([]string, error) {
	t.Helper()
	if opts.LookupEnv == nil {
		opts.LookupEnv = noEnv
	}
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "@", root)
	}
	found, err := Find(context.Background(), args, opts)
	var names []string
	for _, n := range found {
		names = append(names, strings.TrimPrefix(n.Name, root+"/"))
	}
	return names, err
}

func TestFind(t *testing.T) {
	t.Parallel()
	tars := func(name string) bool { return strings.Contains(name, ".tar") }
	root := tree(t, "a-0.tar", "a-1.tar", "a-2.tar", "b.tar.gz", "notes.txt", ".hidden.tar", "a b.tar",
		"d/2.tar", "d/10.tar", "d/.x.tar", "d/readme", "d/sub/9.tar", "e/é.tar", "e/z.tar", "empty/",
		"g*.tar", "gx.tar", "x{0..1}.tar", "col:on.tar", "p%20q.tar", "r s.tar")
	must(t, os.Symlink("a-0.tar", filepath.Join(root, "link.tar")))
	must(t, os.Symlink("d", filepath.Join(root, "linked")))
	for _, tt := range []struct {
		name string
		args []string
		want []string
	}{
		{"plain", []string{"@/b.tar.gz"}, []string{"b.tar.gz"}},
		{"order of arguments", []string{"@/b.tar.gz", "@/a-0.tar"}, []string{"b.tar.gz", "a-0.tar"}},
		{"braces", []string{"@/a-{0..2}.tar"}, []string{"a-0.tar", "a-1.tar", "a-2.tar"}},
		{"angles", []string{"@/a-<2..0>.tar"}, []string{"a-2.tar", "a-1.tar", "a-0.tar"}},
		{"joined", []string{"@/b.tar.gz::@/a-0.tar"}, []string{"b.tar.gz", "a-0.tar"}},
		{"glob", []string{"@/a-*.tar"}, []string{"a-0.tar", "a-1.tar", "a-2.tar"}},
		{"glob question", []string{"@/a-?.tar"}, []string{"a-0.tar", "a-1.tar", "a-2.tar"}},
		{"glob class", []string{"@/a-[02].tar"}, []string{"a-0.tar", "a-2.tar"}},
		{"glob negated", []string{"@/a-[!0].tar"}, []string{"a-1.tar", "a-2.tar"}},
		{"glob of directories", []string{"@/[de]/*.tar"}, []string{"d/10.tar", "d/2.tar", "e/z.tar", "e/é.tar"}},
		{"glob leaves hidden out", []string{"@/d/*"}, []string{"d/10.tar", "d/2.tar", "d/readme", "d/sub/9.tar"}},
		{"glob of hidden", []string{"@/d/.*.tar"}, []string{"d/.x.tar"}},
		{"braces and glob", []string{"@/{d,e}/*.tar"}, []string{"d/10.tar", "d/2.tar", "e/z.tar", "e/é.tar"}},
		{"literal asterisk wins", []string{"@/g*.tar"}, []string{"g*.tar"}},
		{"literal braces win", []string{"@/x{0..1}.tar"}, []string{"x{0..1}.tar"}},
		{"directory", []string{"@/d"}, []string{"d/10.tar", "d/2.tar"}},
		{"directory with slash", []string{"@/d/"}, []string{"d/10.tar", "d/2.tar"}},
		{"directory sorted by code point", []string{"@/e"}, []string{"e/z.tar", "e/é.tar"}},
		{"linked directory", []string{"@/linked"}, []string{"linked/10.tar", "linked/2.tar"}},
		{"link", []string{"@/link.tar"}, []string{"link.tar"}},
		{"hidden by name", []string{"@/.hidden.tar"}, []string{".hidden.tar"}},
		{"space", []string{"@/a b.tar"}, []string{"a b.tar"}},
		{"colon", []string{"@/col:on.tar"}, []string{"col:on.tar"}},
		{"file URL", []string{"file:@/b.tar.gz"}, []string{"file:@/b.tar.gz"}},
		{"file URL, empty host", []string{"file://@/b.tar.gz"}, []string{"file://@/b.tar.gz"}},
		{"file URL, localhost", []string{"file://localhost@/b.tar.gz"}, []string{"file://localhost@/b.tar.gz"}},
		{"file URL, escaped", []string{"file:@/r%20s.tar"}, []string{"file:@/r%20s.tar"}},
		{"file URL, a name with a percent sign", []string{"FILE:@/p%20q.tar"}, []string{"FILE:@/p%20q.tar"}},
		{"file URL, glob", []string{"file:@/a-*.tar"}, []string{"a-0.tar", "a-1.tar", "a-2.tar"}},
		{"standard input", []string{"@/b.tar.gz", "-"}, []string{"b.tar.gz", "-"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := findNames(t, root, tt.args, Options{Match: func(n string) bool { return tars(n) }})
			for i := range tt.want {
				tt.want[i] = strings.ReplaceAll(tt.want[i], "@", root)
			}
			if err != nil || !slices.Equal(got, tt.want) {
				t.Fatalf("got %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}

func TestFindSays(t *testing.T) {
	t.Parallel()
	root := tree(t, "a.tar")
	found, err := Find(t.Context(), []string{root + "/a.tar", "-"}, Options{LookupEnv: noEnv})
	must(t, err)
	fi, err := os.Stat(root + "/a.tar")
	must(t, err)
	want := []Name{
		{Name: root + "/a.tar", Path: root + "/a.tar", Size: 5, ModTime: fi.ModTime()},
		{Name: "-", Size: -1},
	}
	if !slices.Equal(found, want) {
		t.Fatalf("got %+v, want %+v", found, want)
	}
}

func TestFindRewrites(t *testing.T) {
	t.Parallel()
	root := tree(t, "a-0.tar", "a-1.tar")
	env := func(k string) (string, bool) { return "s3://bucket/=" + root + "/", k == "WDS_REWRITE" }
	found, err := Find(t.Context(), []string{"s3://bucket/a-{0..1}.tar"}, Options{LookupEnv: env})
	must(t, err)
	if len(found) != 2 || found[1].Name != "s3://bucket/a-1.tar" || found[1].Path != root+"/a-1.tar" {
		t.Fatalf("got %+v", found)
	}
}

func TestFindRefuses(t *testing.T) {
	t.Parallel()
	root := tree(t, "a.tar", "d/a.tar", "empty/", "dangling/", "hid/.a.tar", "two/a.tar", "two/b.tar")
	must(t, os.Symlink("a.tar", root+"/link.tar"))
	must(t, os.Symlink("nowhere", root+"/dangling/x.tar"))
	must(t, os.Symlink("d", root+"/dd"))
	must(t, os.Symlink("loop.tar", root+"/loop.tar"))
	must(t, syscall.Mkfifo(root+"/fifo", 0o644))
	for _, tt := range []struct {
		name string
		args []string
		want error
		says string
	}{
		{"nothing", nil, errPattern, "no input"},
		{"missing", []string{"@/b.tar"}, ErrNotFound, "@/b.tar: no such file"},
		{"missing is not-exist", []string{"@/b.tar"}, fs.ErrNotExist, ""},
		{"missing directory", []string{"@/no/b.tar"}, ErrNotFound, "@/no/b.tar"},
		{"file as directory", []string{"@/a.tar/b"}, ErrNotFound, "@/a.tar/b"},
		{"missing two", []string{"@/b.tar", "@/a.tar", "@/c.tar"}, ErrNotFound, "2 names in all, also @/c.tar"},
		{"missing many", []string{"@/x{00..29}.tar"}, ErrNotFound, "@/x00.tar: no such file: 30 names in all, also @/x01.tar, "},
		{"hostile name", []string{"@/a\x1b]2J\n.tar"}, ErrNotFound, `\x1b]2J\n.tar"`},
		{"glob", []string{"@/*.zip"}, ErrNoMatch, "@/*.zip"},
		{"glob in missing directory", []string{"@/no/*.tar"}, ErrNoMatch, "@/no/*.tar"},
		{"glob of hidden", []string{"@/hid/*"}, ErrNoMatch, ""},
		{"bad glob", []string{"@/[a"}, errPattern, "@/[a"},
		{"glob and missing", []string{"@/*.zip", "@/b.tar"}, ErrNotFound, "2 names"},
		{"empty directory", []string{"@/empty"}, ErrNoMatch, "@/empty"},
		{"only hidden", []string{"@/hid"}, ErrNoMatch, "@/hid"},
		{"dangling link", []string{"@/dangling"}, ErrNotFound, "@/dangling/x.tar"},
		{"dangling link in a glob", []string{"@/dangling/*"}, ErrNotFound, "@/dangling/x.tar"},
		{"link loop", []string{"@/loop.tar"}, syscall.ELOOP, ""},
		{"twice", []string{"@/a.tar", "@/a.tar"}, errRepeated, "@/a.tar"},
		{"twice by another path", []string{"@/a.tar", "@/d/../a.tar"}, errRepeated, "the first time as @/a.tar"},
		{"twice by a link", []string{"@/a.tar", "@/link.tar"}, errRepeated, "@/link.tar"},
		{"twice by a linked directory", []string{"@/d", "@/dd"}, errRepeated, "@/dd/a.tar"},
		{"twice by a URL", []string{"@/a.tar", "file:@/a.tar"}, errRepeated, ""},
		{"directory and file", []string{"@/two", "@/two/b.tar"}, errRepeated, "@/two/b.tar"},
		{"standard input twice", []string{"-", "-"}, errRepeated, "standard input"},
		{"fifo", []string{"@/fifo"}, ErrNotRegular, "use -"},
		{"device", []string{"/dev/null"}, ErrNotRegular, "use -"},
		{"empty name", []string{""}, errPattern, "empty"},
		{"empty alternative", []string{"{,@/a.tar}"}, errPattern, "empty"},
		{"zero byte", []string{"a\x00b"}, errPattern, ""},
		{"unbalanced", []string{"@/{a"}, errPattern, "unbalanced"},
		{"http", []string{"http://host/a.tar"}, ErrScheme, "http"},
		{"s3", []string{"s3://bucket/{0..9}.tar"}, ErrScheme, "s3:"},
		{"pipe", []string{"pipe:cat a.tar"}, ErrScheme, "pipe:"},
		{"unknown scheme", []string{"gopher://host/a"}, ErrScheme, "gopher:"},
		{"too many", []string{"{1..21}", "-"}, errPattern, "more than 20"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			limit := int64(100)
			if tt.name == "too many" {
				limit = 20
			}
			_, err := findNames(t, root, tt.args, Options{MaxNames: limit})
			says := strings.ReplaceAll(tt.says, "@", root)
			var e *place.Error
			if !errors.Is(err, tt.want) || !errors.As(err, &e) || !strings.Contains(err.Error(), says) || strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Fatalf("got %v; want %v, saying %q", err, tt.want, says)
			}
			if n := strings.Count(err.Error(), root); n > 2*maxListed {
				t.Fatalf("%d names in %v", n, err)
			}
		})
	}
}

func TestFindCapsArgumentsTogether(t *testing.T) {
	t.Parallel()
	root := tree(t, "a/1", "a/2", "b/1", "b/2")
	_, err := findNames(t, root, []string{"@/a", "@/b"}, Options{MaxNames: 3})
	if !errors.Is(err, errPattern) {
		t.Fatal(err)
	}
}

func TestFindAllowsRepeats(t *testing.T) {
	t.Parallel()
	root := tree(t, "a.tar")
	got, err := findNames(t, root, []string{"@/a.tar", "@/a.tar"}, Options{AllowRepeats: true})
	if err != nil || len(got) != 2 {
		t.Fatal(got, err)
	}
}

// A directory that may not be read must never look like one without shards.
func TestFindReportsUnreadable(t *testing.T) {
	t.Parallel()
	if !inputtest.Unprivileged(t) {
		return
	}
	root := tree(t, "d/a.tar", "e/b.tar")
	must(t, os.Chmod(root+"/d", 0))
	t.Cleanup(func() { os.Chmod(root+"/d", 0o755) })
	for _, arg := range []string{"@/d", "@/*/*.tar", "@/d/a.tar", "@/d/*"} {
		_, err := findNames(t, root, []string{arg}, Options{})
		var errno syscall.Errno
		if !errors.Is(err, fs.ErrPermission) || !errors.As(err, &errno) {
			t.Errorf("%s: got %v", arg, err)
		}
	}
}

func TestFindCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(context.Background())
	why := fmt.Errorf("stop")
	cancel(why)
	if _, err := Find(ctx, []string{"a{1..3}"}, Options{LookupEnv: noEnv}); !errors.Is(err, why) {
		t.Fatal(err)
	}
}

func write(t testing.TB, dir, name string, data []byte) {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(dir, name), data, 0o644))
}
