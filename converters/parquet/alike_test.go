package parquet

import (
	"errors"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/convertertest"
	pq "github.com/ffconvert/ffconvert/internal/test/parquettest"
)

// Parts whose columns differ from those of the first are refused where integers would mean something else, else told.
func TestAlike(t *testing.T) {
	t.Parallel()
	const millis, micros = 9, 10 // converted types of times
	part := func(name string, kind, converted int) []byte {
		page := pq.Page{Values: 2, Body: int64s(1, 2)}
		if kind == pq.Bytes {
			page.Body = pq.Strings("a", "b")
		}
		return fileOf(2, root(pq.Element{Name: name, Type: kind, Converted: converted}), pq.Chunk{Type: kind, Values: 2, Pages: []pq.Page{page}})
	}
	number := part("n", pq.Int64, pq.None)
	for _, row := range []struct {
		name       string
		data       [][]byte
		opts       Options
		err, doubt string
	}{
		{"equal", [][]byte{number, number}, Options{}, "", ""},
		{"another type", [][]byte{number, number, part("n", pq.Bytes, pq.Text)}, Options{}, "", `part-2.parquet: its column "n" is str, that of the first part int64`},
		{"two parts", [][]byte{number, part("n", pq.Bytes, pq.Text), part("n", pq.Bytes, pq.None)}, Options{}, "", `part-1.parquet: its column "n" is str, that of the first part int64; 2 parts differ from it`},
		{"another column", [][]byte{number, part("m", pq.Int64, pq.None)}, Options{}, "", `part-1.parquet: it has no column "n", as the first part has`},
		{"another unit", [][]byte{part("t", pq.Int64, millis), part("t", pq.Int64, micros)}, Options{}, `its column "t" is datetime64[us], that of the first part datetime64[ms]`, ""},
		{"no unit", [][]byte{part("t", pq.Int64, millis), part("t", pq.Int64, pq.None)}, Options{}, `its column "t" is int64, that of the first part datetime64[ms]`, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			parts, open := convertertest.InMemory(".parquet", row.data...)
			s, err := openSource(t.Context(), parts, row.opts, open)
			if err != nil {
				t.Fatal(err)
			}
			doubts := func() (all string) {
				for _, d := range s.Doubts() {
					all += d.Part + ": " + d.Text
				}
				return all
			}
			got := ""
			for p := range parts {
				for _, err := range s.WithParts(p, parts[p:p+1]).Index(t.Context(), 0) {
					if e, ok := errors.AsType[*converters.Error](err); ok {
						got = errors.Unwrap(e).Error()
					}
				}
			}
			if want := row.err; want == "" && got != "" || want != "" && got != converters.ErrUnsupported.Error()+": "+want {
				t.Errorf("error %q, want %q", got, want)
			}
			if doubts() != row.doubt {
				t.Errorf("doubts %q, want %q", doubts(), row.doubt)
			}
		})
	}
}
