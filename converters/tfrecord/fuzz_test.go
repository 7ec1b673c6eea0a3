package tfrecord

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/fuzz"
)

// FuzzTFRecord: no bytes make Index or Read panic or allocate more than they warrant, and the two agree, from any record
// on. The bytes are a file, and the data of a record with checksums that fit.
func FuzzTFRecord(f *testing.F) {
	for _, data := range mixed() {
		f.Add(data, true)
	}
	f.Add(framed(mixed()...), false)
	f.Fuzz(func(t *testing.T, data []byte, frame bool) {
		if frame {
			data = framed(data, example(entry("a", ints(1))), data)
		}
		for _, opts := range []Options{{}, {AllLists: true}, {Lists: []string{"a"}, Load: func(string) bool { return true }}, {Whole: true}} {
			var src converters.Source
			fuzz.WantAllocated(t, 2<<20+2000*len(data), func() {
				src = memory(t, opts, data)
				_, _, _ = indexed(t, src, 0)
			})
			agree(t, src)
		}
	})
}

// agree wants that Read has what Index has, from the first record on and from one in the middle.
func agree(t testing.TB, src converters.Source) {
	t.Helper()
	shapes, offs, err := indexed(t, src, 0)
	got, readErr := read(t, src, 0)
	if fmt.Sprint(err) != fmt.Sprint(readErr) || len(got) != len(shapes) {
		t.Fatalf("Index has %d samples, error %v; Read %d, error %v", len(shapes), err, len(got), readErr)
	}
	if err != nil || len(got) == 0 {
		return
	}
	middle := len(got) / 2
	var again []string
	for sample, err := range src.Read(t.Context(), converters.Run{First: int64(middle), Off: offs[middle], Count: int64(len(got) - middle)}) {
		if err != nil {
			t.Fatal(err)
		}
		again = append(again, words(sample))
	}
	if !slices.Equal(again, got[middle:]) {
		t.Fatalf("from record %d on: %q, want %q", middle, again, got[middle:])
	}
}
