package input

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/store"
	"github.com/ffconvert/ffconvert/internal/test/inputtest"
	"github.com/ffconvert/ffconvert/internal/test/need"
)

// What Find has found is found again by the names that it gave, whatever they hold.
func TestFindNamedFindsAgain(t *testing.T) {
	t.Parallel()
	need.Shell(t)
	root := tree(t, "a-0.tar", "a-1.tar", "x{0..1}.tar", "x0.tar", "g*.tar", "gx.tar", "g[x].tar", "a<0..1>.tar", "a::b.tar", "p%20q.tar", "r s.tar", "v2/a.tar", "v2/b.tar",
		"col:on.tar", "d/10.tar", "d/2.tar", "http:x", "one/x/0", "two/x/1", "{1,2}/x/2")
	must(t, os.Symlink("a-0.tar", filepath.Join(root, "link.tar")))
	objects := []string{"s3://b/a-0.tar", "s3://b/a-1.tar", "s3://b/g*.tar", "s3://b/x{0..1}.tar", "s3://b/d/1.tar", "s3://b/d/2.tar", "s3://b/::x", "gs://b/f#1.tar", "https://host/a.tar?v=1", "ais://b/v2/a.tar"}
	for _, row := range []struct {
		name string
		args []string
		opts Options
	}{
		{"files", []string{"@/a-{0..1}.tar", "@/link.tar"}, Options{AllowRepeats: true}},
		{"named as patterns are", []string{"@/x{0..1}.tar", "@/g*.tar", "@/g[x].tar", "@/a<0..1>.tar", "@/a::b.tar", "@/col:on.tar"}, Options{}},
		{"a glob that has such names", []string{"@/[agprx]*", "@/d/*"}, Options{AllowRepeats: true}},
		{"a directory", []string{"@/d"}, Options{Match: func(name string) bool { return name == "2.tar" }}},
		{"a directory in another order", []string{"@/d"}, Options{Arrange: func(names []string) ([]string, error) { slices.Reverse(names); return names, nil }}},
		{"twice", []string{"@/a-0.tar", "@/a-1.tar", "@/a-0.tar"}, Options{AllowRepeats: true}},
		{"file URLs", []string{"file:@/a-0.tar", "file://@/r%20s.tar", "file:@/p%20q.tar"}, Options{}},
		{"directories", []string{"@/one/", "@/d/../{two/x,d}", "@/{1,2}"}, Options{Directories: true}},
		{"rewritten", []string{"/far/a-{0..1}.tar", "/far/x0.tar"}, Options{Rewrite: []string{"/far=@"}}},
		{"a glob of what is rewritten", []string{"/far/a-*.tar"}, Options{Rewrite: []string{"/far=@"}}},
		{"a rule that changes what it has made", []string{"@/a.tar", "@/[b].tar"}, Options{Rewrite: []string{"@=@/v2"}}},
		{"to an object", []string{"@/none/a-0.tar"}, Options{Rewrite: []string{"@/none=s3://b"}}},
		{"objects", []string{"s3://b/a-{0..1}.tar", `s3://b/x\{0..1\}.tar`, "s3://b/g*.tar", `s3://b/\:\:x`, "gs://b/f#1.tar", "https://host/a.tar?v=1"}, Options{}},
		{"a prefix", []string{"s3://b/d/"}, Options{}},
		{"a glob of objects", []string{"s3://b/*.tar"}, Options{}},
		{"objects and files", []string{"s3://b/a-0.tar", "@/a-0.tar", "s3://b/a-1.tar", "@/a-1.tar"}, Options{}},
		{"a glob of rewritten objects", []string{"s3://far/[av]*.tar", "ais://b/a.tar"}, Options{Rewrite: []string{"s3://far=s3://b", "ais://b=ais://b/v2"}}},
		{"trees", []string{"s3://b/d/", "ais://b"}, Options{Directories: true}},
		{"a command", []string{`pipe:cat '@/x\{0..1\}.tar'`, `pipe:echo a\:\:b`}, Options{AllowPipe: true}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			row.opts.LookupEnv, row.opts.Remote = noEnv, inputtest.ObjectsOf(objects...)
			row.opts.Rewrite = rooted(root, row.opts.Rewrite)
			found, err := Find(t.Context(), rooted(root, row.args), row.opts)
			must(t, err)
			var names []string
			for _, n := range found {
				names = append(names, n.Name)
			}
			row.opts.Match = func(string) bool { return false }
			row.opts.Arrange = func([]string) ([]string, error) { return nil, errors.New("arranged") }
			again, err := FindNamed(t.Context(), names, row.opts)
			if err != nil || !reflect.DeepEqual(again, found) {
				t.Errorf("got %+v, %v; want %+v", again, err, found)
			}
		})
	}
}

func TestFindNamedOfNothing(t *testing.T) {
	t.Parallel()
	if found, err := FindNamed(t.Context(), nil, Options{LookupEnv: noEnv}); err != nil || len(found) != 0 {
		t.Error(found, err)
	}
}

func TestFindNamedRefuses(t *testing.T) {
	t.Parallel()
	root := tree(t, "a-0.tar", "a-1.tar", "d/x.tar", "file")
	denied := &store.Error{URL: "s3://b/denied.tar", Kind: store.ErrDenied, Status: 403, Err: errors.New("HTTP 403 Forbidden")}
	for _, row := range []struct {
		name string
		args []string
		opts Options
		want error
		says string
	}{
		{"missing", []string{"@/a-0.tar", "@/no.tar"}, Options{}, ErrNotFound, "@/no.tar: no such file (check"},
		{"missing several", []string{"@/no", "@/a-0.tar", "s3://b/no", "@/none"}, Options{}, ErrNotFound, "@/no: no such file: 3 names in all, also s3://b/no, @/none"},
		{"missing twice", []string{"@/no", "@/no"}, Options{}, ErrNotFound, "@/no: no such file (check"},
		{"missing, rewritten", []string{"/far/no.tar"}, Options{Rewrite: []string{"/far=@"}}, ErrNotFound, "/far/no.tar: no such file"},
		{"no glob", []string{"@/a-*.tar"}, Options{}, ErrNotFound, "@/a-*.tar: no such file"},
		{"no pattern", []string{"@/a-{0..1}.tar"}, Options{}, ErrNotFound, ""},
		{"not joined", []string{"@/a-0.tar::@/a-1.tar"}, Options{}, ErrNotFound, ""},
		{"no list", []string{"@@/file"}, Options{}, ErrNotFound, ""},
		{"no glob of objects", []string{"s3://b/*.tar"}, Options{}, ErrNotFound, "s3://b/*.tar: no such object"},
		{"no prefix", []string{"s3://b/d/"}, Options{}, ErrNotFound, "s3://b/d/: no such object"},
		{"no tree", []string{"s3://b/none"}, Options{Directories: true}, ErrNotFound, "s3://b/none"},
		{"a tree that is too large", []string{"s3://b/d"}, Options{Directories: true, MaxNames: 1}, errPattern, "option max-names"},
		{"denied", []string{"@/no.tar", "s3://b/denied.tar"}, Options{}, store.ErrDenied, "s3://b/denied.tar: access denied"},
		{"a directory", []string{"@/d"}, Options{}, ErrNotRegular, "@/d: not a regular file: a directory"},
		{"a directory, with slash", []string{"@/d/"}, Options{}, ErrNotRegular, ""},
		{"a file where directories are", []string{"@/file"}, Options{Directories: true}, ErrNotDirectory, "@/file"},
		{"a device", []string{"/dev/null"}, Options{}, ErrNotRegular, ""},
		{"standard input", []string{"-"}, Options{}, ErrNotRegular, "-: not a regular file: standard input"},
		{"nothing", []string{""}, Options{}, errPattern, "an empty name"},
		{"a zero byte", []string{"a\x00b"}, Options{}, errPattern, "zero byte"},
		{"a program", []string{"pipe:cat x"}, Options{}, ErrScheme, "option allow-pipe"},
		{"a scheme", []string{"hdfs://x/y"}, Options{}, ErrScheme, "hdfs:"},
		{"a bad rule", []string{"@/a-0.tar"}, Options{Rewrite: []string{"x"}}, errPattern, "option rewrite"},
		{"a secret", []string{"https://host/no.tar?X-Amz-Signature=pw"}, Options{}, ErrNotFound, "https://host/no.tar?X-Amz-Signature=REDACTED: no such object"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			f := inputtest.ObjectsOf("s3://b/a.tar", "s3://b/d/a.tar", "s3://b/d/b.tar")
			f.Fails["s3://b/denied.tar"] = denied
			row.opts.LookupEnv, row.opts.Remote = noEnv, f
			row.opts.Rewrite = rooted(root, row.opts.Rewrite)
			found, err := FindNamed(t.Context(), rooted(root, row.args), row.opts)
			var e *place.Error
			if says := strings.ReplaceAll(row.says, "@", root); found != nil || !errors.Is(err, row.want) || !errors.As(err, &e) || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "pw") {
				t.Fatalf("got %v; want %v, saying %q", err, row.want, says)
			}
		})
	}
}

// Objects are looked at once each, several at a time and never too many.
func TestFindNamedAsksAtOnce(t *testing.T) {
	t.Parallel()
	var urls []string
	for i := range 100 {
		urls = append(urls, fmt.Sprintf("s3://b/%02d.tar", i))
	}
	f := inputtest.ObjectsOf(urls...)
	f.Delay = 2 * time.Millisecond
	found, err := FindNamed(t.Context(), slices.Concat(urls, urls), Options{LookupEnv: noEnv, Remote: f})
	must(t, err)
	for i, n := range found {
		if n.Name != urls[i%100] || n.Object == nil || n.Object.URL != n.Name {
			t.Fatalf("%d: %+v", i, n)
		}
	}
	if n, most := f.Stated.Load(), f.Most.Load(); n != 100 || most < 2 || most > lookups || f.Listed.Load() > 0 {
		t.Errorf("asked %d times, %d at once", n, most)
	}
}

func TestFindNamedIsStopped(t *testing.T) {
	t.Parallel()
	f := inputtest.ObjectsOf("s3://b/0.tar")
	f.Delay = time.Hour
	why := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(10*time.Millisecond, func() { cancel(why) })
	names := slices.Repeat([]string{"s3://b/0.tar", "s3://b/1.tar"}, 20)
	if _, err := FindNamed(ctx, names, Options{LookupEnv: noEnv, Remote: f}); !errors.Is(err, why) {
		t.Error(err)
	}
}
