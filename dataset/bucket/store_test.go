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

	"github.com/ffconvert/ffconvert/input/remote"
)

// A store is a service in memory. Its methods may be called concurrently.
type store struct {
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

func (s *store) request(what, url string, act func() error) error {
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

func (s *store) about(url string, o stored) remote.Object {
	return remote.Object{URL: url, Size: int64(len(o.data)), Version: o.version, Sum: remote.Sum{Kind: cmp.Or(s.kind, "crc32c"), Value: fmt.Sprintf("%08x", crc32.Checksum(o.data, crc32.MakeTable(crc32.Castagnoli)))}}
}

func notFound(url string) error { return &remote.Error{URL: url, Kind: remote.ErrNotFound} }

func (s *store) Stat(_ context.Context, url string) (o remote.Object, err error) {
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
func (s *store) List(_ context.Context, prefix string) iter.Seq2[remote.Object, error] {
	return func(yield func(remote.Object, error) bool) {
		var all []remote.Object
		err := s.request("list", prefix, func() error {
			for _, url := range slices.Sorted(maps.Keys(s.objects)) {
				if strings.HasPrefix(url, prefix) && !s.hidden[url] {
					o := s.about(url, s.objects[url])
					o.Sum = remote.Sum{}
					if url == s.longer {
						o.Size++
					}
					all = append(all, o)
				}
			}
			return nil
		})
		if err != nil {
			yield(remote.Object{}, err)
			return
		}
		for _, o := range all {
			if !yield(o, nil) {
				return
			}
		}
	}
}

func (s *store) get(o remote.Object) (data []byte, err error) {
	err = s.request("get", o.URL, func() error {
		there, ok := s.objects[o.URL]
		switch {
		case !ok:
			return notFound(o.URL)
		case there.version != o.Version:
			return &remote.Error{URL: o.URL, Kind: remote.ErrChanged}
		}
		data = there.data
		return nil
	})
	return data, err
}

func (s *store) Fetch(_ context.Context, o remote.Object, into remote.File, _ func(int64)) error {
	data, err := s.get(o)
	if err == nil {
		_, err = into.WriteAt(data, 0)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil && s.rotten == o.URL {
		err = &remote.Error{URL: o.URL, Kind: remote.ErrSum}
	}
	return err
}

func (s *store) Read(_ context.Context, o remote.Object, p []byte, off int64) error {
	data, err := s.get(o)
	if err == nil {
		copy(p, data[off:])
	}
	return err
}

func (s *store) Put(_ context.Context, url string, from io.ReaderAt, size int64, opts remote.PutOptions) (o remote.Object, err error) {
	data := make([]byte, size)
	if _, err := from.ReadAt(data, 0); err != nil && err != io.EOF {
		return o, err
	}
	err = s.request("put", url, func() error {
		if _, there := s.objects[url]; there && opts.New {
			return &remote.Error{URL: url, Kind: remote.ErrExists}
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
	if err == nil && opts.Progress != nil {
		opts.Progress(size)
	}
	return o, err
}

func (s *store) Remove(_ context.Context, url string) error {
	return s.request("remove", url, func() error { delete(s.objects, url); return nil })
}

func (s *store) Pending(context.Context, string) iter.Seq2[remote.Pending, error] {
	return func(yield func(remote.Pending, error) bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, url := range s.pending {
			if !yield(remote.Pending{URL: url}, nil) {
				return
			}
		}
	}
}

func (s *store) Abort(_ context.Context, p remote.Pending) error {
	return s.request("abort", p.URL, func() error {
		s.pending = slices.DeleteFunc(s.pending, func(url string) bool { return url == p.URL })
		return nil
	})
}

// names returns the names of the objects below a URL, sorted.
func (s *store) names(base string) []string {
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
