package store

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/minio/minio-go/v7"
)

// gatewayStore is our store over the gateway, with more variables or other ones.
func gatewayStore(t *testing.T, vars map[string]string, opts Options) *s3Store {
	t.Helper()
	addr, _ := startGateway(t)
	env := gatewayEnv(addr)
	maps.Copy(env, vars)
	opts.LookupEnv = environment(env)
	s, err := s3StoreOf(opts, loopbackClient(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// text reads a reply to its end.
func textOf(t *testing.T, r *reply, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	if r.N >= 0 && int64(len(b)) != r.N {
		t.Errorf("%d bytes come, %d are announced", len(b), r.N)
	}
	return string(b)
}

func TestS3Ranges(t *testing.T) {
	s := gatewayStore(t, nil, Options{})
	const whole = "0123456789"
	put(t, gateway.admin, "ranges/digits.txt", whole, withSum("crc32c", whole))
	o, err := s.stat(t.Context(), "s3://train-data/ranges/digits.txt")
	if err != nil {
		t.Fatal(err)
	}
	if o.Size != 10 || o.Version == "" || o.Modified.IsZero() || o.URL != "s3://train-data/ranges/digits.txt" {
		t.Errorf("%+v", o)
	}
	for _, row := range []struct {
		name   string
		off, n int64
		want   string
	}{
		{"all", 0, -1, whole},
		{"the first byte", 0, 1, "0"},
		{"in the middle", 3, 4, "3456"},
		{"from there on", 7, -1, "789"},
		{"more than there is", 8, 100, "89"},
	} {
		t.Run(row.name, func(t *testing.T) {
			r, err := s.open(t.Context(), o, row.off, row.n)
			if got := textOf(t, r, err); got != row.want {
				t.Errorf("%q", got)
			}
			if r.Off != row.off || r.Size != 10 || r.Version != o.Version {
				t.Errorf("%+v", r)
			}
		})
	}
	if _, err := s.open(t.Context(), o, 20, 5); !errors.Is(err, ErrChanged) {
		t.Errorf("past the end: %v", err)
	}
}

func TestS3Empty(t *testing.T) {
	s := gatewayStore(t, nil, Options{})
	put(t, gateway.admin, "empty", "", minio.PutObjectOptions{})
	o, err := s.stat(t.Context(), "s3://train-data/empty")
	if err != nil || o.Size != 0 {
		t.Fatalf("%+v %v", o, err)
	}
	r, err := s.open(t.Context(), o, 0, -1)
	if got := textOf(t, r, err); got != "" {
		t.Errorf("%q", got)
	}
}

func TestS3Overwritten(t *testing.T) {
	s := gatewayStore(t, nil, Options{})
	put(t, gateway.admin, "overwritten", "one", minio.PutObjectOptions{})
	o, err := s.stat(t.Context(), "s3://train-data/overwritten")
	if err != nil {
		t.Fatal(err)
	}
	put(t, gateway.admin, "overwritten", "two", minio.PutObjectOptions{})
	_, err = s.open(t.Context(), o, 0, -1)
	if e, ok := errors.AsType[*Error](err); !ok || e.Kind != ErrChanged || e.Status != http.StatusPreconditionFailed || e.Again {
		t.Errorf("%v", err)
	}
	if err := gateway.admin.RemoveObject(t.Context(), bucketName, "overwritten", minio.RemoveObjectOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err = s.open(t.Context(), o, 0, -1); !errors.Is(err, ErrNotFound) {
		t.Errorf("removed: %v", err)
	}
}

// Some services ignore If-Match. Their replies say what they are of.
func TestS3OverwrittenUnnoticed(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"second"`)
		w.Header().Set("Last-Modified", "Wed, 21 Oct 2015 07:28:00 GMT")
		fmt.Fprint(w, "other bytes")
	}))
	defer server.Close()
	s := madeUpStore(t, server, nil)
	c := New(Options{Retries: -1})
	c.made["s3"] = s
	err := c.Fetch(t.Context(), Object{URL: "s3://train-data/a", Version: "first", Size: 11}, new(memFile), nil)
	if !errors.Is(err, ErrChanged) {
		t.Error(err)
	}
}

func TestS3Names(t *testing.T) {
	s := gatewayStore(t, nil, Options{})
	keys := []string{
		"names/a b.tar", "names/a+b.tar", "names/a#b.tar", "names/a?b=c&d.tar", "names/100%.tar", "names/%41.tar",
		"names/é日本🐟.tar", "names/a;b,c:d@e=f$g!h*i'j(k).tar", `names/a"b\c.tar`, "names/{000..002}.tar", "names/~x.tar",
	}
	for _, key := range keys {
		put(t, gateway.admin, key, "text of "+key, minio.PutObjectOptions{})
	}
	for _, key := range keys {
		o, err := s.stat(t.Context(), "s3://train-data/"+key)
		if err != nil {
			t.Error(err)
			continue
		}
		r, err := s.open(t.Context(), o, 0, -1)
		if got := textOf(t, r, err); got != "text of "+key {
			t.Errorf("%s: %q", key, got)
		}
	}
	var got []string
	for o, err := range objectsOf(t.Context(), s, "s3://train-data/names/") {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, strings.TrimPrefix(o.URL, "s3://train-data/"))
	}
	slices.Sort(keys)
	if !slices.Equal(got, keys) {
		t.Errorf("listed: %q", got)
	}
}

func TestS3List(t *testing.T) {
	s := gatewayStore(t, nil, Options{})
	s.pageSize = 7
	var want []string
	for i := range 50 {
		key := fmt.Sprintf("pages/part-%03d.tar", i)
		put(t, gateway.admin, key, strings.Repeat("x", i), minio.PutObjectOptions{})
		want = append(want, "s3://train-data/"+key)
	}
	put(t, gateway.admin, "pages0", "after the others", minio.PutObjectOptions{})

	var got []string
	for o, err := range objectsOf(t.Context(), s, "s3://train-data/pages/part-") {
		if err != nil {
			t.Fatal(err)
		}
		if o.Size != int64(len(got)) || o.Version == "" || o.Modified.IsZero() {
			t.Errorf("%+v", o)
		}
		found, err := s.stat(t.Context(), o.URL)
		if len(got) == 3 && (err != nil || found.Version != o.Version) {
			t.Errorf("list and stat differ: %+v, %+v, %v", o, found, err)
		}
		got = append(got, o.URL)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}

	n := 0
	for range objectsOf(t.Context(), s, "s3://train-data/pages") {
		if n++; n == 10 {
			break
		}
	}
	for o, err := range objectsOf(t.Context(), s, "s3://train-data/nothing-") {
		t.Errorf("%v %v", o, err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var last error
	for _, err := range objectsOf(ctx, s, "s3://train-data/pages/") {
		cancel()
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("a list that was cut short ends with %v", last)
	}
}

func TestS3Sums(t *testing.T) {
	s := gatewayStore(t, nil, Options{})
	const whole = "what is summed"
	for _, kind := range []string{"crc32", "crc32c", "crc64nvme", "sha1", "sha256"} {
		t.Run(kind, func(t *testing.T) {
			put(t, gateway.admin, "sums/"+kind, whole, withSum(kind, whole))
			o, err := s.stat(t.Context(), "s3://train-data/sums/"+kind)
			if err != nil {
				t.Fatal(err)
			}
			if want := (Sum{kind, hex.EncodeToString(sumOf(kind, whole))}); o.Sum != want {
				t.Errorf("%v, want %v", o.Sum, want)
			}
		})
	}
	for name, h := range map[string]http.Header{
		"of parts":      {"X-Amz-Checksum-Type": {"COMPOSITE"}, "X-Amz-Checksum-Crc32c": {"mnG7TA==-2"}},
		"without type":  {"X-Amz-Checksum-Crc32c": {"mnG7TA=="}},
		"too short":     {"X-Amz-Checksum-Type": {"FULL_OBJECT"}, "X-Amz-Checksum-Crc32c": {"mnG7"}},
		"not in base64": {"X-Amz-Checksum-Type": {"FULL_OBJECT"}, "X-Amz-Checksum-Crc32c": {"?"}},
	} {
		if sum := s3Sum(h); sum != (Sum{}) {
			t.Errorf("%s: %v", name, sum)
		}
	}
}
