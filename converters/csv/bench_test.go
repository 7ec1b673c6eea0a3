package csv

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	arrowcsv "github.com/apache/arrow/go/v15/arrow/csv"

	"github.com/ffconvert/ffconvert/converters"
)

// pairs makes rows of two floats in [0, 1), each as Python's repr has it.
func pairs(rows int) []byte {
	rnd := rand.New(rand.NewPCG(7, 11))
	var b []byte
	for range rows {
		b = strconv.AppendFloat(b, rnd.Float64(), 'g', -1, 64)
		b = append(b, ',')
		b = strconv.AppendFloat(b, rnd.Float64(), 'g', -1, 64)
		b = append(b, '\n')
	}
	return b
}

const benchRows = 200_000

// benchEach runs walk over the data once an iteration, and reports its time a row.
func benchEach(b *testing.B, data []byte, walk func() error) {
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if err := walk(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows, "ns/row")
}

var benchForms = []struct {
	name string
	opts Options
}{
	{"float64", Options{}},
	{"float32", Options{DType: "float32"}},
	{"rows=256", Options{RowsPerSample: 256}},
	{"fields", Options{Form: Fields}},
	{"table=256", Options{RowsPerSample: 256, Form: Table}},
	{"typed", Options{DType: "c0=float64"}},
}

func BenchmarkIndex(b *testing.B) {
	data := pairs(benchRows)
	for _, c := range benchForms {
		b.Run(c.name, func(b *testing.B) {
			src := inMemory(b, c.opts, data)
			benchEach(b, data, func() error {
				for _, err := range src.Index(b.Context(), 0) {
					if err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
}

func BenchmarkRead(b *testing.B) {
	data := pairs(benchRows)
	for _, c := range benchForms {
		b.Run(c.name, func(b *testing.B) {
			src := inMemory(b, c.opts, data)
			per := max(c.opts.RowsPerSample, 1)
			benchEach(b, data, func() error {
				for _, err := range src.Read(b.Context(), converters.Run{Count: (benchRows + per - 1) / per}) {
					if err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
}

// BenchmarkReadOne is what a shuffled plan does: runs of one row.
func BenchmarkReadOne(b *testing.B) {
	data := pairs(benchRows)
	src := inMemory(b, Options{}, data)
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range src.Read(b.Context(), converters.Run{Count: 1}) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkArrow is Arrow's own CSV reader on the same rows, with the chunk that suits it
// best of those tried.
func BenchmarkArrow(b *testing.B) {
	data := pairs(benchRows)
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "c0", Type: arrow.PrimitiveTypes.Float64}, {Name: "c1", Type: arrow.PrimitiveTypes.Float64},
	}, nil)
	for _, chunk := range []int{256, 4096, 65536} {
		b.Run("chunk="+strconv.Itoa(chunk), func(b *testing.B) {
			benchEach(b, data, func() error {
				r := arrowcsv.NewReader(bytes.NewReader(data), schema, arrowcsv.WithChunk(chunk))
				defer r.Release()
				sum := 0.0
				for r.Next() {
					for i := range 2 {
						for _, v := range r.Record().Column(i).(*array.Float64).Float64Values() {
							sum += v
						}
					}
				}
				return r.Err()
			})
		})
	}
}

// BenchmarkDecimals goes over the numbers of a part: all as those of the usual shape, where
// they have it, and all as those of any.
func BenchmarkDecimals(b *testing.B) {
	data := pairs(benchRows)
	padded := append(slices.Clone(data), make([]byte, pad)...)
	p := allPowers()
	parse := func(decimal func([]byte, int) (uint64, int)) func(int) int {
		return func(i int) int {
			if _, end := decimal(padded, i); end > 0 {
				return end
			}
			return skipAny(padded, i)
		}
	}
	for _, c := range []struct {
		name string
		end  func(i int) int
	}{
		{"usual", parse(p.decimal)}, {"any", parse(p.decimalAny)},
		{"check/usual", func(i int) int { return skipDecimal(padded, i) }}, {"check/any", func(i int) int { return skipAny(padded, i) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			benchEach(b, data, func() error {
				for i := 0; i < len(data); {
					i = c.end(i) + 1
				}
				return nil
			})
		})
	}
}

// BenchmarkNumber compares our conversion with strconv's, on one number of each kind.
func BenchmarkNumber(b *testing.B) {
	p := allPowers()
	for name, s := range map[string]string{
		"repr": "0.8444218515250481", "short": "12.5", "integer": "1234567", "exponent": "-1.7976931348623157e+308",
		"long": "3.14159265358979323846264338327950288",
	} {
		padded := append([]byte(s), make([]byte, pad)...)
		b.Run(name+"/ours", func(b *testing.B) {
			for b.Loop() {
				if _, end := p.decimal(padded, 0); end != len(s) {
					if _, ok := p.number(padded[:len(s)], float64s); !ok {
						b.Fatal(s)
					}
				}
			}
		})
		b.Run(name+"/check", func(b *testing.B) {
			for b.Loop() {
				if skipDecimal(padded, 0) != len(s) { // it may be too large for a float32
					if _, ok := p.number(padded[:len(s)], float64s); !ok {
						b.Fatal(s)
					}
				}
			}
		})
		b.Run(name+"/strconv", func(b *testing.B) {
			for b.Loop() {
				if _, err := strconv.ParseFloat(string(padded[:len(s)]), 64); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
