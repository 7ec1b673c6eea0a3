package store

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

// The check values of the catalogues, of "123456789", and for the others those of the tools.
var sums = []Sum{
	{"crc32", "cbf43926"}, {"crc32c", "e3069283"}, {"crc64nvme", "ae8b14860a799888"},
	{"md5", "25f9e794323b453885f5181f1b624d0b"}, {"sha1", "f7c3bc1d808e04732adf679965ccc34ca7ae3441"},
	{"sha256", "15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225"},
	{"xxhash", "8cb841db40e6ae83"}, {"xxhash2", "8cb841db40e6ae83"},
}

// Every kind of sum is checked over the whole object, and what is no sum is passed over.
func TestSums(t *testing.T) {
	t.Parallel()
	const data = "123456789"
	fetch := func(sum Sum) error {
		c := with(t, &fakeStore{getting: fakeRanges(data)}, Options{RangeSize: 2, Connections: 2})
		return c.Fetch(t.Context(), Object{URL: "http://x/y", Size: int64(len(data)), Version: "1", Sum: sum}, new(memFile), nil)
	}
	for _, sum := range sums {
		if err := fetch(sum); err != nil {
			t.Errorf("%v", err)
		}
		wrong := Sum{sum.Kind, "0" + sum.Value[1:]}
		if sum.Value[0] == '0' {
			wrong.Value = "1" + sum.Value[1:]
		}
		if err := fetch(wrong); !errors.Is(presentable(t, err), ErrSum) {
			t.Errorf("a wrong %s: %v", sum.Kind, err)
		}
	}
	for _, sum := range []Sum{{}, {"crc16", "0000"}, {"md5", "00"}, {"sha256", "not hexadecimal"}, {"crc32c", ""}} {
		if err := fetch(sum); err != nil {
			t.Errorf("%v: %v", sum, err)
		}
	}
}

// A sum that only a reply tells is checked as well.
func TestSumOfReply(t *testing.T) {
	t.Parallel()
	c := with(t, &fakeStore{getting: func(ctx context.Context, off, n int64) (*reply, error) {
		rep, err := fakeRanges("123456789")(ctx, off, n)
		rep.Sum = Sum{"crc32", "00000000"}
		return rep, err
	}}, Options{RangeSize: 2})
	if err := c.Fetch(t.Context(), Object{URL: "http://x/y", Size: 9, Version: "1"}, new(memFile), nil); !errors.Is(err, ErrSum) {
		t.Error(err)
	}
}

// fakeRanges serves the bytes of data.
func fakeRanges(data string) func(_ context.Context, off, n int64) (*reply, error) {
	return func(_ context.Context, off, n int64) (*reply, error) {
		if n < 0 {
			n = int64(len(data)) - off
		}
		return &reply{Body: io.NopCloser(strings.NewReader(data[off : off+n])), Off: off, N: n, Size: int64(len(data)), Version: "1"}, nil
	}
}

// What headers say of the whole object, and what they say of something else.
func TestHeaderSum(t *testing.T) {
	t.Parallel()
	b64 := make(map[string]string)
	for _, sum := range sums {
		b, err := hex.DecodeString(sum.Value)
		must(t, err)
		b64[sum.Kind] = base64.StdEncoding.EncodeToString(b)
	}
	for _, row := range []struct {
		name   string
		header http.Header
		part   bool
		want   string // kind
	}{
		{"RFC 9530", http.Header{"Repr-Digest": {"sha-256=:" + b64["sha256"] + ":"}}, false, "sha256"},
		{"RFC 9530, of a part", http.Header{"Repr-Digest": {"sha-256=:" + b64["sha256"] + ":"}}, true, "sha256"},
		{"RFC 9530, the part's own", http.Header{"Content-Digest": {"sha-256=:" + b64["sha256"] + ":"}}, true, ""},
		{"RFC 9530, a body's own", http.Header{"Content-Digest": {"sha-256=:" + b64["sha256"] + ":"}}, false, "sha256"},
		{"RFC 3230", http.Header{"Digest": {"SHA-256=" + b64["sha256"] + ",adler32=03da0195"}}, false, "sha256"},
		{"RFC 3230, old", http.Header{"Digest": {"MD5=" + b64["md5"], "SHA=" + b64["sha1"]}}, false, "md5"},
		{"Content-MD5", http.Header{"Content-Md5": {b64["md5"]}}, false, "md5"},
		{"Content-MD5 of a part", http.Header{"Content-Md5": {b64["md5"]}}, true, ""},
		{"Google", http.Header{"X-Goog-Hash": {"crc32c=" + b64["crc32c"], "md5=" + b64["md5"]}}, true, "crc32c"},
		{"Google, one line", http.Header{"X-Goog-Hash": {"crc32c=" + b64["crc32c"] + ",md5=" + b64["md5"]}}, true, "crc32c"},
		{"Google, decompressed", http.Header{"X-Goog-Hash": {"crc32c=" + b64["crc32c"]}, "X-Goog-Stored-Content-Encoding": {"gzip"}}, false, ""},
		{"Google, as stored", http.Header{"X-Goog-Hash": {"crc32c=" + b64["crc32c"]}, "X-Goog-Stored-Content-Encoding": {"gzip"}, "Content-Encoding": {"gzip"}}, false, "crc32c"},
		{"Amazon", http.Header{"X-Amz-Checksum-Crc64nvme": {b64["crc64nvme"]}, "X-Amz-Checksum-Type": {"FULL_OBJECT"}}, false, "crc64nvme"},
		{"Amazon, of parts", http.Header{"X-Amz-Checksum-Crc32c": {b64["crc32c"]}, "X-Amz-Checksum-Type": {"COMPOSITE"}}, false, ""},
		{"Amazon, of parts, old", http.Header{"X-Amz-Checksum-Crc32c": {b64["crc32c"] + "-3"}}, false, ""},
		{"Amazon, a range", http.Header{"X-Amz-Checksum-Crc32c": {b64["crc32c"]}}, true, ""},
		{"damaged", http.Header{"Content-Md5": {"!"}, "Digest": {"sha-256=,=,,md5"}}, false, ""},
		{"too short", http.Header{"Digest": {"sha-256=" + b64["md5"]}}, false, ""},
	} {
		got := headerSum(row.header, row.part)
		want := Sum{}
		for _, sum := range sums {
			if sum.Kind == row.want {
				want = sum
			}
		}
		if got != want {
			t.Errorf("%s: %v, want %v", row.name, got, want)
		}
	}
}
