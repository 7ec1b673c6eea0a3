package store

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/internal/files"
	"github.com/ffconvert/ffconvert/internal/test/aisfake"
)

func TestAISPin(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name  string
		h     http.Header
		whole bool
		want  files.Pin
	}{
		{"nothing", http.Header{}, true, ""},
		{"its own", http.Header{"Ais-Version": {"3"}, "Ais-Checksum-Type": {"xxhash"}, "Ais-Checksum-Value": {"AD2F6A1B0C4D5E6F"}}, true, "sum64=ad2f6a1b0c4d5e6f version=3"},
		{"a checksum of a range", http.Header{"Ais-Version": {"3"}, "Ais-Checksum-Value": {"ad2f6a1b0c4d5e6f"}}, false, "version=3"},
		{"no checksum", http.Header{"Ais-Checksum-Type": {"none"}, "Ais-Checksum-Value": {""}}, true, ""},
		{"headers of the cloud's object", http.Header{"Etag": {`"e-2"`}, "Last-Modified": {"Tue, 01 Jul 2025 10:00:00 GMT"}}, true, "etag=e-2 modified=2025-07-01T10:00:00Z"},
		{"custom, a header each", http.Header{"Ais-Custom-Md": {"source=aws", "ETag=e-2", "LastModified=2025-07-01T10:00:00Z", "md5=0a", "version=v.1"}}, true, "etag=e-2 md5=0a modified=2025-07-01T10:00:00Z version=v.1"},
		{"custom, all in one", http.Header{"Ais-Custom-Md": {`source=aws,ETag="e-2", Last-Modified=Tue, 01 Jul 2025 10:00:00 GMT,crc32c=AbCd==,owner=x`}}, true, "crc32c=AbCd== etag=e-2 modified=2025-07-01T10:00:00Z"},
		{"the header counts before the custom one", http.Header{"Etag": {`"a"`}, "Ais-Custom-Md": {"ETag=b"}}, true, "etag=a"},
		{"a weak ETag", http.Header{"Etag": {`W/"a"`}}, true, ""},
		{"no time", http.Header{"Ais-Custom-Md": {"LastModified=yesterday"}}, true, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if got := aisPin(row.h, row.whole); got != row.want {
				t.Errorf("%q, want %q", got, row.want)
			}
		})
	}
	for _, row := range []struct {
		provider, version, sum, custom string
		want                           files.Pin
	}{
		{"ais", "", "", "", ""},
		{"ais", "1", "AD2F6A1B0C4D5E6F", "[]", "sum64=ad2f6a1b0c4d5e6f version=1"},
		{"aws", "", "0a0a", "[ETag:0a0a LastModified:2025-07-01T10:00:00Z]", "etag=0a0a modified=2025-07-01T10:00:00Z"},
		{"aws", "", "", "map[ETag:e Last-Modified:Tue, 01 Jul 2025 10:00:00 GMT md5:x]", "etag=e md5=x modified=2025-07-01T10:00:00Z"},
		{"ais", "", "e-2", "", ""},
	} {
		if got := aisListPin(row.provider, row.version, row.sum, row.custom); got != row.want {
			t.Errorf("%+v: %q", row, got)
		}
	}
}

// What a list says of an object, HEAD before it was read, and HEAD after that, is of one state; of
// other bytes none of them is.
func TestAISPinned(t *testing.T) {
	t.Parallel()
	server := aisfake.Start(t)
	s := aisOf(t, map[string]string{"AIS_ENDPOINT": server.URL})
	for name, b := range map[string]aisfake.Bucket{
		"versions": {Versions: true, Checksum: true},
		"sums":     {Checksum: true},
		"cloud":    {Provider: "aws", Checksum: true, ETag: true, Modified: true},
		"times":    {Provider: "gcp", Modified: true},
	} {
		t.Run(name, func(t *testing.T) {
			server.Bucket(name, b)
			query := ""
			if b.Provider != "" {
				query = "?provider=" + b.Provider
			}
			states := func() []Object {
				var all []Object
				for o, err := range objectsOf(t.Context(), s, "ais://"+name+"/"+query) {
					if err != nil {
						t.Fatal(err)
					}
					all = append(all, o)
				}
				for range 2 {
					o, err := s.stat(t.Context(), "ais://"+name+"/a"+query)
					if err != nil {
						t.Fatal(err)
					}
					all = append(all, o)
					r, err := s.open(t.Context(), o, 0, -1)
					textOf(t, r, err)
					r, err = s.open(t.Context(), o, 1, 2)
					textOf(t, r, err)
				}
				return all
			}
			server.Put(name, "a", []byte("before"))
			before := states()
			server.Delete(name, "a")
			server.Pass(time.Second)
			server.Put(name, "a", []byte("after!"))
			after := states()
			if len(before) != 3 || len(after) != 3 {
				t.Fatalf("%d, %d objects", len(before), len(after))
			}
			for _, was := range before {
				for _, same := range before {
					if how, other := was.Pin().Differs(same.Pin()); other {
						t.Errorf("%q, %q: %s", was.Version, same.Version, how)
					}
				}
				for _, now := range after {
					if _, other := was.Pin().Differs(now.Pin()); !other {
						t.Errorf("%q is taken for %q", now.Version, was.Version)
					}
				}
				if r, err := s.open(t.Context(), was, 0, -1); !errors.Is(err, ErrChanged) {
					t.Errorf("%q: %+v %v", was.Version, r, err)
				}
			}
		})
	}
}
