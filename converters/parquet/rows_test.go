package parquet

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/klauspost/compress/s2"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/convertertest"
	"github.com/ffconvert/ffconvert/internal/test/arrowjs"
	pq "github.com/ffconvert/ffconvert/internal/test/parquettest"
)

// A numberColumn is a column of numbers of a type, whose pages have at most some values each.
type numberColumn struct {
	kind, repetition, page int
	codec                  int
	dictionary, whole      bool
}

// numbersOf is a file of rows of random numbers in row groups of 700, and the packed rows.
func numbersOf(rows int, columns ...numberColumn) (data []byte, packed [][]byte) {
	rnd := rand.New(rand.NewPCG(3, uint64(rows)))
	var schema []pq.Element
	var b strings.Builder
	w := pq.NewWriter(&b)
	packed = make([][]byte, rows)
	for i, c := range columns {
		schema = append(schema, pq.Element{Name: fmt.Sprint("c", i), Type: c.kind, Repetition: c.repetition, Converted: pq.None})
	}
	for from := 0; from < rows; from += 700 {
		n := min(700, rows-from)
		var chunks []pq.Chunk
		for _, c := range columns {
			chunks = append(chunks, c.chunk(rnd, packed[from:from+n]))
		}
		w.Group(n, chunks...)
	}
	if err := w.Close(root(schema...), nil); err != nil {
		panic(err)
	}
	return []byte(b.String()), packed
}

// chunk appends a number to each row.
func (c numberColumn) chunk(rnd *rand.Rand, rows [][]byte) pq.Chunk {
	chunk := pq.Chunk{Type: c.kind, Codec: c.codec, Values: len(rows), Whole: c.whole}
	add := func(p pq.Page) {
		if p.Expanded = len(p.Body); c.codec == pq.Snappy {
			p.Body = s2.EncodeSnappy(nil, p.Body)
		}
		chunk.Pages = append(chunk.Pages, p)
	}
	number := func() []byte {
		if x := rnd.NormFloat64(); c.kind == pq.Float {
			return binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(x)))
		}
		return binary.LittleEndian.AppendUint64(nil, rnd.Uint64())
	}
	words := [][]byte{number(), number(), number()}
	if c.dictionary {
		add(pq.Page{Kind: pq.Dictionary, Values: len(words), Body: slices.Concat(words...)})
	}
	for some := range slices.Chunk(rows, c.page) {
		p := pq.Page{Values: len(some)}
		if c.repetition == pq.Optional {
			p.Body = pq.Levels(1, len(some))
		}
		if c.dictionary {
			p.Encoding, p.Body = pq.RLEDictionary, append(p.Body, 2)
		}
		for i := range some {
			v := number()
			if c.dictionary {
				at := rnd.IntN(len(words))
				v, p.Body = words[at], append(p.Body, 1<<1, byte(at))
			} else {
				p.Body = append(p.Body, v...)
			}
			some[i] = append(some[i], v...)
		}
		add(p)
	}
	return chunk
}

// Rows of numbers of one type are packed: the bytes of all numbers, in runs from any row to any other, one after another
// or not, by Read and by ReadRows.
func TestPacked(t *testing.T) {
	t.Parallel()
	for name, columns := range map[string][]numberColumn{
		"float64": {{kind: pq.Double, page: 700}, {kind: pq.Double, page: 301, codec: pq.Snappy}, {kind: pq.Double, page: 44, dictionary: true}},
		"float32": {{kind: pq.Float, page: 256, repetition: pq.Optional, whole: true}, {kind: pq.Float, page: 257}},
		"int64":   {{kind: pq.Int64, page: 99, repetition: pq.Optional, whole: true, dictionary: true, codec: pq.Snappy}},
	} {
		const rows = 2000
		data, want := numbersOf(rows, columns...)
		parts, open := convertertest.InMemory(".parquet", data, data)
		s, err := openSource(t.Context(), parts, Options{Pack: true}, open)
		if err != nil {
			t.Fatal(err)
		}
		if d := s.Describe(); d.Encoding != "raw" || !slices.Equal(d.Shape, []int64{int64(len(columns))}) || d.Columns[0].DType != name || len(d.Columns) != len(columns) {
			t.Errorf("%s: described as %+v", name, d)
		}
		var offs []int64
		for span, err := range s.Index(t.Context(), 1) {
			if err != nil || span.Shape.Fields[0].Value.Len() != int64(len(want[0])) || span.Alike != (len(offs) > 0) {
				t.Fatal(name, len(offs), err, span)
			}
			offs = append(offs, span.Off)
		}
		rnd := rand.New(rand.NewPCG(1, 2))
		for from := 0; from < rows; {
			if rnd.IntN(4) == 0 {
				from = rnd.IntN(rows)
			}
			n := 1 + rnd.IntN(min(rows-from, 400))
			run := converters.Run{Part: rnd.IntN(8) / 7, First: int64(from), Off: offs[from], Count: int64(n)}
			var got, offsets []byte
			for sample, err := range s.Read(t.Context(), run) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, sample.Fields[0].Value.Data()...)
				offsets = binary.AppendVarint(offsets, sample.Off)
			}
			all, ok := s.ReadRows(t.Context(), run)
			var together []byte
			count := 0
			for x, err := range all {
				if err != nil || x.Off != offs[from+count] {
					t.Fatal(err, x.Off)
				}
				together = append(together, x.Data...)
				count += x.Count
			}
			for _, off := range offs[from : from+n] {
				offsets = offsets[len(binary.AppendVarint(nil, off)):]
			}
			if want := slices.Concat(want[from : from+n]...); !slices.Equal(got, want) || !slices.Equal(together, want) || !ok || count != n || len(offsets) > 0 {
				t.Fatalf("%s: %d rows from %d: %d and %d bytes, want %d", name, n, from, len(got), len(together), len(want))
			}
			from += n
		}
	}
}

// Rows of numbers of several types, with nulls, are those that were written, and alike where they have the same kinds of
// values.
func TestNumbers(t *testing.T) {
	t.Parallel()
	const rows, unsigned = 700, 14 // 14: the converted type of uint64
	rnd := rand.New(rand.NewPCG(7, 8))
	want := make([][]any, rows)
	var schema []pq.Element
	var chunks []pq.Chunk
	for i, c := range []struct{ kind, converted, nulls int }{{pq.Int64, pq.None, 0}, {pq.Double, pq.None, 0}, {pq.Int64, unsigned, 0}, {pq.Int64, pq.None, 40}} {
		page := pq.Page{Values: rows}
		levels := binary.AppendUvarint(nil, (rows+7)/8<<1|1)
		levels = append(levels, make([]byte, (rows+7)/8)...)
		for j := range want {
			x := rnd.Uint64() >> rnd.IntN(63)
			if c.nulls > 0 && rnd.IntN(c.nulls) == 0 {
				want[j] = append(want[j], nil)
				continue
			}
			levels[2+j/8] |= 1 << (j % 8)
			page.Body = binary.LittleEndian.AppendUint64(page.Body, x)
			switch {
			case c.kind == pq.Double:
				want[j] = append(want[j], math.Float64frombits(x))
			case c.converted == unsigned && x > math.MaxInt64:
				want[j] = append(want[j], x)
			default:
				want[j] = append(want[j], int64(x))
			}
		}
		e := pq.Element{Name: fmt.Sprint("c", i), Type: c.kind, Converted: c.converted}
		if c.nulls > 0 {
			e.Repetition = pq.Optional
			page.Body = slices.Concat(binary.LittleEndian.AppendUint32(nil, uint32(len(levels))), levels, page.Body)
		}
		schema = append(schema, e)
		chunks = append(chunks, pq.Chunk{Type: c.kind, Values: rows, Pages: []pq.Page{page}})
	}
	parts, open := convertertest.InMemory(".parquet", fileOf(rows, root(schema...), chunks...))
	s, err := openSource(t.Context(), parts, Options{Pack: true}, open)
	if err != nil {
		t.Fatal(err)
	}
	check := func(i int, sample *converters.Sample) (kinds []converters.Kind) {
		for j := range sample.Fields {
			v := &sample.Fields[j].Value
			kinds = append(kinds, v.Kind())
			if got := v.Any(); got != want[i][j] && want[i][j] == want[i][j] {
				t.Fatalf("row %d, column %d: %v, want %v", i, j, got, want[i][j])
			}
		}
		return kinds
	}
	i, alike := 0, 0
	var before []converters.Kind
	for span, err := range s.Index(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		kinds := check(i, span.Shape)
		if span.Alike && !slices.Equal(kinds, before) {
			t.Errorf("row %d is alike", i)
		}
		if i, before = i+1, kinds; span.Alike {
			alike++
		}
	}
	if i != rows || alike < rows/4 {
		t.Errorf("%d rows, %d of them alike", i, alike)
	}
	i = 0
	for sample, err := range s.Read(t.Context(), converters.Run{Count: rows}) {
		if err != nil {
			t.Fatal(err)
		}
		check(i, sample)
		i++
	}
}

// Rows that have other columns, or may have nulls, are not packed; a part that is not here when the others are opened is
// refused if it has them.
func TestNotPacked(t *testing.T) {
	t.Parallel()
	double := numberColumn{kind: pq.Double, page: 700}
	perhaps, whole, other := double, double, double
	perhaps.repetition, other.kind = pq.Optional, pq.Int64
	whole.repetition, whole.whole = pq.Optional, true
	file := func(columns ...numberColumn) []byte { data, _ := numbersOf(5, columns...); return data }
	null := fileOf(2, root(pq.Element{Name: "c0", Type: pq.Double, Repetition: pq.Optional, Converted: pq.None}),
		pq.Chunk{Type: pq.Double, Values: 2, Whole: true, Pages: []pq.Page{{Values: 2, Body: append([]byte{4, 0, 0, 0, 2, 1, 2, 0}, int64s(1)...)}}})
	label := fileOf(2, root(pq.Element{Name: "cls", Type: pq.Int64, Repetition: pq.Required, Converted: pq.None}),
		pq.Chunk{Type: pq.Int64, Values: 2, Pages: []pq.Page{{Values: 2, Body: int64s(1, 2)}}})
	parts, open := convertertest.InMemory(".parquet", label)
	if s, err := openSource(t.Context(), parts, Options{Pack: true}, open); err != nil || s.Describe().Encoding != "raw" {
		t.Errorf("a label that was asked for as a number: %v", err)
	}
	for _, row := range []struct {
		name         string
		data         [][]byte
		away, packed bool   // the last part is not here; rows are packed
		err          string // of the last part
	}{
		{"packed", [][]byte{file(double), file(whole)}, false, true, ""},
		{"of two types", [][]byte{file(double, other)}, false, false, ""},
		{"perhaps null", [][]byte{file(perhaps)}, false, false, ""},
		{"perhaps null in another part", [][]byte{file(double), file(perhaps)}, false, false, ""},
		{"another type", [][]byte{file(double), file(other)}, false, false, ""},
		{"another type, not here", [][]byte{file(double), file(other)}, true, true, "its columns are not those of the first part"},
		{"a null, where statistics have none", [][]byte{file(double), null}, false, true, "a null among rows of numbers"},
		{"a label", [][]byte{label}, false, false, ""},
		{"images", [][]byte{images(0, 2, pq.Plain, false)}, false, false, ""},
	} {
		parts, open := convertertest.InMemory(".parquet", row.data...)
		here := slices.Clone(parts)
		if row.away {
			here[len(here)-1].Path = ""
		}
		s, err := openSource(t.Context(), here, Options{Pack: true, Labels: true}, open)
		if err != nil {
			t.Fatal(err)
		}
		if packed := s.Describe().Encoding == "raw"; packed != row.packed {
			t.Errorf("%s: packed is %v", row.name, packed)
		}
		last := s.WithParts(0, parts[len(parts)-1:])
		err = nil
		for _, err = range last.Index(t.Context(), 0) {
		}
		if _, ok := errors.AsType[*converters.Error](err); row.err != "" && (!ok || !strings.Contains(err.Error(), row.err)) || row.err == "" && err != nil {
			t.Errorf("%s: %v, want %q", row.name, err, row.err)
		}
	}
}

// Opening reads the footers of packed rows until the context ends. One with other columns is found; a part that cannot be read is
// refused by Index alone.
func TestOpenEnds(t *testing.T) {
	t.Parallel()
	const parts = 100
	double, _ := numbersOf(5, numberColumn{kind: pq.Double, page: 700})
	other, _ := numbersOf(5, numberColumn{kind: pq.Int64, page: 700})
	for _, row := range []struct {
		name          string
		cancel, other bool // when the second part is opened; it has another column
		most          int64
	}{{"all alike", false, false, parts}, {"another column", false, true, parts}, {"cancelled", true, false, 2}} {
		data := slices.Repeat([][]byte{double}, parts)
		data[parts/2] = double[:len(double)-1]
		if row.other {
			data[1] = other
		}
		all, open := convertertest.InMemory(".parquet", data...)
		ctx, cancel := context.WithCancel(t.Context())
		var opened atomic.Int64
		s, err := openSource(ctx, all, Options{Pack: true}, func(p converters.Part, how converters.Access) (converters.File, error) {
			if opened.Add(1) > 1 && row.cancel {
				cancel()
			}
			return open(p, how)
		})
		cancel()
		if row.cancel != errors.Is(err, context.Canceled) || err == nil && (s.width > 0) == row.other || opened.Load() > row.most {
			t.Errorf("%s: %d parts opened, %v", row.name, opened.Load(), err)
		}
	}
}

// Damage of packed rows is found by Index, or gives other numbers.
func TestDamagedRows(t *testing.T) {
	t.Parallel()
	data, want := numbersOf(9, numberColumn{kind: pq.Double, page: 5, codec: pq.Snappy, repetition: pq.Optional, whole: true}, numberColumn{kind: pq.Double, page: 4, dictionary: true})
	for at := range data {
		for bit := range 8 {
			changed := slices.Clone(data)
			changed[at] ^= 1 << bit
			rows, err := contents(t, changed, Options{Pack: true})
			if _, ok := errors.AsType[*converters.Error](err); err != nil && !ok || err == nil && len(rows) > len(want) {
				t.Errorf("byte %d changed: %d rows, %v", at, len(rows), err)
			}
		}
	}
}

// Runs that follow one another have the rows of the part, whatever its columns are.
func TestRunsFollow(t *testing.T) {
	t.Parallel()
	dir, _ := arrowjs.Write(t, "parquet", 1000)
	for _, name := range []string{"plain", "words", "snappy", "zstd"} {
		s := openFiles(t, Options{}, dir+"/"+name+".parquet")
		read := func(from, n int) (rows [][]string) {
			for sample, err := range s.Read(t.Context(), converters.Run{First: int64(from), Count: int64(n)}) {
				if err != nil {
					t.Fatal(err)
				}
				rows = append(rows, arrowjs.Row(sample))
			}
			return rows
		}
		all := read(0, 1000)
		rnd := rand.New(rand.NewPCG(5, 6))
		for from := 0; from < 1000; {
			n := min(1+rnd.IntN(40), 1000-from)
			if got := read(from, n); !slices.EqualFunc(got, all[from:from+n], slices.Equal) {
				t.Fatalf("%s: %d rows from %d: other rows", name, n, from)
			}
			from += n + rnd.IntN(3)*rnd.IntN(20)
		}
	}
}
