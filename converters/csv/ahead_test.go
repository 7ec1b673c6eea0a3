package csv

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"

	"github.com/ffconvert/ffconvert/converters"
)

// A mixedRow is where a row of two numbers begins, and what they are.
type mixedRow struct {
	off  int64
	want string // the bits of its numbers
}

// mixed makes rows of two numbers, most of them plain: the others, and the lines without
// bytes, are where reading ahead has to stop, and go on.
func mixed(rnd *rand.Rand, rows, odd int, k kind) (data []byte, list []mixedRow) {
	p := allPowers()
	for range rows {
		var values []string
		want := ""
		for range 2 {
			s := strconv.FormatInt(int64(rnd.Uint64())>>rnd.IntN(64), 10)
			if k != int64s && rnd.IntN(4) > 0 {
				s = strconv.FormatFloat(rnd.NormFloat64(), 'g', -1, 64)
			}
			bits, ok := p.number([]byte(s), k)
			if !ok {
				panic(s)
			}
			want += fmt.Sprintf("%x ", bits)
			if odd > 0 && rnd.IntN(odd) == 0 {
				s = []string{" " + s, `"` + s + `"`, s + "\t"}[rnd.IntN(3)]
			}
			values = append(values, s)
		}
		if odd > 0 && rnd.IntN(odd) == 0 {
			data = append(data, '\n')
		}
		list = append(list, mixedRow{int64(len(data)), want})
		data = append(data, strings.Join(values, ",")...)
		data = append(data, "\r\n"[rnd.IntN(2):]...)
	}
	return data, list
}

// values has the values of a sample of one row as mixedRow has them, in words.
func values(s *converters.Sample, k kind) string {
	words := ""
	for _, f := range s.Fields {
		switch v := f.Value; v.Kind() {
		case converters.KindBytes:
			for b := range slices.Chunk(v.Data(), k.width()) {
				bits := uint64(0)
				for i, c := range b {
					bits |= uint64(c) << (8 * i)
				}
				words += fmt.Sprintf("%x ", bits)
			}
		case converters.KindInt:
			words += fmt.Sprintf("%x ", uint64(v.Int()))
		default:
			bits := math.Float64bits(v.Float())
			if k == float32s {
				bits = uint64(math.Float32bits(float32(v.Float())))
			}
			words += fmt.Sprintf("%x ", bits)
		}
	}
	return words
}

// wantReadRows compares the rows that ReadRows yields of the first len(want) samples.
func wantReadRows(t *testing.T, src *source, k kind, want []mixedRow) {
	t.Helper()
	all, ok := src.ReadRows(t.Context(), converters.Run{Count: int64(len(want))})
	if !ok {
		t.Fatal("it has no rows")
	}
	row := 0
	for rows, err := range all {
		if err != nil || row+rows.Count > len(want) || rows.Off != want[row].off {
			t.Fatalf("row %d: %d rows at %d, error %v", row+1, rows.Count, rows.Off, err)
		}
		size := len(rows.Data) / rows.Count
		for i := range rows.Count {
			s := converters.Sample{Fields: []converters.Field{{Name: "row", Value: converters.Bytes(rows.Data[i*size : (i+1)*size])}}}
			if got := values(&s, k); got != want[row].want {
				t.Fatalf("row %d: %s, want %+v", row+1, got, want[row])
			}
			row++
		}
	}
	if row != len(want) {
		t.Errorf("%d rows, want %d", row, len(want))
	}
}

// Rows that are read ahead are those that are read one by one, and are where they are.
func TestAhead(t *testing.T) {
	t.Parallel()
	need.Time(t, "each size of a chunk")
	rnd := rand.New(rand.NewPCG(31, 32))
	const rows = 3000
	for _, k := range []kind{int64s, float32s, float64s} {
		for _, odd := range []int{0, 2, 40, 500} {
			data, want := mixed(rnd, rows, odd, k)
			for _, form := range []Form{Packed, Fields} {
				t.Run(fmt.Sprintf("%v/odd=%d/form=%d", k, odd, form), func(t *testing.T) {
					src := inMemory(t, Options{DType: k.String(), Form: form}, data)
					row := 0
					for s, err := range src.Read(t.Context(), converters.Run{Count: rows}) {
						if err != nil || s.Off != want[row].off || values(s, k) != want[row].want {
							t.Fatalf("row %d: %d, %s, error %v; want %+v", row+1, s.Off, values(s, k), err, want[row])
						}
						row++
					}
					if row != rows {
						t.Errorf("%d rows are read, want %d", row, rows)
					}
					for _, i := range []int{0, 1, 255, 256, 257, rows - 1, rnd.IntN(rows)} {
						one := converters.Run{First: int64(i), Off: want[i].off, Count: 1}
						for s, err := range src.Read(t.Context(), one) {
							if err != nil || s.Off != want[i].off || values(s, k) != want[i].want {
								t.Fatalf("row %d alone: error %v, want %+v", i+1, err, want[i])
							}
						}
					}
					wantSpans(t, src, want)
					if form == Packed {
						wantReadRows(t, src, k, want)
						wantReadRows(t, src, k, want[:1])
						wantReadRows(t, src, k, want[:rnd.IntN(rows)+1])
					}
				})
			}
			samples := inMemory(t, Options{DType: k.String(), RowsPerSample: 700}, data)
			at := 0
			for s, err := range samples.Read(t.Context(), converters.Run{Count: (rows + 699) / 700}) {
				to, all := min(at+700, rows), ""
				for _, r := range want[at:to] {
					all += r.want
				}
				if err != nil || s.Off != want[at].off || values(s, k) != all {
					t.Fatalf("%v: the sample from row %d on is another one, error %v", k, at+1, err)
				}
				at = to
			}
		}
	}
}

// wantSpans wants an index of the rows, all of one shape, and one that ends where it is
// left.
func wantSpans(t *testing.T, src *source, want []mixedRow) {
	t.Helper()
	for _, most := range []int{1, 2, 5, 257, 1000, len(want) + 1} {
		row := 0
		for span, err := range src.Index(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			if span.Shape == nil {
				continue
			}
			if span.Off != want[row].off || span.Shape.Off != span.Off || span.Entries != 1 || len(span.Shape.Fields) == 0 || span.Alike && row == 0 {
				t.Fatalf("row %d: %+v, want %+v", row+1, span, want[row])
			}
			if row++; row == most {
				break
			}
		}
		if row != min(most, len(want)) {
			t.Fatalf("%d rows are indexed, want %d", row, min(most, len(want)))
		}
	}
}

// A row that is refused is refused behind all rows before it, at its place.
func TestRefusedAhead(t *testing.T) {
	t.Parallel()
	for _, at := range []int{1, 2, 3, 7, 255, 256, 257, 258, 511, 512, 513, 2000} {
		for _, odd := range []string{"0.12345678,x\n", "0.123456789012345678901234\n", "1,2,3\n", "0.1234567,\"\"\n", "0.12345678e,1\n", "1.12345678.1,1\n", "1,2 3\n"} {
			first := "0.5,0.25\n" // decides on the columns
			data := []byte(first + strings.Repeat("0.123456789,-0.98765432109876543\n", at-1))
			off := int64(len(data))
			data = append(data, odd+"1,2\n"...)
			src, err := openMemory(Options{DType: "float64"}, []byte(first), data)
			if err != nil {
				t.Fatal(err)
			}
			place := fmt.Sprintf("row %d", at+1)
			for name, walk := range map[string]func() (int, error){
				"Index": func() (n int, last error) {
					for _, err := range src.Index(t.Context(), 1) {
						n, last = n+1, err
					}
					return n, last
				},
				"Read": func() (n int, last error) {
					for _, err := range src.Read(t.Context(), converters.Run{Part: 1, Count: int64(at + 2)}) {
						n, last = n+1, err
					}
					return n, last
				},
			} {
				n, err := walk()
				var placed *converters.Error
				if !errors.As(err, &placed) || n != at+1 || !strings.HasPrefix(placed.Entry, place) || placed.Off < off || placed.Off > off+int64(len(odd)) {
					t.Errorf("%s, %q in row %d: %d pairs, error %v", name, odd, at+1, n, err)
				}
			}
		}
	}
}

// Who cancels gets a few more rows at most.
func TestCancelledAhead(t *testing.T) {
	t.Parallel()
	const rows = 20_000
	src := inMemory(t, Options{}, pairs(rows))
	for _, at := range []int{1, 2, 100, 5000} {
		for name, walk := range map[string]func(ctx context.Context, each func(error) bool){
			"Index": func(ctx context.Context, each func(error) bool) {
				src.Index(ctx, 0)(func(_ *converters.Span, err error) bool { return each(err) })
			},
			"Read": func(ctx context.Context, each func(error) bool) {
				src.Read(ctx, converters.Run{Count: rows})(func(_ *converters.Sample, err error) bool { return each(err) })
			},
		} {
			ctx, cancel := context.WithCancel(t.Context())
			n := 0
			var last error
			walk(ctx, func(err error) bool {
				if n++; n == at {
					cancel()
				}
				last = err
				return true
			})
			cancel()
			if !errors.Is(last, context.Canceled) || n > at+16 {
				t.Errorf("%s, cancelled at row %d: %d pairs, error %v", name, at, n, last)
			}
		}
	}
}
