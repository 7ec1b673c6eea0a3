package stage

import (
	"bytes"
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/files"
	"github.com/ffconvert/ffconvert/internal/input"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/store"
)

// A heldRemote serves objects from memory, in pieces that arrive out of order.
type heldRemote struct {
	store.Store
	objects map[string][]byte
	fail    func(url string) error // in the middle of a fetch

	fetches atomic.Int64
	mu      sync.Mutex
	open    int
	most    int // fetches at once
}

func (r *heldRemote) Fetch(ctx context.Context, o store.Object, into store.File, progress func(int64)) error {
	r.fetches.Add(1)
	r.count(1)
	defer r.count(-1)
	data, ok := r.objects[o.URL]
	if !ok {
		return &store.Error{URL: o.URL, Kind: store.ErrNotFound, Status: 404}
	}
	time.Sleep(time.Millisecond)
	piece := max(1, len(data)/5)
	for i := 5; i >= 0; i-- {
		from := min(i*piece, len(data))
		to := min(from+piece, len(data))
		if i == 5 {
			to = len(data)
		}
		if r.fail != nil && i == 2 {
			if err := r.fail(o.URL); err != nil {
				return err
			}
		}
		if _, err := into.WriteAt(data[from:to], int64(from)); err != nil {
			return &store.Error{URL: o.URL, Err: fmt.Errorf("some words: %w", err)}
		}
		progress(int64(to - from))
	}
	back := make([]byte, len(data))
	if _, err := into.ReadAt(back, 0); err != nil && err != io.EOF || !bytes.Equal(back, data) {
		return fmt.Errorf("it reads back otherwise: %w", err)
	}
	return ctx.Err()
}

func (r *heldRemote) count(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open += n
	r.most = max(r.most, r.open)
}

// add puts an object there and returns its name.
func (r *heldRemote) add(name string, data []byte) input.Name {
	if r.objects == nil {
		r.objects = map[string][]byte{}
	}
	r.objects[name+"?secret"] = data
	o := &store.Object{URL: name + "?secret", Size: int64(len(data)), Version: fmt.Sprintf("%x", md5.Sum(data))}
	return input.Name{Name: name, Size: o.Size, Object: o}
}

func TestRemote(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data := smallTar(t)
	r := &heldRemote{}
	var found []input.Name
	for _, c := range append([]string{""}, compressions...) {
		found = append(found, r.add("s3://b/"+c+".tar", compress(t, c, data)))
	}
	found = append(found, r.add("s3://b/empty", nil), r.add("s3://b/page.HTML", []byte("<html>as its name says</html>")))
	var told atomic.Int64
	opts := Options{Options: input.Options{Remote: r}, CacheDir: filepath.Join(dir, "cache"), Progress: func(_ string, n int64) { told.Add(n) }}
	var first []converters.Part
	for run := range 2 {
		told.Store(0)
		set, err := Open(t.Context(), found, opts)
		must(t, err)
		var size int64
		for i, f := range set.Parts {
			want := data
			switch i {
			case 5:
				want = nil
			case 6:
				want = []byte("<html>as its name says</html>")
			}
			got, err := os.ReadFile(f.Path)
			must(t, err)
			if !bytes.Equal(got, want) || f.Name != found[i].Name || f.Copy == nil || f.Size != int64(len(want)) || f.Copy.Mark == "" {
				t.Errorf("run %d: %+v", run, f)
			}
			size += found[i].Size
			f.Copy.Check = nil
			if run == 1 && !reflect.DeepEqual(f, first[i]) {
				t.Errorf("%+v, before %+v", f, first[i])
			}
		}
		first = set.Parts
		if told.Load() != size || r.fetches.Load() != int64(len(found)) || len(left(t, dir)) != len(found) {
			t.Errorf("run %d: told of %d of %d bytes, %d fetches, left %q", run, told.Load(), size, r.fetches.Load(), left(t, dir))
		}
		must(t, set.Release())
	}
	// A new version is another object.
	found[1] = r.add(found[1].Name, compress(t, "gzip", []byte("changed")))
	set, err := Open(t.Context(), found, opts)
	must(t, err)
	if set.Parts[1].Size != 7 || set.Parts[1].Copy.Mark == first[1].Copy.Mark || r.fetches.Load() != int64(len(found)+1) {
		t.Errorf("%+v, %d fetches", set.Parts[1], r.fetches.Load())
	}
	must(t, set.Release())
}

// A weak ETag may stay when the bytes change: the time of the last change counts beside it, and
// without one the copy serves one run.
func TestRemoteWeakVersion(t *testing.T) {
	t.Parallel()
	at := time.Unix(1e9, 0)
	for _, tt := range []struct {
		name          string
		before, after store.Object // version and time alone
		fetches       int64        // of two runs
		same          bool         // mark
	}{
		{"strong", store.Object{Version: `"1"`, Modified: at}, store.Object{Version: `"1"`, Modified: at.Add(time.Hour)}, 1, true},
		{"weak, not modified", store.Object{Version: `W/"1"`, Modified: at}, store.Object{Version: `W/"1"`, Modified: at}, 1, true},
		{"weak, modified", store.Object{Version: `W/"1"`, Modified: at}, store.Object{Version: `W/"1"`, Modified: at.Add(time.Second)}, 2, false},
		{"weak, changed", store.Object{Version: `W/"1"`, Modified: at}, store.Object{Version: `W/"2"`, Modified: at}, 2, false},
		{"weak alone", store.Object{Version: `W/"1"`}, store.Object{Version: `W/"1"`}, 2, true},
		{"weak alone, changed", store.Object{Version: `W/"1"`}, store.Object{Version: `W/"2"`}, 2, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			r := &heldRemote{}
			opts := Options{Options: input.Options{Remote: r}, CacheDir: filepath.Join(dir, "cache")}
			var marks []files.Pin
			for i, o := range []store.Object{tt.before, tt.after} {
				n := r.add("http://h/x", []byte(strconv.Itoa(i)))
				n.Object.Version, n.Object.Modified = o.Version, o.Modified
				set, err := Open(t.Context(), []input.Name{n}, opts)
				must(t, err)
				got, err := os.ReadFile(set.Parts[0].Path)
				must(t, err)
				if want := strconv.Itoa(i * int(tt.fetches-1)); string(got) != want {
					t.Errorf("run %d: %q, want %q", i, got, want)
				}
				marks = append(marks, set.Parts[0].Copy.Mark)
				must(t, set.Release())
			}
			if r.fetches.Load() != tt.fetches || (marks[0] == marks[1]) != tt.same || marks[0] == "" {
				t.Errorf("%d fetches, marks %v", r.fetches.Load(), marks)
			}
			if strings.HasPrefix(tt.before.Version, "W/") && tt.before.Modified.IsZero() && left(t, dir) != nil {
				t.Errorf("left %q", left(t, dir))
			}
		})
	}
}

// What tells no version serves one run.
func TestRemoteWithoutVersion(t *testing.T) {
	t.Parallel()
	for _, size := range []int64{5, -1} {
		dir := t.TempDir()
		r := &heldRemote{}
		n := r.add("http://h/x", []byte("bytes"))
		n.Object.Version, n.Object.Size, n.Size = "", size, size
		opts := Options{Options: input.Options{Remote: r}, CacheDir: filepath.Join(dir, "cache")}
		for run := range 2 {
			s, err := NewStager([]input.Name{n}, opts)
			must(t, err)
			for range 2 {
				set, err := s.Take(t.Context(), span(0, 1))
				must(t, err)
				if f := set.Parts[0]; f.Copy.Mark != "" || f.Size != 5 {
					t.Errorf("%+v", f)
				}
				must(t, set.Release())
			}
			must(t, s.Close())
			if r.fetches.Load() != int64(run+1) || left(t, dir) != nil {
				t.Errorf("size %d: %d fetches, left %q", size, r.fetches.Load(), left(t, dir))
			}
		}
	}
}

func TestRemoteErrors(t *testing.T) {
	t.Parallel()
	gz := compress(t, "gzip", smallTar(t))
	for _, tt := range []struct {
		name string
		data []byte
		fail error
		opts Options
		want []error
		says string
	}{
		{"not there any more", nil, &store.Error{URL: "x", Kind: store.ErrNotFound, Status: 404, Hint: "check\nit"}, Options{},
			[]error{input.ErrNotFound, os.ErrNotExist, store.ErrNotFound}, "s3://b/x.tar: no such object (check it)"},
		{"changed", nil, &store.Error{URL: "x", Kind: store.ErrChanged}, Options{}, []error{input.ErrChanged, store.ErrChanged}, "s3://b/x.tar: changed while it was being fetched"},
		{"denied", nil, fmt.Errorf("wrapped: %w", &store.Error{URL: "x", Kind: store.ErrDenied, Err: errors.New("no\x1b way"), Hint: "log in"}), Options{},
			[]error{store.ErrDenied, store.ErrDenied}, "s3://b/x.tar: access denied: no  way (log in)"},
		{"something else", nil, io.ErrClosedPipe, Options{}, []error{io.ErrClosedPipe}, "s3://b/x.tar: "},
		{"a page", []byte("\n <!DOCTYPE HTML><title>log in"), nil, Options{}, []error{store.ErrPage}, "an HTML page in place of data"},
		{"another page", []byte("\xef\xbb\xbf<HTML>"), nil, Options{}, []error{store.ErrPage}, "browser"},
		{"cut where it was made", gz[:len(gz)-1], nil, Options{}, []error{ErrTruncated}, "offset"},
		{"cut within its first bytes", gz[:1], nil, Options{}, []error{ErrTruncated}, "where it was made"},
		{"damaged", append(bytes.Clone(gz), "garbage"...), nil, Options{}, []error{input.ErrMalformed}, "offset"},
		{"larger than the quota", make([]byte, 1000), nil, Options{Quota: 999}, []error{ErrQuota}, "1,000 bytes are needed at once, and it is 999 bytes"},
		{"larger once decompressed", gz, nil, Options{Quota: 2000}, []error{ErrQuota}, "option cache-size"},
		{"a bomb", compress(t, "zstd", make([]byte, 20<<20)), nil, Options{MaxRatio: 10}, []error{ErrRatio}, "option max-ratio"},
		{"no room on the device", make([]byte, 1000), nil, Options{fault: func(op string) error {
			if op == "write" {
				return os.ErrInvalid
			}
			return nil
		}}, []error{os.ErrInvalid}, "stage in"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			r := &heldRemote{fail: func(string) error { return tt.fail }}
			opts := tt.opts
			opts.CacheDir, opts.Remote = filepath.Join(dir, "cache"), r
			_, err := Open(t.Context(), []input.Name{r.add("s3://b/x.tar", tt.data)}, opts)
			var e *place.Error
			if !errors.As(err, &e) || e.Where != "s3://b/x.tar" || !strings.Contains(err.Error(), tt.says) || strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Fatalf("%v, want %s", err, tt.says)
			}
			for _, want := range tt.want {
				if !errors.Is(err, want) {
					t.Errorf("%v is no %v", err, want)
				}
			}
			if names := left(t, dir); names != nil || strings.Contains(err.Error(), "secret") {
				t.Errorf("left %q: %v", names, err)
			}
		})
	}
}

// A kept copy that was damaged since is fetched again.
func TestRemoteDamagedCopy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data := smallTar(t)
	r := &heldRemote{}
	found := []input.Name{r.add("s3://b/x", compress(t, "gzip", data)), r.add("s3://b/y", data), {Name: "-", Size: -1}}
	var told atomic.Int64
	opts := Options{Options: input.Options{Remote: r}, CacheDir: filepath.Join(dir, "cache"), Progress: func(_ string, n int64) { told.Add(n) }}
	for run := range 3 {
		opts.Stdin = strings.NewReader("once")
		told.Store(0)
		set, err := Open(t.Context(), found, opts)
		must(t, err)
		if want := found[0].Size + found[1].Size + 4; told.Load() != want {
			t.Errorf("run %d: told of %d bytes, want %d", run, told.Load(), want)
		}
		for i, f := range set.Parts {
			got, err := os.ReadFile(f.Path)
			if want := [][]byte{data, data, []byte("once")}[i]; err != nil || !bytes.Equal(got, want) {
				t.Errorf("run %d, %s: %d bytes, %v", run, f.Name, len(got), err)
			}
		}
		path := set.Parts[run%2].Path
		must(t, set.Release())
		b, err := os.ReadFile(path)
		must(t, err)
		b[100] ^= 1
		must(t, os.WriteFile(path, b, 0o600))
	}
	if r.fetches.Load() != 4 {
		t.Errorf("%d fetches", r.fetches.Load())
	}
}

func TestRemoteNeedsAClient(t *testing.T) {
	t.Parallel()
	if _, err := Open(t.Context(), []input.Name{new(heldRemote).add("s3://b/x", nil)}, Options{}); !errors.Is(err, input.ErrScheme) {
		t.Error(err)
	}
}
