package stage

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

	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/store"
	"github.com/ffconvert/ffconvert/internal/test/inputtest"
)

func TestTree(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := inputtest.ObjectsOf("s3://b/train/n01/a.jpg", "s3://b/train/n01/b c.jpg", "s3://b/train/n02/deep/.hidden", "s3://b/train/..x", "s3://b/train/\u00e9\\*?",
		"s3://b/training/no.jpg", "s3://b/train.tar", "s3://b/val/x", "gs://g/1", "ais://c/t/x?provider=gcp")
	r.Objects["s3://b/train/"], r.Objects["s3://b/train/n01/"], r.Objects["s3://b/train/none/"], r.Objects["s3://b/train/empty"] = "", "", "", ""
	r.Objects["s3://b/train/n01/big"] = strings.Repeat("0123456789", 10_000)
	var told atomic.Int64
	opts := treeOptions(dir, r)
	opts.Progress = func(_ string, n int64) { told.Add(n) }
	found, err := input.Find(t.Context(), []string{"s3://b/{train,val/}", "gs://g", "ais://c/t?provider=gcp"}, opts.Options)
	must(t, err)
	var names []string
	for _, n := range found {
		names = append(names, n.Name)
	}
	if want := []string{"s3://b/train", "s3://b/val", "gs://g", "ais://c/t?provider=gcp"}; !slices.Equal(names, want) {
		t.Fatalf("%q", names)
	}
	if train := found[0].Tree; train.Files != 7 || train.Markers != 3 || train.Room != (6+25+3)*4096 || found[0].Size != train.Bytes {
		t.Errorf("%d files, %d markers, room %d", train.Files, train.Markers, train.Room)
	}
	if r.Stated.Load() != 0 {
		t.Error("objects were looked at one by one")
	}
	set, err := Open(t.Context(), found[:1], opts)
	must(t, err)
	if told.Load() != found[0].Size {
		t.Errorf("told of %d bytes of %d", told.Load(), found[0].Size)
	}
	want := map[string]string{}
	for url, data := range r.Objects {
		if key, ok := strings.CutPrefix(url, "s3://b/train/"); ok && (key == "empty" || data != "") {
			want[key] = data
		}
	}
	f := set.Parts[0]
	if got := filesBelow(t, f.Path); !maps.Equal(got, want) || f.Name != "s3://b/train" || f.Copy == nil {
		t.Errorf("%+v: %q, want %q", f, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
	fi, err := os.Stat(filepath.Join(f.Path, "n01/a.jpg"))
	if must(t, err); !fi.ModTime().Truncate(time.Second).Equal(r.Object("s3://b/train/n01/a.jpg").Modified) {
		t.Errorf("modified at %v", fi.ModTime())
	}
	must(t, set.Release())
	if left(t, dir) != nil {
		t.Errorf("left %q", left(t, dir))
	}
	others, err := Open(t.Context(), found[1:], opts)
	must(t, err)
	for i, want := range []string{"x", "1", "x"} {
		if got := filesBelow(t, others.Parts[i].Path); len(got) != 1 || got[want] == "" {
			t.Errorf("%s: %q", others.Parts[i].Name, got)
		}
	}
	must(t, others.Release())
	if left(t, dir) != nil {
		t.Errorf("left %q", left(t, dir))
	}
}

// The room for all of a tree is had before a byte is fetched, or the numbers are said.
func TestTreeQuota(t *testing.T) {
	t.Parallel()
	r := inputtest.ObjectsOf("s3://b/d/x", "s3://b/d/sub/y", "s3://b/e/z")
	for _, tt := range []struct {
		quota int64
		says  string // "": room enough
	}{
		{4 * 4096, ""},
		{4*4096 - 1, "16,384 bytes are needed at once, and it is 16,383 bytes"},
	} {
		dir := t.TempDir()
		var told atomic.Int64
		opts := treeOptions(dir, r)
		opts.Quota, opts.Progress = tt.quota, func(_ string, n int64) { told.Add(n) }
		found, err := input.Find(t.Context(), []string{"s3://b/d", "s3://b/e"}, opts.Options)
		must(t, err)
		set, err := Open(t.Context(), found, opts)
		if tt.says == "" {
			must(t, err)
			must(t, set.Release())
		} else if !errors.Is(err, ErrQuota) || !strings.Contains(err.Error(), tt.says) || !strings.Contains(err.Error(), "option cache-size") || strings.Contains(err.Error(), "option jobs") || told.Load() > 0 {
			t.Errorf("%v, %d bytes fetched", err, told.Load())
		}
		if left(t, dir) != nil {
			t.Errorf("left %q", left(t, dir))
		}
	}
}

// brokenRemote fails, or stops, in the middle of fetches.
type brokenRemote struct {
	*inputtest.FakeRemote
	fetch func(ctx context.Context, o store.Object, into store.File) error // nil error: go on
}

func (r brokenRemote) List(ctx context.Context, prefix string) iter.Seq2[store.Object, error] {
	return r.FakeRemote.List(ctx, prefix)
}

func (r brokenRemote) Fetch(ctx context.Context, o store.Object, into store.File, progress func(int64)) error {
	if err := r.fetch(ctx, o, into); err != nil {
		return err
	}
	return r.FakeRemote.Fetch(ctx, o, into, progress)
}

func TestTreeFails(t *testing.T) {
	t.Parallel()
	fake := inputtest.ObjectsOf("s3://b/d/1/x", "s3://b/d/2/y", "s3://b/d/3/z")
	why := errors.New("enough")
	for _, tt := range []struct {
		name  string
		fetch func(cancel context.CancelCauseFunc, ctx context.Context, o store.Object, into store.File) error
		want  error
		says  string
	}{
		{"cancelled", func(cancel context.CancelCauseFunc, ctx context.Context, _ store.Object, _ store.File) error {
			cancel(why)
			<-ctx.Done()
			return context.Cause(ctx)
		}, why, ""},
		{"changed", func(_ context.CancelCauseFunc, _ context.Context, o store.Object, _ store.File) error {
			return &store.Error{URL: o.URL, Kind: store.ErrChanged}
		}, input.ErrChanged, "s3://b/d/2/y: changed"},
		{"gone", func(_ context.CancelCauseFunc, _ context.Context, o store.Object, _ store.File) error {
			return inputtest.NotThere(o.URL)
		}, input.ErrNotFound, "s3://b/d/2/y: no such"},
		{"longer than listed", func(_ context.CancelCauseFunc, _ context.Context, o store.Object, into store.File) error {
			_, err := into.WriteAt([]byte("xx"), o.Size-1)
			return err
		}, input.ErrChanged, "s3://b/d/2/y: changed while it was being read: more than the 14 bytes that were listed"},
		{"far behind", func(_ context.CancelCauseFunc, _ context.Context, _ store.Object, into store.File) error {
			_, err := into.WriteAt([]byte("x"), math.MaxInt64)
			return err
		}, input.ErrChanged, "more than the 14 bytes"},
	} {
		dir := t.TempDir()
		ctx, cancel := context.WithCancelCause(t.Context())
		r := brokenRemote{fake, func(ctx context.Context, o store.Object, into store.File) error {
			if !strings.HasSuffix(o.URL, "/y") {
				return nil
			}
			return tt.fetch(cancel, ctx, o, into)
		}}
		opts := treeOptions(dir, r)
		found, err := input.Find(ctx, []string{"s3://b/d"}, opts.Options)
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
	opts := treeOptions(dir, shortRemote{fake})
	found, err := input.Find(t.Context(), []string{"s3://b/d"}, opts.Options)
	must(t, err)
	if _, err := Open(t.Context(), found, opts); !errors.Is(err, input.ErrChanged) || !strings.Contains(err.Error(), "0 of 14 bytes were fetched") || left(t, dir) != nil {
		t.Errorf("%v, left %q", err, left(t, dir))
	}
}

type shortRemote struct{ *inputtest.FakeRemote }

func (shortRemote) Fetch(context.Context, store.Object, store.File, func(int64)) error { return nil }

// Every operation of the file system may fail; it is said, and nothing is left.
func TestTreeFaults(t *testing.T) {
	t.Parallel()
	r := inputtest.ObjectsOf("s3://b/d/1/x", "s3://b/d/2/y")
	for at := 0; ; at++ {
		dir := t.TempDir()
		opts := treeOptions(dir, r)
		found, err := input.Find(t.Context(), []string{"s3://b/d"}, opts.Options)
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
			err = set.Release()
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
	for _, cause := range []error{fs.ErrExist, syscall.EEXIST, syscall.ENOTDIR} {
		err := treeError(store.Object{URL: "s3://b/A"}, "cache", &fs.PathError{Op: "openat", Path: "A", Err: cause})
		if !errors.Is(err, input.ErrKey) || !strings.HasPrefix(err.Error(), "s3://b/A: its key cannot be") {
			t.Error(err)
		}
	}
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

// treeOptions are of a format whose inputs are directories, with a cache in dir.
func treeOptions(dir string, r store.Store) Options {
	return Options{Options: input.Options{Directories: true, LookupEnv: noEnv, Remote: r}, CacheDir: filepath.Join(dir, "cache")}
}

func TestTreeNeedsAClient(t *testing.T) {
	t.Parallel()
	found, err := input.Find(t.Context(), []string{"s3://b/d"}, input.Options{Directories: true, LookupEnv: noEnv, Remote: inputtest.ObjectsOf("s3://b/d/x")})
	must(t, err)
	if _, err := NewStager(found, Options{}); !errors.Is(err, input.ErrScheme) {
		t.Error(err)
	}
}
