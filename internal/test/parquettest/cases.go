package parquettest

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math/big"
	"time"
)

// A Case is a file as some program writes it, and its rows: "name:word" for each column, with words as package arrowjs has
// them and times in microseconds.
type Case struct {
	Name string
	Data []byte
	Rows [][]string

	// By names the readers of others that read it: DuckDB, arrow-go, and Apache's parquet of Rust.
	By []string
}

// Readers of others.
const (
	DuckDB = "duckdb"
	Go     = "arrow-go"
	Rust   = "rust"
)

// build writes a file of one row group.
func build(rows int, schema []Element, meta [][2]string, chunks ...Chunk) []byte {
	var b bytes.Buffer
	w := NewWriter(&b)
	w.Group(rows, chunks...)
	return finish(w, &b, schema, meta)
}

func finish(w *Writer, b *bytes.Buffer, schema []Element, meta [][2]string) []byte {
	root := Element{Name: "schema", Type: Group, Converted: None}
	for i := 0; i < len(schema); i += span(schema[i:]) {
		root.Children++
	}
	w.Complete = true
	if err := w.Close(append([]Element{root}, schema...), meta); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// span is how many elements the first one is, with all below it.
func span(schema []Element) int {
	n := 1
	for range schema[0].Children {
		n += span(schema[n:])
	}
	return n
}

// LevelsOf returns levels of a page of version 1: runs of one, each of one byte.
func LevelsOf(levels ...byte) []byte {
	var runs []byte
	for _, l := range levels {
		runs = append(runs, 1<<1, l)
	}
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(runs))), runs...)
}

// Int32s returns plain values of type Int32.
func Int32s(all ...int32) (b []byte) {
	for _, v := range all {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return b
}

// Int64s returns plain values of type Int64.
func Int64s(all ...int64) (b []byte) {
	for _, v := range all {
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	return b
}

// int96s returns plain times of type Int96: the nanoseconds of a day, and the Julian day.
func int96s(all ...time.Time) (b []byte) {
	for _, t := range all {
		seconds := t.Unix()
		days := seconds / 86400
		b = binary.LittleEndian.AppendUint64(b, uint64((seconds-days*86400)*1e9+int64(t.Nanosecond())))
		b = binary.LittleEndian.AppendUint32(b, uint32(days+2_440_588))
	}
	return b
}

// bigEndian returns n in two's complement of size bytes.
func bigEndian(n int64, size int) []byte {
	x := big.NewInt(n)
	if n < 0 {
		x.Add(x, new(big.Int).Lsh(big.NewInt(1), uint(8*size)))
	}
	return x.FillBytes(make([]byte, size))
}

func word(s string) string { return "t" + hex.EncodeToString([]byte(s)) }

// column is an element without children.
func column(name string, kind, repetition, converted int) Element {
	return Element{Name: name, Type: kind, Repetition: repetition, Converted: converted}
}

// parent is an element with children.
func parent(name string, repetition, converted, children int) Element {
	return Element{Name: name, Type: Group, Repetition: repetition, Converted: converted, Children: children}
}

// page is a data page of version 1, as parquet-mr writes it for a column without repetitions.
func page(values int, body ...[]byte) Page {
	return Page{Values: values, Body: bytes.Join(body, nil), RepPacked: true}
}

// chunk is a column of pages.
func chunk(kind, values int, pages ...Page) Chunk {
	return Chunk{Type: kind, Values: values, Pages: pages}
}

// rows are rows of one field each.
func rows(words ...string) (all [][]string) {
	for _, w := range words {
		all = append(all, []string{w})
	}
	return all
}

// Cases are files as Spark, Hive, Impala, Trino and old writers have them: all of them valid, or read by everyone.
func Cases() []Case {
	all := append(levelCases(), placeCases()...)
	all = append(append(all, nestedCases()...), codecCases()...)
	for i := range all {
		if all[i].By == nil {
			all[i].By = []string{DuckDB, Go}
		}
	}
	return all
}

// levelCases have levels that parquet-mr says are BIT_PACKED, where there are none.
func levelCases() []Case {
	first, last := time.Date(2024, 1, 1, 12, 34, 56, 123456000, time.UTC), time.Date(9999, 12, 31, 3, 0, 0, 0, time.UTC)
	required := page(3, Int32s(1, -2, 3))
	required.DefPacked = true
	names := Page{Kind: Dictionary, Values: 2, Encoding: PlainDictionary, Body: Strings("cat", "dog")}
	words := page(4, LevelsOf(1, 0, 1, 1), []byte{1, 3 << 1, 1})
	words.Encoding = PlainDictionary
	return []Case{
		{Name: "parquet-mr, required", Data: build(3, []Element{column("id", Int32, Required, None)}, nil, chunk(Int32, 3, required)), Rows: rows("id:i1", "id:i-2", "id:i3")},
		{Name: "parquet-mr, optional", Data: build(3, []Element{column("n", Int64, Optional, None)}, nil,
			chunk(Int64, 3, page(3, LevelsOf(1, 0, 1), Int64s(7, -9)))), Rows: rows("n:i7", "n:null", "n:i-9")},
		{Name: "Impala, a dictionary", Data: build(4, []Element{column("s", Bytes, Optional, None)}, nil, chunk(Bytes, 4, names, words)),
			Rows: rows("s:b646f67", "s:null", "s:b646f67", "s:b646f67")},
		{Name: "Impala, times", Data: build(2, []Element{column("t", Int96, Optional, None)}, nil, chunk(Int96, 2, page(2, LevelsOf(1, 0), int96s(first)))),
			Rows: rows("t:i1704112496123456", "t:null")},
		{Name: "Spark, times beyond 64 bits of nanoseconds", Data: build(2, []Element{column("t", Int96, Optional, None)}, [][2]string{{"org.apache.spark.version", "3.4.3"}},
			chunk(Int96, 2, page(2, LevelsOf(1, 1), int96s(first, last)))), Rows: rows("t:i1704112496123456", "t:i253402225200000000")},
		{Name: "decimals", Data: build(2, []Element{
			{Name: "f", Type: Fixed, Length: 11, Converted: Decimal, Scale: 2, Precision: 25}, {Name: "i", Type: Int32, Converted: Decimal, Scale: 2, Precision: 5},
			{Name: "l", Type: Int64, Converted: Decimal, Scale: 3, Precision: 18}},
			nil, chunk(Fixed, 2, page(2, bigEndian(-50, 11), bigEndian(1_000_000_000_000, 11))), chunk(Int32, 2, page(2, Int32s(-5, 12345))), chunk(Int64, 2, page(2, Int64s(1, -1000)))),
			Rows: [][]string{{"f:" + word("-0.50"), "i:" + word("-0.05"), "l:" + word("0.001")}, {"f:" + word("10000000000.00"), "i:" + word("123.45"), "l:" + word("-1.000")}}},
	}
}

// placeCases have offsets, sizes and counts in the footer that are not what the format asks for.
func placeCases() []Case {
	id := []Element{column("id", Int32, Required, None)}
	dictionary := Page{Kind: Dictionary, Values: 2, Body: Int32s(5, 6)}
	indexes := page(3, []byte{1, 1<<1 | 1, 0b101})
	indexes.Encoding = RLEDictionary
	zero, short, nowhere := chunk(Int32, 3, page(3, Int32s(1, 2, 3))), chunk(Int32, 3, dictionary, indexes), chunk(Int32, 0)
	zero.Dictionary0, short.Short, nowhere.Nowhere = true, true, true
	var b bytes.Buffer
	w := NewWriter(&b)
	w.Uncounted = true
	w.Group(2, chunk(Int32, 2, page(2, Int32s(1, 2))))
	w.Group(1, chunk(Int32, 1, page(1, Int32s(3))))
	uncounted := finish(w, &b, id, nil)
	return []Case{
		{Name: "a dictionary at the offset 0", Data: build(3, id, nil, zero), Rows: rows("id:i1", "id:i2", "id:i3")},
		{Name: "a size without the header of the dictionary", Data: build(3, append(id, column("n", Int32, Required, None)), nil, short, chunk(Int32, 3, page(3, Int32s(7, 8, 9)))),
			Rows: [][]string{{"id:i6", "n:i7"}, {"id:i5", "n:i8"}, {"id:i6", "n:i9"}}, By: []string{DuckDB}},
		{Name: "a last size without the header of the dictionary", Data: build(3, id, nil, short), Rows: rows("id:i6", "id:i5", "id:i6"), By: []string{DuckDB}},
		{Name: "no rows at the offset 0", Data: build(0, id, nil, nowhere)},
		{Name: "rows that the row groups count", Data: uncounted, Rows: rows("id:i1", "id:i2", "id:i3")},
	}
}
