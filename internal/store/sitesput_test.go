package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
)

// oddNames are names that clients and services escape in different ways.
var oddNames = []string{
	"plain", "a b", "a+b", "a%2Bb", "100%", "a?b=c&d", "a#b", "a;b,c", "a=b:c@d", "a'b\"c", "a(b)[c]{d}", "a!b$c*d", "a~b^c`d|e",
	"ä ö", "数据/训练", "e\u0301", "😀", "deep/er/and/deeper", ".hidden", "a..b", "dot./.dot", "tail.", "<a>&amp;", "a\\b",
}

// Objects keep their names, whatever is in them.
func TestSitesNames(t *testing.T) {
	onSites(t, func(t *testing.T, s *site) {
		c := s.client(t, nil)
		var want []string
		for i, name := range oddNames {
			name = "names/" + name
			data := []byte(fmt.Sprintf("%d: %s", i, name))
			o, err := putTold(t, c, s.url(name), data, true)
			if err != nil {
				t.Errorf("%q: %v", name, err)
				continue
			}
			want = append(want, name)
			if found, err := c.Stat(t.Context(), s.url(name)); err != nil || found.Version != o.Version || found.Size != o.Size {
				t.Errorf("%q: put %+v, found %+v, %v", name, o, found, err)
			}
			p := make([]byte, len(data)-1)
			if err := c.Read(t.Context(), o, p, 1); err != nil || !bytes.Equal(p, data[1:]) {
				t.Errorf("%q: read %q, %v", name, p, err)
			}
		}
		if got := s.names(t, "names/"); !sameNames(got, want) {
			t.Errorf("listed %q, want %q", got, want)
		}
		for _, name := range want {
			if err := c.Remove(t.Context(), Object{URL: s.url(name)}); err != nil {
				t.Errorf("%q: %v", name, err)
			}
		}
		s.nothing(t, "names/")
	})
}

// Objects of all sizes: none, less than a part, a part, several.
func TestSitesSizes(t *testing.T) {
	onSites(t, func(t *testing.T, s *site) {
		c := s.client(t, nil)
		for _, n := range []int{0, 1, 100_000, smallPart - 1, smallPart, smallPart + 1, 3*smallPart + 7} {
			for _, isNew := range []bool{true, false} {
				name := fmt.Sprintf("sizes/%d", n)
				data := random(n, uint64(n)+1)
				if !isNew {
					data = random(n, uint64(n)+2) // in the place of the first
				}
				o, err := putTold(t, c, s.url(name), data, isNew)
				if err != nil {
					t.Errorf("%d bytes: %v", n, err)
					continue
				}
				if s.sums && o.Sum == (Sum{}) {
					t.Errorf("%d bytes: put without a checksum", n)
				}
				s.holds(t, name, data)
				if found, err := c.Stat(t.Context(), s.url(name)); err != nil || found.Version != o.Version || found.Size != o.Size {
					t.Errorf("put %+v, found %+v, %v", o, found, err)
				} else if s.sums && found.Sum != o.Sum {
					t.Errorf("%d bytes: put with %v, found with %v", n, o.Sum, found.Sum)
				}
			}
		}
		if left := s.pending(t, ""); len(left) > 0 {
			t.Errorf("parts of %q stay", left)
		}
	})
}

// A new object does not take the place of another one, and of several that are put at once one is made.
func TestSitesNew(t *testing.T) {
	onSites(t, func(t *testing.T, s *site) {
		c := s.client(t, nil)
		for _, n := range []int{10, smallPart + 10} {
			name := fmt.Sprintf("new/%d", n)
			data := random(n, 1)
			if _, err := putTold(t, c, s.url(name), data, true); err != nil {
				t.Fatal(err)
			}
			for _, other := range []int{10, smallPart + 10} {
				if _, err := putTold(t, c, s.url(name), random(other, 2), true); !errors.Is(err, ErrExists) {
					t.Errorf("%d bytes in the place of %d: %v", other, n, err)
				}
			}
			s.holds(t, name, data)
		}
		if s.name == "gofakes3" {
			return // it looks at If-None-Match, and then makes the object, without a lock
		}
		for _, n := range []int{1000, smallPart + 1000} {
			name := fmt.Sprintf("race/%d", n)
			var wg sync.WaitGroup
			var made, winner atomic.Int64
			for i := range 6 {
				wg.Go(func() {
					_, err := s.client(t, nil).Put(t.Context(), &Upload{URL: s.url(name), From: bytes.NewReader(random(n, uint64(i+10))), Size: int64(n), New: true})
					switch {
					case err == nil:
						made.Add(1)
						winner.Store(int64(i))
					case !errors.Is(err, ErrExists):
						t.Errorf("%d bytes: %v", n, err)
					}
				})
			}
			wg.Wait()
			if made.Load() != 1 {
				t.Fatalf("%d bytes: %d of 6 were made", n, made.Load())
			}
			s.holds(t, name, random(n, uint64(winner.Load())+10))
		}
		if left := s.pending(t, ""); len(left) > 0 {
			t.Errorf("parts of %q stay", left)
		}
	})
}

// What was not there can be removed; what takes the place of an object is not read as that object.
func TestSitesChanged(t *testing.T) {
	onSites(t, func(t *testing.T, s *site) {
		c := s.client(t, nil)
		must(t, c.Remove(t.Context(), Object{URL: s.url("changed/never")}))
		old, err := putTold(t, c, s.url("changed/object"), []byte("before"), false)
		must(t, err)
		again, err := putTold(t, c, s.url("changed/object"), []byte("before"), false)
		if err != nil || s.scheme == "s3" && again.Version != old.Version {
			t.Errorf("the same bytes again: %+v, %v", again, err)
		}
		_, err = putTold(t, c, s.url("changed/object"), []byte("after!"), false)
		must(t, err)
		p := make([]byte, 6)
		if err := presentable(t, c.Read(t.Context(), old, p, 0)); !errors.Is(err, ErrChanged) {
			t.Errorf("read %q, %v", p, err)
		}
		must(t, c.Remove(t.Context(), Object{URL: s.url("changed/object")}))
		if err := presentable(t, c.Read(t.Context(), old, p, 0)); !errors.Is(err, ErrChanged) && !errors.Is(err, ErrNotFound) {
			t.Errorf("of an object that was removed: %v", err)
		}
		s.nothing(t, "changed/")
	})
}

// Uploads of others that were not ended are named, and can be aborted, below their prefix alone.
func TestSitesPending(t *testing.T) {
	onSites(t, func(t *testing.T, s *site) {
		if s.admin == nil {
			if left := s.pending(t, ""); len(left) > 0 {
				t.Errorf("%q", left)
			}
			return // Google's service ends them by itself, and names none
		}
		c := s.client(t, nil)
		begun := time.Now()
		var want []string
		for _, name := range []string{"pending/a b+c%", "pending/ä", "pendingother"} {
			id, err := s.admin.NewMultipartUpload(t.Context(), bucketName, name, minio.PutObjectOptions{})
			must(t, err)
			_, err = s.admin.PutObjectPart(t.Context(), bucketName, name, id, 1, strings.NewReader("part"), 4, minio.PutObjectPartOptions{})
			must(t, err)
			if strings.HasPrefix(name, "pending/") {
				want = append(want, s.url(name))
			}
		}
		var got []string
		prefixes := []string{s.url("pending/")}
		if s.name == "minio" {
			prefixes = want // it lists those of one object
		}
		var all []Object
		for _, prefix := range prefixes {
			for p, err := range c.Pending(t.Context(), prefix) {
				must(t, err)
				all = append(all, p)
			}
		}
		for _, p := range all {
			got = append(got, p.URL)
			if d := p.Modified.Sub(begun).Abs(); d > time.Minute {
				t.Errorf("%s was begun at %v", p.URL, p.Modified)
			}
			must(t, c.Remove(t.Context(), p))
			if err := c.Remove(t.Context(), p); err != nil {
				t.Errorf("aborted twice: %v", err)
			}
		}
		if !sameNames(got, want) {
			t.Errorf("pending are %q, want %q", got, want)
		}
		if left := s.pending(t, "pendingother"); len(left) != 1 || left[0] != s.url("pendingother") {
			t.Errorf("%q are left", left)
		}
	})
}

// An upload that ends early leaves nothing: its file cannot be read, or its context has ended.
func TestSitesBroken(t *testing.T) {
	onSites(t, func(t *testing.T, s *site) {
		c := s.client(t, nil)
		for _, n := range []int{1000, 4 * smallPart} {
			data := bytes.NewReader(random(n, 5))
			_, err := c.Put(t.Context(), &Upload{URL: s.url("broken/file"), From: brokenReader{data, int64(n) * 3 / 4}, Size: int64(n)})
			if err := presentable(t, err); !errors.Is(err, errBroken) {
				t.Errorf("%d bytes: %v", n, err)
			}
			_, err = c.Put(t.Context(), &Upload{URL: s.url("broken/short"), From: data, Size: int64(n) + 1000})
			if err := presentable(t, err); err == nil {
				t.Errorf("%d bytes where there are %d", n+1000, n)
			}
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		stop := errors.New("stopped")
		data := random(8*smallPart, 6)
		_, err := c.Put(ctx, &Upload{URL: s.url("broken/stopped"), From: bytes.NewReader(data), Size: int64(len(data)), Progress: func(int64) { cancel(stop) }})
		if !errors.Is(err, stop) {
			t.Errorf("stopped: %v", err)
		}
		s.nothing(t, "broken/")
	})
}
