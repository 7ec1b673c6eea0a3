package store

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/internal/test/aisfake"
	"github.com/ffconvert/ffconvert/internal/test/testproxy"
)

// A kept is a store of each kind that there is, with some objects below a URL.
type kept struct {
	name  string
	base  string // ends in a slash
	store func(t *testing.T, disturbed bool) Store
	lists bool
	// put makes an object, not by way of the store.
	put func(t *testing.T, name string, data []byte)
	// writes: the store can be written to.
	writes bool
}

// everyStore starts one of each kind.
func everyStore(t *testing.T) (all []kept) {
	t.Helper()
	through := func(address string, vars func(address string) []string) func(t *testing.T, disturbed bool) Store {
		return func(t *testing.T, disturbed bool) Store {
			if disturbed {
				address = testproxy.Start(t, address, testproxy.Options{Pick: testproxy.Some(7, 0.15)}).Address
			}
			return client(t, Options{LookupEnv: environment(envOf(vars(address))), wait: time.Millisecond, RangeSize: 10})
		}
	}
	for _, s := range sites(t) {
		all = append(all, kept{s.name, s.url("kept/"), through(s.address, s.envAt), true, func(t *testing.T, name string, data []byte) {
			_, err := putTold(t, s.client(t, nil), s.url("kept/"+name), data, false)
			must(t, err)
		}, true})
	}
	ais := aisfake.Start(t)
	ais.Bucket("train", aisfake.Bucket{Versions: true})
	all = append(all, kept{"ais", "ais://train/kept/", through(hostOf(t, ais.URL), func(address string) []string { return []string{"AIS_ENDPOINT=http://" + address} }),
		true, func(_ *testing.T, name string, data []byte) { ais.Put("train", "kept/"+name, data) }, false})
	served, dir := t.TempDir(), t.TempDir()
	into := func(dir string) func(t *testing.T, name string, data []byte) {
		return func(t *testing.T, name string, data []byte) {
			path := filepath.Join(dir, filepath.FromSlash(name))
			must(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, data, 0o644)))
		}
	}
	web := httptest.NewServer(http.FileServer(http.Dir(served)))
	t.Cleanup(web.Close)
	all = append(all, kept{"http", web.URL + "/", through(hostOf(t, web.URL), func(string) []string { return nil }), false, into(served), false})
	root, err := os.OpenRoot(dir)
	must(t, err)
	t.Cleanup(func() { root.Close() })
	return append(all, kept{"directory", "", func(*testing.T, bool) Store { return &Dir{Root: root} }, true, into(dir), true})
}

// What [Store] says holds of a directory and of each service, also where requests are disturbed.
func TestEveryStore(t *testing.T) {
	for _, k := range everyStore(t) {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			objects := map[string][]byte{"a": random(100, 1), "a b/c": random(35, 2), "a.d": nil, "q #1?.tar": random(300, 6), "z/é+%": random(10, 3)}
			for name, data := range objects {
				k.put(t, name, data)
			}
			for _, disturbed := range []bool{false, true} {
				s := k.store(t, disturbed)
				for name, data := range objects {
					k.reads(t, s, name, data)
				}
				k.missing(t, s)
				k.listed(t, s, []string{"a", "a b/c", "a.d", "q #1?.tar", "z/é+%"})
				if k.writes {
					k.written(t, s, fmt.Sprintf("new/%v", disturbed))
				} else {
					_, err := s.Put(t.Context(), &Upload{URL: k.base + "a", From: bytes.NewReader(nil)})
					if err := errors.Join(err, s.Remove(t.Context(), Object{URL: k.base + "a"})); !errors.Is(err, ErrURL) {
						t.Errorf("written to: %v", err)
					}
				}
			}
		})
	}
}

// url is the URL of an object: of a web server its name is escaped.
func (k *kept) url(name string) string {
	if k.lists {
		return k.base + name
	}
	return k.base + strings.NewReplacer(" ", "%20", "#", "%23", "?", "%3F", "é", "%C3%A9", "%", "%25").Replace(name)
}

// reads looks at an object and reads it in each way.
func (k *kept) reads(t *testing.T, s Store, name string, data []byte) {
	t.Helper()
	o, err := s.Stat(t.Context(), k.url(name))
	if err != nil || o.URL != k.url(name) || o.Size != int64(len(data)) || o.Version == "" && o.Modified.IsZero() {
		t.Fatalf("%s: %+v, %v", name, o, err)
	}
	f := &memFile{}
	told := int64(0)
	if err := s.Fetch(t.Context(), o, f, func(n int64) { told += n }); err != nil || !bytes.Equal(f.b, data) || told != o.Size {
		t.Errorf("%s: %d bytes of %d, progress %d, %v", name, len(f.b), len(data), told, err)
	}
	for off := 0; off < len(data); off += 9 {
		p := make([]byte, min(20, len(data)-off))
		if err := s.Read(t.Context(), o, p, int64(off)); err != nil || !bytes.Equal(p, data[off:off+len(p)]) {
			t.Errorf("%s, from %d on: other bytes, %v", name, off, err)
		}
	}
	if err := s.Read(t.Context(), o, make([]byte, 1), o.Size); err == nil {
		t.Errorf("%s: a byte behind its end", name)
	}
}

// missing looks for an object that is not there.
func (k *kept) missing(t *testing.T, s Store) {
	t.Helper()
	for _, look := range []func() error{
		func() error { _, err := s.Stat(t.Context(), k.url("none")); return err },
		func() error { _, err := Find(t.Context(), s, k.url("none")); return err },
		func() error { return s.Fetch(t.Context(), Object{URL: k.url("none"), Size: 5}, &memFile{}, nil) },
	} {
		if err := look(); !IsMissing(err) {
			t.Errorf("an object that is not there: %v", err)
		}
	}
}

// listed lists all, and what begins with a prefix.
func (k *kept) listed(t *testing.T, s Store, want []string) {
	t.Helper()
	for _, prefix := range []string{"", "a", "a b/", "nothing"} {
		var got, these []string
		for _, name := range want {
			if strings.HasPrefix(name, prefix) {
				these = append(these, name)
			}
		}
		for o, err := range s.List(t.Context(), k.base+prefix) {
			if !k.lists && errors.Is(err, ErrNoList) {
				return
			}
			must(t, err)
			got = append(got, strings.TrimPrefix(o.URL, k.base))
		}
		if fmt.Sprint(got) != fmt.Sprint(these) {
			t.Errorf("below %q: %q, want %q", prefix, got, these)
		}
	}
}

// written makes, replaces and removes an object.
func (k *kept) written(t *testing.T, s Store, name string) {
	t.Helper()
	put := func(data []byte, isNew bool) (Object, error) {
		told := int64(0)
		o, err := s.Put(t.Context(), &Upload{URL: k.base + name, From: bytes.NewReader(data), Size: int64(len(data)), New: isNew, Progress: func(n int64) { told += n }})
		if err == nil && (told != o.Size || o.Size != int64(len(data))) {
			t.Errorf("%+v, progress %d", o, told)
		}
		return o, err
	}
	first, second := random(50, 4), random(60, 5)
	_, err := put(first, true)
	must(t, err)
	k.reads(t, s, name, first)
	if _, err := put(second, true); !errors.Is(err, ErrExists) {
		t.Errorf("put as new where one is: %v", err)
	}
	k.reads(t, s, name, first)
	_, err = put(second, false)
	must(t, err)
	k.reads(t, s, name, second)
	if err := func() error {
		_, err := s.Put(t.Context(), &Upload{URL: k.base + name + "-broken", From: brokenReader{bytes.NewReader(first), 20}, Size: 50})
		return err
	}(); !errors.Is(err, errBroken) {
		t.Errorf("put of what cannot be read: %v", err)
	}
	for range 2 {
		must(t, s.Remove(t.Context(), Object{URL: k.base + name}))
	}
	for o, err := range s.List(t.Context(), k.base+"new/") {
		t.Errorf("left: %+v, %v", o, err)
	}
	for o, err := range s.Pending(t.Context(), k.base) {
		t.Errorf("begun: %+v, %v", o, err)
	}
}
