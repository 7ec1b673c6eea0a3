// Package inputtest has objects in memory and what else the tests of input and internal/stage share.
package inputtest

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ffconvert/ffconvert/internal/store"
)

// FakeRemote serves objects by URL, for http and https without lists.
type FakeRemote struct {
	store.Store // nil: nothing is written

	Objects map[string]string
	Fails   map[string]error // of Stat and Fetch by URL, of List by prefix
	Delay   time.Duration    // of each Stat
	Hidden  map[string]bool  // URLs that lists leave out

	mu             sync.Mutex
	Asked          []string // "stat URL", "list PREFIX"
	Running, Most  atomic.Int64
	Stated, Listed atomic.Int64
}

func (f *FakeRemote) say(what string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Asked = append(f.Asked, what)
}

func (f *FakeRemote) Object(url string) store.Object {
	return store.Object{URL: url, Size: int64(len(f.Objects[url])), Version: "v" + f.Objects[url], Modified: time.Unix(int64(len(url)), 0)}
}

func NotThere(url string) error {
	return &store.Error{URL: store.Redact(url), Kind: store.ErrNotFound, Status: 404, Err: errors.New("HTTP 404 Not Found")}
}

func (f *FakeRemote) Stat(ctx context.Context, url string) (store.Object, error) {
	f.say("stat " + url)
	f.Stated.Add(1)
	n := f.Running.Add(1)
	defer f.Running.Add(-1)
	for m := f.Most.Load(); n > m && !f.Most.CompareAndSwap(m, n); m = f.Most.Load() {
	}
	select {
	case <-time.After(f.Delay):
	case <-ctx.Done():
		return store.Object{}, context.Cause(ctx)
	}
	if err := f.Fails[url]; err != nil {
		return store.Object{}, err
	}
	if _, ok := f.Objects[url]; !ok {
		return store.Object{}, NotThere(url)
	}
	return f.Object(url), nil
}

func (f *FakeRemote) List(ctx context.Context, prefix string) iter.Seq2[store.Object, error] {
	f.say("list " + prefix)
	f.Listed.Add(1)
	return func(yield func(store.Object, error) bool) {
		if strings.HasPrefix(prefix, "http") {
			yield(store.Object{}, &store.Error{URL: prefix, Kind: store.ErrNoList})
			return
		}
		base, query, _ := strings.Cut(prefix, "?provider=")
		for _, url := range slices.Sorted(maps.Keys(f.Objects)) {
			if strings.HasPrefix(url, base) && strings.HasSuffix(url, query) && !f.Hidden[url] && !yield(f.Object(url), nil) {
				return
			}
		}
		if err := f.Fails[prefix]; err != nil {
			yield(store.Object{}, err)
		}
	}
}

func (f *FakeRemote) Fetch(ctx context.Context, o store.Object, into store.File, progress func(n int64)) error {
	if err := f.Fails["fetch "+o.URL]; err != nil {
		return err
	}
	data := []byte(f.Objects[o.URL])
	for off := len(data) / 7 * 7; off >= 0; off -= 7 { // ranges in no order
		part := data[off:min(off+7, len(data))]
		if _, err := into.WriteAt(part, int64(off)); err != nil {
			return err
		}
		progress(int64(len(part)))
	}
	return nil
}

// ObjectsOf makes objects of the URLs, each with bytes of its own.
func ObjectsOf(urls ...string) *FakeRemote {
	f := &FakeRemote{Objects: map[string]string{}, Fails: map[string]error{}}
	for _, url := range urls {
		f.Objects[url] = "<" + url + ">"
	}
	return f
}
