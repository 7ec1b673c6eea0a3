package arrowjs

import (
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
)

// Same wants the rows of Write from a file: all of them, from any row on, and with some columns alone. open opens the file, of
// which only the columns of fields are read, as Options.Fields of the sources has it.
func Same(t *testing.T, want [][]string, open func(fields [][]string) converters.Source) {
	t.Helper()
	s := open(nil)
	var offs []int64
	for span, err := range s.Index(t.Context(), 0) {
		if err != nil {
			t.Fatalf("row %d: %v", len(offs), err)
		}
		offs = append(offs, span.Off)
	}
	if len(offs) != len(want) {
		t.Fatalf("%d rows, want %d", len(offs), len(want))
	}
	compare := func(s converters.Source, first, count int, only string) {
		t.Helper()
		i := first
		for sample, err := range s.Read(t.Context(), converters.Run{First: int64(first), Off: offs[first], Count: int64(count)}) {
			if err != nil {
				t.Fatalf("row %d: %v", i, err)
			}
			same(t, i, Row(sample), want[i], only)
			i++
		}
		if i != first+count {
			t.Fatalf("%d rows from %d on, want %d", i-first, first, count)
		}
	}
	compare(s, 0, len(want), "")
	for first := 3; first < len(want); first += 977 {
		compare(s, first, min(37, len(want)-first), "")
		compare(s, first, 1, "")
	}
	for _, keep := range []string{"text", "points", "image", "image.path", "f64"} {
		only := keep
		if !slices.ContainsFunc(want[0], func(w string) bool { return strings.HasPrefix(w, keep+":") }) {
			only = "" // all are read where there is no such field
		}
		some := open([][]string{{keep}})
		compare(some, 0, len(want), only)
		compare(some, len(want)/2, min(100, len(want)-len(want)/2), only)
	}
}

// same compares a row; only is the one field that it has beside the key, "" if it has all.
func same(t *testing.T, i int, got, want []string, only string) {
	t.Helper()
	if only != "" {
		key := want[0]
		want = slices.DeleteFunc(slices.Clone(want[1:]), func(w string) bool { return !strings.HasPrefix(w, only+":") })
		want = slices.Insert(want, 0, key)
	}
	if slices.Equal(got, want) {
		return
	}
	for j := range min(len(got), len(want)) {
		if got[j] != want[j] {
			t.Errorf("%.300s, want %.300s", got[j], want[j])
		}
	}
	t.Fatalf("row %d has %d fields, want %d, or others", i, len(got)-1, len(want)-1)
}
