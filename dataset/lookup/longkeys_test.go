package lookup

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/test/memsource"
	"github.com/ffconvert/ffconvert/internal/test/shardtest"
)

// Rows with long keys are read a few at a time, and are the same.
func TestLongKeys(t *testing.T) {
	t.Parallel()
	part := make([]converters.Sample, 30)
	for i := range part {
		long := []int{3, 300_000, 1_000_000, 2_000_000}[i%4]
		part[i] = converters.Sample{Key: key(10*i) + strings.Repeat("k", long), Fields: []converters.Field{{Name: "cls", Value: converters.Bytes(fmt.Append(nil, i))}}}
	}
	dir := filepath.Join(t.TempDir(), "out")
	if _, err := shardtest.Convert(t.Context(), &memsource.Source{Data: [][]converters.Sample{part}}, dir, shardtest.ConvertOptions{}); err != nil {
		t.Fatal(err)
	}
	d := opened(t, dir)
	for _, from := range []int64{0, 7, 29} {
		n := from
		for r, err := range d.WalkFrom(t.Context(), from) {
			if err != nil {
				t.Fatal(err)
			}
			if r.Number != n || r.Key != part[n].Key || !r.Labeled || r.Label != n {
				t.Fatalf("sample %d from %d on: number %d, a key of %d bytes, label %d", n, from, r.Number, len(r.Key), r.Label)
			}
			n++
		}
		if n != 30 {
			t.Errorf("%d samples from %d on", n-from, from)
		}
	}
	for n := range part {
		r, err := d.Row(int64(n), true)
		if err != nil || r.Key != part[n].Key {
			t.Errorf("sample %d: %v", n, err)
		}
		found := false
		for r, err := range d.Find(t.Context(), part[n].Key, true) {
			if err != nil {
				t.Fatal(err)
			}
			found = r.Number == int64(n)
		}
		if !found {
			t.Errorf("sample %d is not found by its key", n)
		}
	}
}
