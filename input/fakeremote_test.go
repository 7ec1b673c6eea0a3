package input

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/input/remote"
)

// fakeRemote serves objects by URL, for http and https without lists.
type fakeRemote struct {
	objects map[string]string
	fails   map[string]error // of Stat and Fetch by URL, of List by prefix
	delay   time.Duration    // of each Stat

	mu             sync.Mutex
	asked          []string // "stat URL", "list PREFIX"
	running, most  atomic.Int64
	stated, listed atomic.Int64
}

func (f *fakeRemote) say(what string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, what)
}

func (f *fakeRemote) object(url string) remote.Object {
	return remote.Object{URL: url, Size: int64(len(f.objects[url])), Version: "v" + f.objects[url], Modified: time.Unix(int64(len(url)), 0)}
}

func notThere(url string) error {
	return &remote.Error{URL: remote.Redact(url), Kind: remote.ErrNotFound, Status: 404, Err: errors.New("HTTP 404 Not Found")}
}

func (f *fakeRemote) Stat(ctx context.Context, url string) (remote.Object, error) {
	f.say("stat " + url)
	f.stated.Add(1)
	n := f.running.Add(1)
	defer f.running.Add(-1)
	for m := f.most.Load(); n > m && !f.most.CompareAndSwap(m, n); m = f.most.Load() {
	}
	select {
	case <-time.After(f.delay):
	case <-ctx.Done():
		return remote.Object{}, context.Cause(ctx)
	}
	if err := f.fails[url]; err != nil {
		return remote.Object{}, err
	}
	if _, ok := f.objects[url]; !ok {
		return remote.Object{}, notThere(url)
	}
	return f.object(url), nil
}

func (f *fakeRemote) List(ctx context.Context, prefix string) iter.Seq2[remote.Object, error] {
	f.say("list " + prefix)
	f.listed.Add(1)
	return func(yield func(remote.Object, error) bool) {
		if strings.HasPrefix(prefix, "http") {
			yield(remote.Object{}, &remote.Error{URL: prefix, Kind: remote.ErrNoList})
			return
		}
		base, query, _ := strings.Cut(prefix, "?provider=")
		for _, url := range slices.Sorted(maps.Keys(f.objects)) {
			if strings.HasPrefix(url, base) && strings.HasSuffix(url, query) && !yield(f.object(url), nil) {
				return
			}
		}
		if err := f.fails[prefix]; err != nil {
			yield(remote.Object{}, err)
		}
	}
}

func (f *fakeRemote) Fetch(ctx context.Context, o remote.Object, into remote.File, progress func(n int64)) error {
	if err := f.fails["fetch "+o.URL]; err != nil {
		return err
	}
	data := []byte(f.objects[o.URL])
	for off := len(data) / 7 * 7; off >= 0; off -= 7 { // ranges in no order
		part := data[off:min(off+7, len(data))]
		if _, err := into.WriteAt(part, int64(off)); err != nil {
			return err
		}
		progress(int64(len(part)))
	}
	return nil
}

// objectsOf makes objects of the URLs, each with bytes of its own.
func objectsOf(urls ...string) *fakeRemote {
	f := &fakeRemote{objects: map[string]string{}, fails: map[string]error{}}
	for _, url := range urls {
		f.objects[url] = "<" + url + ">"
	}
	return f
}

// findRemote finds the arguments with f, and returns the names.
func findRemote(t *testing.T, f *fakeRemote, opts Options, args ...string) ([]string, error) {
	t.Helper()
	if f != nil {
		opts.Remote = f
	}
	if opts.LookupEnv == nil {
		opts.LookupEnv = noEnv
	}
	found, err := Find(t.Context(), args, opts)
	var names []string
	for _, n := range found {
		names = append(names, n.Name)
	}
	return names, err
}
