package browse

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/dataset/lookup"
	"github.com/ffconvert/ffconvert/internal/test/memsource"
	"github.com/ffconvert/ffconvert/internal/test/shardtest"
)

// A page has the begin of a very long key, and finds samples by all of it.
func TestLongKeys(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("k", 100_000)
	part := []converters.Sample{{Key: "short"}, {Key: long + "a"}, {Key: long + "b"}}
	for i := range part {
		part[i].Fields = []converters.Field{{Name: "bin", Value: converters.Bytes([]byte{byte(i)})}}
	}
	dir := filepath.Join(t.TempDir(), "out")
	if _, err := shardtest.Convert(t.Context(), &memsource.Source{Data: [][]converters.Sample{part}}, dir, shardtest.ConvertOptions{}); err != nil {
		t.Fatal(err)
	}
	d, err := lookup.Open(dir, lookup.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := newSearcher(d, nil)
	all, err := s.page(t.Context(), Query{}, 0, 10, 0)
	if err != nil || len(all.Rows) != 3 || all.Rows[0].Key != "short" || all.Rows[2].Key != long[:longestKey] {
		t.Fatalf("%d rows: %v", len(all.Rows), err)
	}
	one, err := s.page(t.Context(), Query{Where: "key=" + long + "b"}, 0, 10, 0)
	if err != nil || len(one.Rows) != 1 || one.Rows[0].Number != 2 {
		t.Errorf("by the whole key: %d rows: %v", len(one.Rows), err)
	}
}
