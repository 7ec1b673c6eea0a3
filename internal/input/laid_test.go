package input

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ffconvert/ffconvert/internal/store"
)

// An answering is a Remote of objects that it looks at by a function.
type answering struct {
	store.Store
	answer func(ctx context.Context, url string) (store.Object, error)

	mu    sync.Mutex
	asked []string
}

func (r *answering) Stat(ctx context.Context, url string) (store.Object, error) {
	r.mu.Lock()
	r.asked = append(r.asked, url)
	r.mu.Unlock()
	return r.answer(ctx, url)
}

func there(_ context.Context, url string) (store.Object, error) {
	return store.Object{URL: url, Size: 7, Version: "1"}, nil
}

func failing(kind error, status int) func(context.Context, string) (store.Object, error) {
	return func(_ context.Context, url string) (store.Object, error) {
		return store.Object{}, &store.Error{URL: url, Kind: kind, Status: status}
	}
}

// A file that a user has laid is the input where no service answers, and then alone. FindNamed finds it as Find does.
func TestLaid(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a.tar", "b.tar", "lock"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("laid"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "d.tar"), 0o700); err != nil {
		t.Fatal(err)
	}
	once := 0 // attempts that were brief, and met a busy service
	for _, row := range []struct {
		name   string
		answer func(context.Context, string) (store.Object, error)
		args   []string
		laid   []string // base names of the files that were found
		kind   error
		asked  int
	}{
		{"it answers", there, []string{"s3://b/a.tar"}, nil, nil, 1},
		{"not reached", failing(store.ErrUnavailable, 0), []string{"s3://b/x/a.tar"}, []string{"a.tar"}, nil, 1},
		{"no credentials", failing(store.ErrDenied, 0), []string{"s3://b/a.tar"}, []string{"a.tar"}, nil, 1},
		{"the second is not asked for", failing(store.ErrUnavailable, 0), []string{"https://h/a.tar?k=v", "https://h/b.tar"}, []string{"a.tar", "b.tar"}, nil, 0},
		{"one that is not there", failing(store.ErrUnavailable, 0), []string{"https://h/c.tar"}, nil, store.ErrUnavailable, 1},
		{"a directory", failing(store.ErrUnavailable, 0), []string{"https://h/d.tar"}, nil, store.ErrUnavailable, 1},
		{"a file of the cache itself", failing(store.ErrUnavailable, 0), []string{"https://h/lock"}, nil, store.ErrUnavailable, 1},
		{"refused", failing(store.ErrDenied, 403), []string{"s3://b/a.tar"}, nil, store.ErrDenied, 1},
		{"removed", failing(store.ErrNotFound, 404), []string{"s3://b/a.tar"}, nil, store.ErrNotFound, 1},
		{"not who it says", failing(store.ErrTLS, 0), []string{"https://h/a.tar"}, nil, store.ErrTLS, 1},
		{"busy at first", func(ctx context.Context, url string) (store.Object, error) {
			if once++; once == 1 {
				return failing(store.ErrUnavailable, 503)(ctx, url)
			}
			return there(ctx, url)
		}, []string{"https://h/a.tar"}, nil, nil, 2},
		{"two objects of one name", failing(store.ErrUnavailable, 0), []string{"s3://b/train/a.tar", "s3://b/val/a.tar"}, nil, errRepeated, 0},
		{"one object twice", failing(store.ErrUnavailable, 0), []string{"s3://b/a.tar", "s3://b/a.tar"}, nil, errRepeated, 0},
	} {
		r := &answering{answer: row.answer}
		found, err := Find(t.Context(), row.args, Options{Remote: r, Laid: NewLaid(dir)})
		if !errors.Is(err, row.kind) || row.kind == nil && err != nil {
			t.Errorf("%s: %v", row.name, err)
			continue
		}
		if n := len(r.asked); row.asked > 0 && n != row.asked {
			t.Errorf("%s: asked %d times", row.name, n)
		}
		var laid []string
		for i, n := range found {
			if (n.Laid != "") != (n.Path != "") || n.Laid != "" && (n.Size != 4 || n.URL() != "" || n.Name != Shown(row.args[i])) {
				t.Errorf("%s: %+v", row.name, n)
			}
			if n.Laid != "" {
				laid = append(laid, filepath.Base(n.Path))
			}
		}
		if !slices.Equal(laid, row.laid) {
			t.Errorf("%s: %q were taken, want %q", row.name, laid, row.laid)
		}
		doubts := LaidDoubts(found)
		if (len(doubts) == 1) != (len(laid) > 0) || len(doubts) == 1 && (doubts[0].Part != found[0].Name || !strings.Contains(doubts[0].Text, "compared with nothing")) {
			t.Errorf("%s: %+v", row.name, doubts)
		}
		if row.laid == nil {
			continue
		}
		named, err := FindNamed(t.Context(), row.args, Options{Remote: &answering{answer: row.answer}, Laid: NewLaid(dir)})
		if err != nil || len(named) != len(found) || named[0].Path != found[0].Path || named[0].Laid == "" {
			t.Errorf("%s: by name %+v, %v", row.name, named, err)
		}
	}
}

// Inputs are looked up in any order; the one that is said to be given twice is the same in each.
func TestLaidTwice(t *testing.T) {
	t.Parallel()
	var said []string
	for _, urls := range [][]string{{"https://h/a/x.tar", "https://h/b/x.tar"}, {"https://h/b/x.tar", "https://h/a/x.tar"}} {
		l := NewLaid(t.TempDir())
		if err := l.take("x.tar", urls[0], urls[0]); err != nil {
			t.Fatal(err)
		}
		err := l.take("x.tar", urls[1], urls[1])
		if !errors.Is(err, errRepeated) {
			t.Fatal(err)
		}
		said = append(said, err.Error())
	}
	if said[0] != said[1] || !strings.Contains(said[0], "https://h/b/x.tar: given twice") {
		t.Errorf("%q", said)
	}
}

// A service that is silent is waited for once, for all of its objects, and not for long.
func TestLaidWaits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var args []string
	for _, name := range []string{"a.tar", "b.tar", "c.tar"} {
		args = append(args, "https://h/"+name)
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		r := &answering{answer: func(ctx context.Context, _ string) (store.Object, error) {
			<-ctx.Done()
			return store.Object{}, context.Cause(ctx)
		}}
		laid, began := NewLaid(dir), time.Now()
		for range 2 { // the second time nothing is asked
			found, err := Find(t.Context(), args, Options{Remote: r, Laid: laid})
			if err != nil || len(found) != 3 || found[2].Laid != "no answer in 2s" {
				t.Errorf("%+v, %v", found, err)
			}
		}
		if took := time.Since(began); took != laidPatience || len(r.asked) > 3 {
			t.Errorf("it took %v, and %d requests", took, len(r.asked))
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		stopped := errors.New("stopped")
		time.AfterFunc(time.Second, func() { cancel(stopped) })
		if _, err := Find(ctx, args, Options{Remote: r, Laid: NewLaid(dir)}); !errors.Is(err, stopped) {
			t.Errorf("stopped: %v", err)
		}
	})
}

func TestBaseName(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"s3://b/deep/x-000.tar": "x-000.tar", "https://h/a%20b.tar?X-Amz-Signature=a/b#c": "a%20b.tar", "gs://b/": "", "s3://b": "", "https://h/a/..": "", "https://h/a/": "",
	} {
		if got := BaseName(url); got != want {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
}
