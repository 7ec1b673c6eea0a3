package bucket_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/ffconvert/ffconvert/internal/store"
)

// A memory is a service in memory. Its methods may be called concurrently.
type memory struct {
	mu      sync.Mutex
	objects map[string]stored // by URL
	writes  int               // versions given so far
	n       int               // requests so far
	pending []string          // URLs of uploads in parts that were begun
	kind    string            // of checksums; "": crc32c
	hidden  map[string]bool   // URLs that lists leave out
	longer  string            // URL of an object of which lists say a byte more than it has
	mistold string            // URL of an object of which the reply to a put says another version
	rotten  string            // URL of an object whose bytes differ from the checksum that the service keeps

	// before is called with each request, counted from 1: its error is that of the request. acted says that the service
	// does what it is asked for all the same. It may be nil.
	before func(n int, what, url string) (err error, acted bool)
}

type stored struct {
	data    []byte
	version string
}

func (s *memory) request(what, url string, act func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	var err error
	acted := false
	if s.before != nil {
		err, acted = s.before(s.n, what, url)
	}
	if err != nil && !acted {
		return err
	}
	if late := act(); late != nil && err == nil {
		err = late
	}
	return err
}

func (s *memory) about(url string, o stored) store.Object {
	return store.Object{URL: url, Size: int64(len(o.data)), Version: o.version, Sum: store.Sum{Kind: cmp.Or(s.kind, "crc32c"), Value: fmt.Sprintf("%08x", crc32.Checksum(o.data, crc32.MakeTable(crc32.Castagnoli)))}}
}

func notFound(url string) error { return &store.Error{URL: url, Kind: store.ErrNotFound} }

func (s *memory) Stat(_ context.Context, url string) (o store.Object, err error) {
	err = s.request("stat", url, func() error {
		there, ok := s.objects[url]
		if !ok {
			return notFound(url)
		}
		o = s.about(url, there)
		return nil
	})
	return o, err
}

// List gives no checksums, as S3 does.
func (s *memory) List(_ context.Context, prefix string) iter.Seq2[store.Object, error] {
	return func(yield func(store.Object, error) bool) {
		var all []store.Object
		err := s.request("list", prefix, func() error {
			for _, url := range slices.Sorted(maps.Keys(s.objects)) {
				if strings.HasPrefix(url, prefix) && !s.hidden[url] {
					o := s.about(url, s.objects[url])
					o.Sum = store.Sum{}
					if url == s.longer {
						o.Size++
					}
					all = append(all, o)
				}
			}
			return nil
		})
		if err != nil {
			yield(store.Object{}, err)
			return
		}
		for _, o := range all {
			if !yield(o, nil) {
				return
			}
		}
	}
}

func (s *memory) get(o store.Object) (data []byte, err error) {
	err = s.request("get", o.URL, func() error {
		there, ok := s.objects[o.URL]
		switch {
		case !ok:
			return notFound(o.URL)
		case there.version != o.Version:
			return &store.Error{URL: o.URL, Kind: store.ErrChanged}
		}
		data = there.data
		return nil
	})
	return data, err
}

func (s *memory) Fetch(_ context.Context, o store.Object, into store.File, _ func(int64)) error {
	data, err := s.get(o)
	if err == nil {
		_, err = into.WriteAt(data, 0)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil && s.rotten == o.URL {
		err = &store.Error{URL: o.URL, Kind: store.ErrSum}
	}
	return err
}

func (s *memory) Read(_ context.Context, o store.Object, p []byte, off int64) error {
	data, err := s.get(o)
	if err == nil {
		copy(p, data[off:])
	}
	return err
}

func (s *memory) Put(_ context.Context, u *store.Upload) (o store.Object, err error) {
	url, size := u.URL, u.Size
	data := make([]byte, size)
	if _, err := u.From.ReadAt(data, 0); err != nil && err != io.EOF {
		return o, err
	}
	err = s.request("put", url, func() error {
		if _, there := s.objects[url]; there && u.New {
			return &store.Error{URL: url, Kind: store.ErrExists}
		}
		s.writes++
		s.objects[url] = stored{bytes.Clone(data), fmt.Sprintf("v%d", s.writes)}
		o = s.about(url, s.objects[url])
		if s.mistold == url {
			o.Version = "another"
		}
		if s.rotten == url {
			s.rotten = ""
		}
		return nil
	})
	if err == nil && u.Progress != nil {
		u.Progress(size)
	}
	return o, err
}

func (s *memory) Remove(_ context.Context, o store.Object) error {
	if o.Upload != "" {
		return s.request("abort", o.URL, func() error {
			s.pending = slices.DeleteFunc(s.pending, func(url string) bool { return url == o.URL })
			return nil
		})
	}
	return s.request("remove", o.URL, func() error { delete(s.objects, o.URL); return nil })
}

func (s *memory) Pending(context.Context, string) iter.Seq2[store.Object, error] {
	return func(yield func(store.Object, error) bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, url := range s.pending {
			if !yield(store.Object{URL: url, Upload: "id"}, nil) {
				return
			}
		}
	}
}

// names returns the names of the objects below a URL, sorted.
func (s *memory) names(base string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for url := range s.objects {
		if name, ok := strings.CutPrefix(url, base); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
