package export_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/test/arrowjs"
)

func mapOf(pairs ...any) converters.Map {
	m := converters.Map{}
	for i := 0; i < len(pairs); i += 2 {
		m = append(m, converters.Pair{Key: pairs[i], Value: pairs[i+1]})
	}
	return m
}

func listOf(all ...any) []any { return append([]any{}, all...) }

// nestedValues are lists and maps of sample i, and whether the sample has the field.
var nestedValues = []struct {
	name string
	of   func(i int) (any, bool)
}{
	{"ints", func(i int) (any, bool) {
		list := listOf()
		for k := range i % 5 {
			list = append(list, int64(i*k-7))
		}
		return append(list, nil), true
	}},
	{"empty", func(i int) (any, bool) { return listOf(), true }},
	{"nulls", func(i int) (any, bool) { return listOf(nil, nil), i%3 == 0 }},
	{"numbers", func(i int) (any, bool) { // integers alone in some batches
		if i < 10 {
			return listOf(0.5, float64(i)), true
		}
		return listOf(float64(i)), true
	}},
	{"boxes", func(i int) (any, bool) {
		switch i % 4 {
		case 0:
			return nil, true
		case 1:
			return listOf(), true
		}
		return listOf(mapOf("x", float64(i)/8, "name", fmt.Sprint("grüß", i), "ok", i%2 == 0), nil, mapOf("x", nil, "name", "", "ok", nil)), true
	}},
	{"meta", func(i int) (any, bool) {
		return mapOf("data", []byte{byte(i), 0, 255}, "big", uint64(1)<<63+uint64(i), "in", mapOf("lists", listOf(listOf(int64(i)), nil, listOf()))), i%7 > 0
	}},
	{"counts", func(i int) (any, bool) { // other keys each
		m := mapOf()
		for k := range i % 4 {
			m = append(m, converters.Pair{Key: fmt.Sprint("k", i+k), Value: int64(k)})
		}
		return m, i%5 > 0
	}},
	{"numbered", func(i int) (any, bool) { return mapOf(int64(i), listOf("a", nil)), true }},
	{"late", func(i int) (any, bool) { // empty lists in the batches behind the first
		if i < 1000 {
			return listOf("x"), i == 999
		}
		return listOf(), true
	}},
}

// Lists and maps are columns that apache-arrow reads: in batches, each with the type of the first.
func TestStreamArrowNested(t *testing.T) {
	t.Parallel()
	const n = 2500
	var samples []converters.Sample
	var want [][]string
	for i := range n {
		s := converters.Sample{Key: fmt.Sprint(i)}
		all := converters.Sample{Fields: []converters.Field{{Name: converters.KeyField, Value: converters.Text([]byte(s.Key))}}}
		for _, v := range nestedValues {
			x, has := v.of(i)
			if has {
				s.Fields = append(s.Fields, converters.Field{Name: v.name, Value: converters.Nested(x)})
			} else {
				x = nil
			}
			all.Fields = append(all.Fields, converters.Field{Name: v.name, Value: converters.Nested(x)})
		}
		if i >= 10 { // as an integer
			s.Fields[slices.IndexFunc(s.Fields, func(f converters.Field) bool { return f.Name == "numbers" })].Value = converters.Nested(listOf(int64(i)))
		}
		samples = append(samples, s)
		want = append(want, slices.Sorted(slices.Values(arrowjs.Row(&all)[1:])))
	}
	out, err := streamed(t, sharded(t, &values{samples}, 3), "arrow", "")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "stream")
	if err := os.WriteFile(path, append(binary.LittleEndian.AppendUint32(nil, uint32(len(out))), out...), 0o600); err != nil {
		t.Fatal(err)
	}
	a := arrowjs.Streams(t, path)
	if a.Error != "" || len(a.Rows) != n {
		t.Fatalf("apache-arrow reads %d of %d rows: %s", len(a.Rows), n, a.Error)
	}
	for i := range want {
		slices.Sort(a.Rows[i])
		if !slices.Equal(a.Rows[i], want[i]) {
			t.Fatalf("row %d: apache-arrow reads\n%.2000q, want\n%.2000q", i, a.Rows[i], want[i])
		}
	}
}

// A list or a map that is not like those before is refused, at its sample; so is, behind the first batch, one of another type.
func TestStreamArrowUnlike(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name        string
		first, last any
		want        string // behind the first batch
		soon        string // in it; "": it is taken
	}{
		{"text beside an integer", listOf(int64(1)), listOf("x"), "text", "no column for an integer beside text"},
		{"a map beside a list", listOf(), mapOf(), "no column for a list beside a map", "no column for a list beside a map"},
		{"floats behind integers", listOf(int64(1)), listOf(0.5), "have an integer where this one has a float", ""},
		{"a value behind nulls", listOf(nil), listOf("x"), "have null where this one has text", ""},
		{"other keys", mapOf("a", int64(1)), mapOf("b", int64(1)), "have maps with the same keys where this one has other keys", ""},
		{"an integer that a float would change", listOf(0.5), listOf(int64(1<<53 + 1)), "more than 53 bits", "more than 53 bits"},
		{"a number", listOf(), int64(1), "it is int64 here, and a list or a map in the samples before", "it is int64 here"},
		{"a list behind null", nil, listOf(), "the column is null in the first samples, and here it is a list or a map", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			for n, want := range map[int]string{1500: row.want, 700: row.soon} {
				var samples []converters.Sample
				for i := range n {
					samples = append(samples, converters.Sample{Key: fmt.Sprint(i), Fields: []converters.Field{{Name: "a", Value: converters.Nested(row.first)}}})
				}
				samples[n-50].Fields[0].Value = converters.ValueOf(row.last)
				_, err := streamed(t, sharded(t, &values{samples}, 1), "arrow", "")
				switch {
				case want == "" && err != nil:
					t.Errorf("%d samples: %v", n, err)
				case want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), fmt.Sprintf(`"%d"`, n-50))):
					t.Errorf("%d samples: error %v, want %q", n, err, want)
				}
			}
		})
	}
}
