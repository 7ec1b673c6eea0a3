package arrow

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	ar "github.com/apache/arrow/go/v15/arrow"
	build "github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/decimal128"
	"github.com/apache/arrow/go/v15/arrow/decimal256"
	"github.com/apache/arrow/go/v15/arrow/float16"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/convertertest"
	"github.com/ffconvert/ffconvert/internal/test/arrowjs"
	"github.com/ffconvert/ffconvert/internal/test/arrowtest"
)

// openFiles opens parts as they are now.
func openFiles(t testing.TB, opts Options, paths ...string) *source {
	t.Helper()
	s, err := Open(convertertest.Parts(t, paths...), opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The rows that apache-arrow of JavaScript writes are those that come out, of files and of streams; and as Apache's libraries
// of Rust and Go write them again, the latter compressed.
func TestForeignWriters(t *testing.T) {
	t.Parallel()
	rows := 10_000
	if testing.Short() {
		rows = 1500
	}
	dir, want := arrowjs.Write(t, "arrow", rows)
	stream, err := os.ReadFile(filepath.Join(dir, "stream.arrow"))
	if err != nil {
		t.Fatal(err)
	}
	batches := arrowtest.Read(stream)
	for _, again := range [][2]string{{arrowtest.File, arrowtest.LZ4}, {arrowtest.Stream, arrowtest.Zstd}, {arrowtest.File, arrowtest.Plain}} {
		path := filepath.Join(dir, strings.Join(again[:], "-")+".arrow")
		if err := os.WriteFile(path, arrowtest.Write(again[0], again[1], batches...), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"file", "stream", "whole", "rust", "file-lz4", "stream-zstd", "file-"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(dir, name+".arrow")
			arrowjs.Same(t, want, func(fields [][]string) converters.Source { return openFiles(t, Options{Fields: fields}, path) })
		})
	}
}

// The types that JavaScript does not write.
func TestTypes(t *testing.T) {
	t.Parallel()
	mem := memory.DefaultAllocator
	date := func(ms int64) ar.Date64 { return ar.Date64(ms) }
	for _, row := range []struct {
		name  string
		typ   ar.DataType
		fill  func(b build.Builder)
		want  string // values by spaces
		dtype string
	}{
		{"null", ar.Null, func(b build.Builder) { b.AppendNulls(2) }, "null null", "null"},
		{"half", ar.FixedWidthTypes.Float16, func(b build.Builder) { b.(*build.Float16Builder).Append(float16.New(1.5)) }, "f3ff8000000000000", "float16"},
		{"large text", ar.BinaryTypes.LargeString, func(b build.Builder) { b.(*build.LargeStringBuilder).AppendValues([]string{"", "é"}, nil) }, "t tc3a9", "str"},
		{"large bytes", ar.BinaryTypes.LargeBinary, func(b build.Builder) { b.(*build.BinaryBuilder).AppendValues([][]byte{{1}, {}}, nil) }, "b01 b", "bytes"},
		{"decimal", &ar.Decimal128Type{Precision: 38, Scale: 2}, func(b build.Builder) {
			b.(*build.Decimal128Builder).AppendValues([]decimal128.Num{decimal128.FromI64(-50), decimal128.New(math.MaxInt64, math.MaxUint64)}, nil)
		}, "t2d302e3530 t" + hexOf("1701411834604692317316873037158841057.27"), "str"},
		{"large decimal", &ar.Decimal256Type{Precision: 76, Scale: 0}, func(b build.Builder) { b.(*build.Decimal256Builder).Append(decimal256.FromI64(-7)) }, "t" + hexOf("-7"), "str"},
		{"days", ar.FixedWidthTypes.Date32, func(b build.Builder) { b.(*build.Date32Builder).Append(-1) }, "i-1", "datetime64[D]"},
		{"date", ar.FixedWidthTypes.Date64, func(b build.Builder) { b.(*build.Date64Builder).Append(date(86400000)) }, "i86400000", "datetime64[ms]"},
		{"time32", ar.FixedWidthTypes.Time32s, func(b build.Builder) { b.(*build.Time32Builder).Append(7) }, "i7", "timedelta64[s]"},
		{"time64", ar.FixedWidthTypes.Time64ns, func(b build.Builder) { b.(*build.Time64Builder).Append(1 << 40) }, "i1099511627776", "timedelta64[ns]"},
		{"time", ar.FixedWidthTypes.Timestamp_us, func(b build.Builder) { b.(*build.TimestampBuilder).Append(math.MinInt64) }, "i-9223372036854775808", "datetime64[us]"},
		{"duration", ar.FixedWidthTypes.Duration_ms, func(b build.Builder) { b.(*build.DurationBuilder).Append(5) }, "i5", "timedelta64[ms]"},
		{"fixed list", ar.FixedSizeListOf(2, ar.PrimitiveTypes.Uint64), func(b build.Builder) {
			l := b.(*build.FixedSizeListBuilder)
			l.Append(true)
			l.ValueBuilder().(*build.Uint64Builder).AppendValues([]uint64{1, math.MaxUint64}, nil)
			l.AppendNull()
		}, "[i1,i18446744073709551615] null", "list"},
		{"large list", ar.LargeListOf(ar.FixedWidthTypes.Boolean), func(b build.Builder) {
			l := b.(*build.LargeListBuilder)
			l.Append(true)
			l.ValueBuilder().(*build.BooleanBuilder).AppendValues([]bool{true, false}, nil)
			l.Append(true)
		}, "[true,false] []", "list"},
		{"map with numbers", ar.MapOf(ar.PrimitiveTypes.Int16, ar.BinaryTypes.Binary), func(b build.Builder) {
			m := b.(*build.MapBuilder)
			m.Append(true)
			m.KeyBuilder().(*build.Int16Builder).AppendValues([]int16{-3, 4}, nil)
			m.ItemBuilder().(*build.BinaryBuilder).AppendValues([][]byte{{9}, nil}, []bool{true, false})
		}, "{i-3:b09,i4:null}", "map"},
		{"dictionary of numbers", &ar.DictionaryType{IndexType: ar.PrimitiveTypes.Uint8, ValueType: ar.PrimitiveTypes.Float64}, func(b build.Builder) {
			d := b.(*build.Float64DictionaryBuilder)
			for _, v := range []float64{2, 3, 2} {
				if err := d.Append(v); err != nil {
					panic(err)
				}
			}
			d.AppendNull()
		}, "f4000000000000000 f4008000000000000 f4000000000000000 null", ""},
		{"text views", ar.BinaryTypes.StringView, func(b build.Builder) {
			b.(*build.StringViewBuilder).AppendValues([]string{"short", "", strings.Repeat("long", 5)}, nil)
		}, "t" + hexOf("short") + " t t" + hexOf(strings.Repeat("long", 5)), "str"},
		{"byte views", ar.BinaryTypes.BinaryView, func(b build.Builder) {
			b.(*build.BinaryViewBuilder).AppendValues([][]byte{{1}, make([]byte, 20)}, nil)
		}, "b01 b" + strings.Repeat("00", 20), "bytes"},
		{"no columns in a struct", ar.StructOf(), func(b build.Builder) { b.(*build.StructBuilder).Append(true) }, "{}", "map"},
	} {
		b := build.NewBuilder(mem, row.typ)
		row.fill(b)
		values := b.NewArray()
		schema := ar.NewSchema([]ar.Field{{Name: "x", Type: row.typ, Nullable: true}}, nil)
		for _, how := range [][2]string{{arrowtest.Stream, arrowtest.Plain}, {arrowtest.File, arrowtest.Zstd}, {arrowtest.Stream, arrowtest.LZ4}} {
			data := arrowtest.Write(how[0], how[1], build.NewRecord(schema, []ar.Array{values}, int64(values.Len())))
			rows, err := contents(t, data, Options{})
			var got []string
			for _, r := range rows {
				got = append(got, strings.TrimPrefix(r[1], "x:"))
			}
			if err != nil || strings.Join(got, " ") != row.want {
				t.Errorf("%s, %v: %s, want %s; error %v", row.name, how, got, row.want, err)
			}
			parts, open := convertertest.InMemory(".arrow", data)
			s, err := openSource(parts, Options{}, open)
			if err == nil && row.dtype != "" && !slices.Equal(s.Describe().Columns, []converters.ColumnType{{Name: "x", DType: row.dtype}}) {
				t.Errorf("%s: described as %+v, want %s", row.name, s.Describe().Columns, row.dtype)
			}
		}
	}
}

// A UUID is text, as it is of Parquet; other bytes of that type are bytes.
func TestUUID(t *testing.T) {
	t.Parallel()
	b := build.NewFixedSizeBinaryBuilder(memory.DefaultAllocator, &ar.FixedSizeBinaryType{ByteWidth: 16})
	b.Append([]byte("0123456789abcdef"))
	b.AppendNull()
	values := b.NewArray()
	for extension, want := range map[string]string{"arrow.uuid": "t" + hexOf("30313233-3435-3637-3839-616263646566"), "arrow.other": "b" + hexOf("0123456789abcdef")} {
		field := ar.Field{Name: "x", Type: values.DataType(), Nullable: true, Metadata: ar.NewMetadata([]string{"ARROW:extension:name"}, []string{extension})}
		rows, err := contents(t, arrowtest.Write(arrowtest.Stream, arrowtest.Plain, batchOf([]ar.Field{field}, values)), Options{})
		if err != nil || len(rows) != 2 || rows[0][1] != "x:"+want || rows[1][1] != "x:null" {
			t.Errorf("%s: %v, want %s; error %v", extension, rows, want, err)
		}
	}
}
