package input

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/input/cache"
	"github.com/ffconvert/ffconvert/input/remote"
)

// directoryOptions are those of a format whose inputs are directories, with a cache in dir.
func directoryOptions(dir string, r Remote) Options {
	return Options{Directories: true, LookupEnv: noEnv, Remote: r, CacheDir: filepath.Join(dir, "cache")}
}

// files lists what lies below dir, with the bytes.
func filesBelow(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	must(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := e.Info()
		if err != nil {
			return err
		}
		if want := fs.FileMode(0o700) | fs.ModeDir; e.IsDir() {
			if fi.Mode() != want {
				t.Errorf("%s: %v", path, fi.Mode())
			}
			return nil
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		if files[filepath.ToSlash(rel)] = string(data); fi.Mode() != 0o600 {
			t.Errorf("%s: %v", path, fi.Mode())
		}
		return err
	}))
	return files
}

func TestTree(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := objectsOf("s3://b/train/n01/a.jpg", "s3://b/train/n01/b c.jpg", "s3://b/train/n02/deep/.hidden", "s3://b/train/..x", "s3://b/train/\u00e9\\*?",
		"s3://b/training/no.jpg", "s3://b/train.tar", "s3://b/val/x", "gs://g/1", "ais://c/t/x?provider=gcp")
	r.objects["s3://b/train/"], r.objects["s3://b/train/n01/"], r.objects["s3://b/train/none/"], r.objects["s3://b/train/empty"] = "", "", "", ""
	r.objects["s3://b/train/n01/big"] = strings.Repeat("0123456789", 10_000)
	var told atomic.Int64
	opts := directoryOptions(dir, r)
	opts.Progress = func(_ string, n int64) { told.Add(n) }
	found, err := Find(t.Context(), []string{"s3://b/{train,val/}", "gs://g", "ais://c/t?provider=gcp"}, opts)
	must(t, err)
	var names []string
	for _, n := range found {
		names = append(names, n.Name)
	}
	if want := []string{"s3://b/train", "s3://b/val", "gs://g", "ais://c/t?provider=gcp"}; !slices.Equal(names, want) {
		t.Fatalf("%q", names)
	}
	if train := found[0].Tree; train.Files != 7 || train.Markers != 3 || train.Room != (6+25+3)*treeBlock || found[0].Size != train.Bytes {
		t.Errorf("%d files, %d markers, room %d", train.Files, train.Markers, train.Room)
	}
	if r.stated.Load() != 0 {
		t.Error("objects were looked at one by one")
	}
	set, err := Open(t.Context(), found[:1], opts)
	must(t, err)
	if told.Load() != found[0].Size {
		t.Errorf("told of %d bytes of %d", told.Load(), found[0].Size)
	}
	want := map[string]string{}
	for url, data := range r.objects {
		if key, ok := strings.CutPrefix(url, "s3://b/train/"); ok && (key == "empty" || data != "") {
			want[key] = data
		}
	}
	f := set.Files[0]
	if got := filesBelow(t, f.Path); !maps.Equal(got, want) || f.Name != "s3://b/train" || f.Copy == nil {
		t.Errorf("%+v: %q, want %q", f, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
	fi, err := os.Stat(filepath.Join(f.Path, "n01/a.jpg"))
	if must(t, err); !fi.ModTime().Truncate(time.Second).Equal(r.object("s3://b/train/n01/a.jpg").Modified) {
		t.Errorf("modified at %v", fi.ModTime())
	}
	must(t, set.Release())
	if left(t, dir) != nil {
		t.Errorf("left %q", left(t, dir))
	}
	others, err := Open(t.Context(), found[1:], opts)
	must(t, err)
	for i, want := range []string{"x", "1", "x"} {
		if got := filesBelow(t, others.Files[i].Path); len(got) != 1 || got[want] == "" {
			t.Errorf("%s: %q", others.Files[i].Name, got)
		}
	}
	must(t, others.Cleanup())
	if left(t, dir) != nil {
		t.Errorf("left %q", left(t, dir))
	}
}

func TestFindTreeRefuses(t *testing.T) {
	t.Parallel()
	r := objectsOf("s3://b/d/x", "s3://b/d/y", "s3://b/f.tar", "https://h/d/x")
	for _, tt := range []struct {
		args []string
		want error
		says string
	}{
		{[]string{"s3://b/none"}, ErrNotFound, "s3://b/none: no such file (no object lies below it"},
		{[]string{"s3://b/none", "s3://b/f.tar/"}, ErrNotFound, "2 names in all, also s3://b/f.tar/"},
		{[]string{"s3://b/d*/"}, ErrPattern, "{train,val}"},
		{[]string{"https://h/d/"}, ErrScheme, "https: gives no lists"},
		{[]string{"az://b/d/"}, ErrScheme, "local directory"},
		{[]string{"s3://b/d", "s3://b/d//"}, ErrRepeated, "s3://b/d: given twice"},
	} {
		_, err := Find(t.Context(), tt.args, directoryOptions(t.TempDir(), r))
		if e := (*Error)(nil); !errors.Is(err, tt.want) || !errors.As(err, &e) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%q: %v", tt.args, err)
		}
	}
	opts := directoryOptions(t.TempDir(), r)
	opts.MaxNames = 1
	if _, err := Find(t.Context(), []string{"s3://b/d"}, opts); !errors.Is(err, ErrPattern) || !strings.Contains(err.Error(), "--max-names") {
		t.Error(err)
	}
	if _, err := NewStager([]Name{{Name: "s3://b/d", Tree: newTree("s3://b/d")}}, Options{}); !errors.Is(err, ErrScheme) {
		t.Error(err)
	}
}

// A list is a file where directories are inputs, too.
func TestTreesOfAList(t *testing.T) {
	t.Parallel()
	r := objectsOf("s3://b/d/x", "https://h/list")
	r.objects["https://h/list"] = "# trees\ns3://b/d/\n"
	found, err := Find(t.Context(), []string{"@https://h/list"}, directoryOptions(t.TempDir(), r))
	if err != nil || len(found) != 1 || found[0].Tree == nil {
		t.Errorf("%+v, %v", found, err)
	}
}

// Keys are the choice of whoever has written to the bucket.
func TestSecurityTreeKeys(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("n", 255)
	for _, tt := range []struct {
		name string
		keys []string // below s3://b/d/, in order
		says string   // "": taken
	}{
		{"plain", []string{"a", "a.b", "a0/b", "b/...", "b/..c", "c/ d "}, ""},
		{"longest name", []string{long + "/" + long}, ""},
		{"above", []string{"../x"}, "leads elsewhere"},
		{"above, further down", []string{"a/b/../../../x"}, "leads elsewhere"},
		{"above at the end", []string{"a/.."}, "leads elsewhere"},
		{"only above", []string{".."}, "leads elsewhere"},
		{"here", []string{"./x"}, "leads elsewhere"},
		{"here, further down", []string{"a/./x"}, "leads elsewhere"},
		{"absolute", []string{"/etc/passwd"}, "no letters"},
		{"two slashes", []string{"a//b"}, "no letters"},
		{"a slash at the end, and bytes", []string{"a/"}, "no letters"},
		{"zero byte", []string{"a\x00b"}, "a zero byte"},
		{"long name", []string{"a/n" + long}, "255 bytes"},
		{"long path", []string{strings.Repeat("abc/", 512) + "x"}, "2048 bytes"},
		{"file and directory", []string{"a", "a/b"}, "cannot be below s3://b/d/a, which is a file, too"},
		{"file and directory, others between", []string{"a", "a-b", "a.jpg", "a/b"}, "s3://b/d/a/b: its key cannot be the path of a file: a file cannot be below s3://b/d/a,"},
		{"file and directory, further down", []string{"x/a", "x/a!/1", "x/a/b/c/d"}, "s3://b/d/x/a/b/c/d: "},
		{"file within a directory", []string{"a/b", "a/b/c"}, "below s3://b/d/a/b,"},
		{"twice", []string{"a", "a"}, "lists it after"},
		{"out of order", []string{"b", "a/c"}, "lists it after s3://b/d/b"},
		{"a terminal's", []string{"a", "a/\x1b[2J\n"}, "s3://b/d/a/%1B[2J%0A: "},
	} {
		var err error
		tree := newTree("s3://b/d")
		for _, key := range tt.keys {
			if err == nil {
				err = tree.add(remote.Object{URL: "s3://b/d/" + key, Size: 1})
			}
		}
		if e := (*Error)(nil); (err == nil) != (tt.says == "") || err != nil && (!errors.As(err, &e) || !strings.Contains(err.Error(), tt.says)) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	for _, o := range []remote.Object{
		{URL: "s3://b/other/x"}, {URL: "s3://b/d/x", Size: -1}, {URL: "s3://b/d/x", Size: math.MaxInt64}, {URL: "s3://b/d/x", Size: math.MaxInt64 / 4},
	} {
		if err := newTree("s3://b/d").add(o); !errors.Is(err, ErrMalformed) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// Whatever a list holds, nothing is made out of the directory, and nothing where a key is refused.
func FuzzTreeKeys(f *testing.F) {
	for _, seed := range [][2]string{{"a", "a/b"}, {"../x", "y"}, {"a//b", "a/./b"}, {"x/", "x/y"}, {"a\\b", "c:d"}, {"con", "nul/x"}} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, one, two string) {
		tree := newTree("s3://b/d")
		for _, key := range []string{one, two} {
			if err := tree.add(remote.Object{URL: "s3://b/d/" + key, Size: 1}); err != nil {
				return
			}
		}
		outer := t.TempDir()
		base := filepath.Join(outer, "base")
		must(t, os.Mkdir(base, 0o700))
		for _, key := range []string{one, two} {
			path := filepath.Join(base, filepath.FromSlash(key))
			if rel, err := filepath.Rel(base, path); err != nil || rel != filepath.FromSlash(key) {
				t.Fatalf("%q becomes %q", key, rel)
			}
			if os.MkdirAll(filepath.Dir(path), 0o700) != nil || os.WriteFile(path, nil, 0o600) != nil {
				t.Fatalf("%q and %q: no files", one, two)
			}
		}
		if entries, err := os.ReadDir(outer); err != nil || len(entries) != 1 {
			t.Fatalf("%v, %v", entries, err)
		}
	})
}

// Files have the same time in every run, and another one when the object has.
func TestTreeTimes(t *testing.T) {
	t.Parallel()
	at := time.Date(2024, 5, 6, 7, 8, 9, 123_000_000, time.UTC)
	timeOf := func(o remote.Object) time.Time {
		tree := newTree("s3://b")
		o.URL = "s3://b/x"
		must(t, tree.add(o))
		if got := tree.object(0); got.Version != o.Version || got.Size != o.Size || got.URL != o.URL {
			t.Errorf("%+v became %+v", o, got)
		}
		return tree.files[0].time()
	}
	v, w := timeOf(remote.Object{Modified: at, Version: "v"}), timeOf(remote.Object{Modified: at, Version: "w"})
	if second := at.Truncate(time.Second); !v.Truncate(time.Second).Equal(second) || !w.Truncate(time.Second).Equal(second) || v.Equal(w) {
		t.Errorf("%v, %v", v, w)
	}
	one, two := timeOf(remote.Object{Version: "1"}), timeOf(remote.Object{Version: "2"})
	if one.Equal(two) || !one.Equal(timeOf(remote.Object{Version: "1"})) || one.Year() < 1970 || one.Year() > 2038 {
		t.Errorf("%v, %v", one, two)
	}
	for _, odd := range []time.Time{{}, time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), time.Unix(-1<<40, 0)} {
		if got := timeOf(remote.Object{Version: "1", Modified: odd}); !got.Equal(one) {
			t.Errorf("%v: %v", odd, got)
		}
	}
}

// The room for all of a tree is had before a byte is fetched, or the numbers are said.
func TestTreeQuota(t *testing.T) {
	t.Parallel()
	r := objectsOf("s3://b/d/x", "s3://b/d/sub/y", "s3://b/e/z")
	for _, tt := range []struct {
		quota int64
		says  string // "": room enough
	}{
		{4 * treeBlock, ""},
		{4*treeBlock - 1, "16384 bytes are needed at once, and it is 16383 bytes"},
	} {
		dir := t.TempDir()
		var told atomic.Int64
		opts := directoryOptions(dir, r)
		opts.Quota, opts.Progress = tt.quota, func(_ string, n int64) { told.Add(n) }
		found, err := Find(t.Context(), []string{"s3://b/d", "s3://b/e"}, opts)
		must(t, err)
		set, err := Open(t.Context(), found, opts)
		if tt.says == "" {
			must(t, err)
			must(t, set.Cleanup())
		} else if !errors.Is(err, ErrQuota) || !strings.Contains(err.Error(), tt.says) || !strings.Contains(err.Error(), "--cache-size") || strings.Contains(err.Error(), "--jobs") || told.Load() > 0 {
			t.Errorf("%v, %d bytes fetched", err, told.Load())
		}
		if left(t, dir) != nil {
			t.Errorf("left %q", left(t, dir))
		}
	}
}

// brokenRemote fails, or stops, in the middle of fetches.
type brokenRemote struct {
	*fakeRemote
	fetch func(ctx context.Context, o remote.Object, into remote.File) error // nil error: go on
}

func (r brokenRemote) List(ctx context.Context, prefix string) iter.Seq2[remote.Object, error] {
	return r.fakeRemote.List(ctx, prefix)
}

func (r brokenRemote) Fetch(ctx context.Context, o remote.Object, into remote.File, progress func(int64)) error {
	if err := r.fetch(ctx, o, into); err != nil {
		return err
	}
	return r.fakeRemote.Fetch(ctx, o, into, progress)
}

func TestTreeFails(t *testing.T) {
	t.Parallel()
	fake := objectsOf("s3://b/d/1/x", "s3://b/d/2/y", "s3://b/d/3/z")
	why := errors.New("enough")
	for _, tt := range []struct {
		name  string
		fetch func(cancel context.CancelCauseFunc, ctx context.Context, o remote.Object, into remote.File) error
		want  error
		says  string
	}{
		{"cancelled", func(cancel context.CancelCauseFunc, ctx context.Context, _ remote.Object, _ remote.File) error {
			cancel(why)
			<-ctx.Done()
			return context.Cause(ctx)
		}, why, ""},
		{"changed", func(_ context.CancelCauseFunc, _ context.Context, o remote.Object, _ remote.File) error {
			return &remote.Error{URL: o.URL, Kind: remote.ErrChanged}
		}, ErrChanged, "s3://b/d/2/y: changed"},
		{"gone", func(_ context.CancelCauseFunc, _ context.Context, o remote.Object, _ remote.File) error {
			return notThere(o.URL)
		}, ErrNotFound, "s3://b/d/2/y: no such"},
		{"longer than listed", func(_ context.CancelCauseFunc, _ context.Context, o remote.Object, into remote.File) error {
			_, err := into.WriteAt([]byte("xx"), o.Size-1)
			return err
		}, ErrChanged, "s3://b/d/2/y: changed while it was being read: more than the 14 bytes that were listed"},
		{"far behind", func(_ context.CancelCauseFunc, _ context.Context, _ remote.Object, into remote.File) error {
			_, err := into.WriteAt([]byte("x"), math.MaxInt64)
			return err
		}, ErrChanged, "more than the 14 bytes"},
	} {
		dir := t.TempDir()
		ctx, cancel := context.WithCancelCause(t.Context())
		r := brokenRemote{fake, func(ctx context.Context, o remote.Object, into remote.File) error {
			if !strings.HasSuffix(o.URL, "/y") {
				return nil
			}
			return tt.fetch(cancel, ctx, o, into)
		}}
		opts := directoryOptions(dir, r)
		found, err := Find(ctx, []string{"s3://b/d"}, opts)
		must(t, err)
		_, err = Open(ctx, found, opts)
		if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", tt.name, err)
		}
		if left(t, dir) != nil {
			t.Errorf("%s: left %q", tt.name, left(t, dir))
		}
		cancel(nil)
	}
	// A fetch that says nothing and brings less.
	dir := t.TempDir()
	opts := directoryOptions(dir, shortRemote{fake})
	found, err := Find(t.Context(), []string{"s3://b/d"}, opts)
	must(t, err)
	if _, err := Open(t.Context(), found, opts); !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), "0 of 14 bytes were fetched") || left(t, dir) != nil {
		t.Errorf("%v, left %q", err, left(t, dir))
	}
}

type shortRemote struct{ *fakeRemote }

func (shortRemote) Fetch(context.Context, remote.Object, remote.File, func(int64)) error { return nil }

// Every operation of the file system may fail; it is said, and nothing is left.
func TestTreeFaults(t *testing.T) {
	t.Parallel()
	r := objectsOf("s3://b/d/1/x", "s3://b/d/2/y")
	for at := 0; ; at++ {
		dir := t.TempDir()
		opts := directoryOptions(dir, r)
		found, err := Find(t.Context(), []string{"s3://b/d"}, opts)
		must(t, err)
		ops := make(chan int, 1)
		ops <- 0
		failed := ""
		opts.fault = func(op string) error {
			n := <-ops
			defer func() { ops <- n + 1 }()
			if n == at {
				failed = op
				return fmt.Errorf("%s: %w", op, syscall.ENOSPC)
			}
			return nil
		}
		set, err := Open(t.Context(), found, opts)
		if err == nil {
			err = set.Cleanup()
		}
		if <-ops; failed == "" {
			must(t, err)
			if at < 15 {
				t.Errorf("%d operations", at)
			}
			return
		}
		if err == nil && failed != "remove" || err != nil && !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s, operation %d: %v", failed, at, err)
		}
		if names := left(t, dir); names != nil && failed != "remove" && failed != "lock" && failed != "scan" {
			t.Errorf("%s, operation %d: left %q", failed, at, names)
		}
	}
}

// Keys whose paths the file system does not tell apart are refused where they meet.
func TestTreeSamePath(t *testing.T) {
	t.Parallel()
	c, err := cacheOf(t)
	must(t, err)
	for _, cause := range []error{fs.ErrExist, syscall.EEXIST, syscall.ENOTDIR} {
		err := treeError(remote.Object{URL: "s3://b/A"}, c, &fs.PathError{Op: "openat", Path: "A", Err: cause})
		if !errors.Is(err, ErrKey) || !strings.HasPrefix(err.Error(), "s3://b/A: its key cannot be") {
			t.Error(err)
		}
	}
}

func cacheOf(t *testing.T) (*cache.Cache, error) {
	c, err := cache.Open(filepath.Join(t.TempDir(), "cache"), 0, cache.Options{})
	if err == nil {
		t.Cleanup(func() { c.Close() })
	}
	return c, err
}
