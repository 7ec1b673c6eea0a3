package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/ffconvert/ffconvert/internal/test/testproxy"
	"github.com/ffconvert/ffconvert/internal/test/testserver"
	"github.com/ffconvert/ffconvert/internal/test/versitygw"
)

// A site is a bucket of a real service. All that writes is tested on each.
type site struct {
	name    string
	scheme  string
	address string
	envAt   func(address string) []string
	admin   *minio.Core // of S3
	sums    bool        // it compares a checksum of the whole object, and tells it afterwards
}

// sites starts a server of each kind, for the time of a test.
func sites(t *testing.T) []*site {
	t.Helper()
	var all []*site
	for _, kind := range []struct {
		name string
		testserver.S3
		sums bool
	}{{"versitygw", versitygw.Kind(), true}, {"minio", testserver.MinIO(), true}, {"gofakes3", testserver.GoFakeS3(), false}} {
		s := kind.Start(t)
		s.Bucket(t, bucketName)
		all = append(all, &site{kind.name, "s3", s.Address, s.EnvAt, s.Client, kind.sums})
	}
	g := testserver.StartGoogle(t)
	g.Bucket(t, bucketName)
	return append(all, &site{"fake-gcs-server", "gs", g.Address, g.EnvAt, nil, true})
}

// smallPart is the least size of a part that S3 allows, and a multiple of what Google's uploads have.
const smallPart = 5 << 20

// client reaches the site, by a proxy where p is not nil.
func (s *site) client(t *testing.T, p *testproxy.Proxy) *Client {
	t.Helper()
	address := s.address
	if p != nil {
		address = p.Address
	}
	vars := map[string]string{}
	for _, v := range s.envAt(address) {
		name, value, _ := strings.Cut(v, "=")
		vars[name] = value
	}
	return client(t, Options{LookupEnv: environment(vars), part: smallPart, wait: time.Millisecond})
}

func (s *site) url(name string) string { return s.scheme + "://" + bucketName + "/" + name }

// names lists the objects below a prefix.
func (s *site) names(t *testing.T, prefix string) (names []string) {
	t.Helper()
	for o, err := range s.client(t, nil).List(t.Context(), s.url(prefix)) {
		must(t, err)
		names = append(names, strings.TrimPrefix(o.URL, s.url("")))
	}
	return names
}

// holds fails the test unless an object has the bytes of data.
func (s *site) holds(t *testing.T, name string, data []byte) {
	t.Helper()
	f, _, err := fetchAll(t, s.client(t, nil), s.url(name))
	if err != nil {
		t.Fatal(err)
	}
	f.holds(t, data)
}

// pending are the uploads below a prefix that were begun and not ended.
func (s *site) pending(t *testing.T, prefix string) (urls []string) {
	t.Helper()
	for p, err := range s.client(t, nil).Pending(t.Context(), s.url(prefix)) {
		must(t, err)
		urls = append(urls, p.URL)
	}
	return urls
}

// nothing fails the test if an object or a part of one lies below a prefix.
func (s *site) nothing(t *testing.T, prefix string) {
	t.Helper()
	if names, parts := s.names(t, prefix), s.pending(t, prefix); len(names) > 0 || len(parts) > 0 {
		t.Errorf("objects %q and parts of %q stay", names, parts)
	}
}

// putTold is Put. It checks that an error can be shown, what the object says of itself, and that Progress was
// told of each byte once.
func putTold(t *testing.T, c *Client, url string, data []byte, isNew bool) (Object, error) {
	t.Helper()
	var told int64
	o, err := c.Put(t.Context(), &Upload{URL: url, From: bytes.NewReader(data), Size: int64(len(data)), New: isNew, Progress: func(n int64) { told += n }})
	if err != nil {
		return o, presentable(t, err)
	}
	if told != int64(len(data)) {
		t.Errorf("%s: progress was told of %d bytes of %d", url, told, len(data))
	}
	if o.URL != url || o.Size != int64(len(data)) || o.Version == "" {
		t.Errorf("put %+v", o)
	}
	if o.Sum == (Sum{}) && len(data) > smallPart {
		return o, nil // a service that has MD5 alone compares the parts
	}
	h := o.Sum.NewHash()
	if h == nil {
		t.Fatalf("%s: no checksum: %+v", url, o)
	}
	h.Write(data)
	if got := fmt.Sprintf("%x", h.Sum(nil)); got != o.Sum.Value {
		t.Errorf("%s: the checksum is %s, want %s", url, o.Sum.Value, got)
	}
	return o, nil
}

// A brokenReader fails at an offset.
type brokenReader struct {
	io.ReaderAt
	at int64
}

var errBroken = errors.New("the disk is broken")

func (b brokenReader) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > b.at {
		return 0, errBroken
	}
	return b.ReaderAt.ReadAt(p, off)
}

// onSites runs a test on each site.
func onSites(t *testing.T, test func(t *testing.T, s *site)) {
	t.Helper()
	for _, s := range sites(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			test(t, s)
		})
	}
}

// sameNames compares names in any order.
func sameNames(got, want []string) bool {
	got, want = slices.Clone(got), slices.Clone(want)
	slices.Sort(got)
	slices.Sort(want)
	return slices.Equal(got, want)
}
