package arrow

import (
	"encoding/hex"
	"fmt"
	"math"
	"strings"
	"testing"

	ar "github.com/apache/arrow/go/v15/arrow"
	build "github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/ffconvert/ffconvert/internal/test/arrowtest"
)

// valueTypes are Arrow's types but those of values in values, each with two values of it in JSON.
var valueTypes = []struct {
	typ         ar.DataType
	first, last string
}{
	{ar.Null, `null`, `null`},
	{ar.FixedWidthTypes.Boolean, `true`, `false`},
	{ar.PrimitiveTypes.Int8, `-128`, `127`}, {ar.PrimitiveTypes.Int16, `-32768`, `1`}, {ar.PrimitiveTypes.Int32, `-1`, `2147483647`}, {ar.PrimitiveTypes.Int64, `-9223372036854775808`, `5`},
	{ar.PrimitiveTypes.Uint8, `255`, `0`}, {ar.PrimitiveTypes.Uint16, `65535`, `1`}, {ar.PrimitiveTypes.Uint32, `4294967295`, `1`}, {ar.PrimitiveTypes.Uint64, `18446744073709551615`, `1`},
	{ar.FixedWidthTypes.Float16, `1.5`, `-0.25`}, {ar.PrimitiveTypes.Float32, `0.1`, `-1e30`}, {ar.PrimitiveTypes.Float64, `0.1`, `1e300`},
	{ar.BinaryTypes.String, `"grüß"`, `""`}, {ar.BinaryTypes.LargeString, `"large"`, `"é"`}, {ar.BinaryTypes.StringView, `"short"`, `"more than twelve bytes of text"`},
	{ar.BinaryTypes.Binary, `"AAH/"`, `""`}, {ar.BinaryTypes.LargeBinary, `"AQID"`, `"/w=="`}, {ar.BinaryTypes.BinaryView, `"AQ=="`, `"AAAAAAAAAAAAAAAAAAAAAAAA"`},
	{&ar.FixedSizeBinaryType{ByteWidth: 3}, `"AAH/"`, `"AQID"`},
	{&ar.Decimal128Type{Precision: 20, Scale: 2}, `"-0.5"`, `"12345678901234567.25"`}, {&ar.Decimal256Type{Precision: 40, Scale: 0}, `"-7"`, `"12345678901234567890123"`},
	{ar.FixedWidthTypes.Date32, `"1969-12-31"`, `"2026-11-24"`}, {ar.FixedWidthTypes.Date64, `"1970-01-02"`, `"2026-11-24"`},
	{ar.FixedWidthTypes.Time32s, `"00:00:01"`, `"23:59:59"`}, {ar.FixedWidthTypes.Time32ms, `"00:00:01.5"`, `"23:59:59.999"`},
	{ar.FixedWidthTypes.Time64us, `"00:00:00.000001"`, `"12:00:00"`}, {ar.FixedWidthTypes.Time64ns, `"00:00:00.000000001"`, `"12:00:00"`},
	{ar.FixedWidthTypes.Timestamp_s, `"1969-12-31 23:59:59"`, `"2026-11-24 17:00:00"`}, {ar.FixedWidthTypes.Timestamp_ns, `"2026-11-24 17:00:00.000000001"`, `"1970-01-01"`},
	{&ar.TimestampType{Unit: ar.Millisecond, TimeZone: "Europe/Berlin"}, `"2026-11-24 17:00:00"`, `"1970-01-01"`}, {&ar.TimestampType{Unit: ar.Microsecond}, `"2026-11-24 17:00:00"`, `"1970-01-01"`},
	{ar.FixedWidthTypes.Duration_s, `5`, `-1`}, {ar.FixedWidthTypes.Duration_ms, `5`, `-1`}, {ar.FixedWidthTypes.Duration_us, `5`, `-1`}, {ar.FixedWidthTypes.Duration_ns, `5`, `-1`},
	{&ar.DictionaryType{IndexType: ar.PrimitiveTypes.Int8, ValueType: ar.BinaryTypes.String}, `"cat"`, `"dog"`},
	{&ar.DictionaryType{IndexType: ar.PrimitiveTypes.Uint16, ValueType: ar.PrimitiveTypes.Int64}, `-5`, `7`},
	{&ar.DictionaryType{IndexType: ar.PrimitiveTypes.Int64, ValueType: ar.FixedWidthTypes.Date32}, `"1969-12-31"`, `"2026-11-24"`},
}

// nestings are the types that have a type in them, with values of them in JSON, of values A and Z.
var nestings = []struct {
	name   string
	of     func(t ar.DataType) ar.DataType
	values string
}{
	{"alone", func(t ar.DataType) ar.DataType { return t }, `[A, null, Z, A]`},
	{"list", func(t ar.DataType) ar.DataType { return ar.ListOf(t) }, `[[A], null, [], [Z, null, A]]`},
	{"large list", func(t ar.DataType) ar.DataType { return ar.LargeListOf(t) }, `[[A], null, [], [Z, null, A]]`},
	{"list of one size", func(t ar.DataType) ar.DataType { return ar.FixedSizeListOf(2, t) }, `[[A, Z], null, [null, A]]`},
	{"struct", func(t ar.DataType) ar.DataType {
		return ar.StructOf(ar.Field{Name: "a", Type: t, Nullable: true}, ar.Field{Name: "b", Type: ar.PrimitiveTypes.Int8, Nullable: true})
	}, `[{"a": A, "b": 1}, null, {"a": null, "b": 2}, {"a": Z, "b": null}]`},
	{"map", func(t ar.DataType) ar.DataType { return ar.MapOf(ar.BinaryTypes.String, t) }, `[[{"key": "x", "value": A}, {"key": "y", "value": null}], null, [], [{"key": "x", "value": Z}]]`},
	{"lists in structs in lists", func(t ar.DataType) ar.DataType {
		return ar.ListOf(ar.StructOf(ar.Field{Name: "a", Type: ar.ListOf(t), Nullable: true}))
	}, `[[{"a": [A, null]}, null, {"a": null}], [], null, [{"a": []}, {"a": [Z]}]]`},
	{"view of lists", func(t ar.DataType) ar.DataType { return ar.ListViewOf(t) }, ""},
	{"large view of lists", func(t ar.DataType) ar.DataType { return ar.LargeListViewOf(t) }, ""},
	{"dictionary", func(t ar.DataType) ar.DataType {
		return &ar.DictionaryType{IndexType: ar.PrimitiveTypes.Int16, ValueType: t}
	}, ""},
}

// Every type, alone and inside of every other, is read as Arrow's library for Go reads it; or it is refused.
func TestTypeTable(t *testing.T) {
	t.Parallel()
	for _, n := range nestings {
		t.Run(n.name, func(t *testing.T) {
			t.Parallel()
			for _, v := range valueTypes {
				typ := n.of(v.typ)
				if _, words := v.typ.(*ar.DictionaryType); words && n.name == "dictionary" {
					continue // that is refused
				}
				fill := func(s string) ar.Array {
					values, _, err := build.FromJSON(memory.DefaultAllocator, typ, strings.NewReader(strings.NewReplacer("A", v.first, "Z", v.last).Replace(s)))
					if err != nil {
						t.Fatalf("%v: %v", typ, err)
					}
					return values
				}
				var all ar.Array
				if n.values != "" {
					all = fill(n.values)
				} else {
					inner, _, err := build.FromJSON(memory.DefaultAllocator, v.typ, strings.NewReader(fmt.Sprintf(`[%s, null, %s]`, v.first, v.last)))
					if err != nil {
						t.Fatalf("%v: %v", v.typ, err)
					}
					all = viewOf(typ, inner)
				}
				for _, values := range []ar.Array{all, build.NewSlice(all, 1, int64(all.Len()))} {
					if _, view := typ.(ar.VarLenListLikeType); view && n.values == "" && values.Len() < all.Len() {
						continue // Arrow's library for Go v15 writes those of a slice wrong
					}
					var want []string
					for i := range values.Len() {
						want = append(want, wordOf(t, values, i))
					}
					record := build.NewRecord(ar.NewSchema([]ar.Field{{Name: "x", Type: typ, Nullable: true}}, nil), []ar.Array{values}, int64(values.Len()))
					for _, how := range [][2]string{{arrowtest.Stream, arrowtest.Plain}, {arrowtest.File, arrowtest.Zstd}} {
						rows, err := contents(t, arrowtest.Write(how[0], how[1], record), Options{})
						var got []string
						for _, r := range rows {
							got = append(got, strings.TrimPrefix(r[1], "x:"))
						}
						if err != nil || strings.Join(got, " ") != strings.Join(want, " ") {
							t.Errorf("%v, %v: %v, want %v; error %v", typ, how, got, want, err)
						}
					}
				}
			}
		})
	}
}

// viewOf is an array of a type of three values: a dictionary, or views of lists that overlap, in any order.
func viewOf(typ ar.DataType, values ar.Array) ar.Array {
	valid := memory.NewBufferBytes([]byte{0b11011})
	number := func(all ...int64) *memory.Buffer {
		var b string
		for _, x := range all {
			if b += int32s(int32(x)); typ.ID() == ar.LARGE_LIST_VIEW {
				b += int32s(0)
			}
		}
		return memory.NewBufferBytes([]byte(b))
	}
	if d, ok := typ.(*ar.DictionaryType); ok {
		index, _, err := build.FromJSON(memory.DefaultAllocator, d.IndexType, strings.NewReader(`[2, 0, null, 1, 2]`))
		if err != nil {
			panic(err)
		}
		return build.NewDictionaryArray(typ, index, values)
	}
	data := build.NewData(typ, 5, []*memory.Buffer{valid, number(1, 0, 0, 3, 2), number(2, 3, 0, 0, 1)}, []ar.ArrayData{values.Data()}, 1, 0)
	return build.MakeFromData(data)
}

// wordOf is value i in words as arrowjs.Row has them, by Arrow's library for Go.
func wordOf(t *testing.T, a ar.Array, i int) string {
	t.Helper()
	join := func(from, to int64, of func(k int) string) string {
		var all []string
		for k := from; k < to; k++ {
			all = append(all, of(int(k)))
		}
		return strings.Join(all, ",")
	}
	float := func(x float64) string { return fmt.Sprintf("f%016x", math.Float64bits(x)) }
	text := func(s string) string { return "t" + hexOf(s) }
	if a.IsNull(i) || a.DataType() == ar.Null {
		return "null"
	}
	switch a := a.(type) {
	case *build.Boolean:
		return fmt.Sprint(a.Value(i))
	case *build.Int8, *build.Int16, *build.Int32, *build.Int64, *build.Uint8, *build.Uint16, *build.Uint32, *build.Uint64:
		return "i" + a.ValueStr(i)
	case *build.Float16:
		return float(float64(a.Value(i).Float32()))
	case *build.Float32:
		return float(float64(a.Value(i)))
	case *build.Float64:
		return float(a.Value(i))
	case *build.String:
		return text(a.Value(i))
	case *build.LargeString:
		return text(a.Value(i))
	case *build.StringView:
		return text(a.Value(i))
	case *build.Binary:
		return "b" + hex.EncodeToString(a.Value(i))
	case *build.LargeBinary:
		return "b" + hex.EncodeToString(a.Value(i))
	case *build.BinaryView:
		return "b" + hex.EncodeToString(a.Value(i))
	case *build.FixedSizeBinary:
		return "b" + hex.EncodeToString(a.Value(i))
	case *build.Decimal128:
		return text(a.Value(i).ToString(a.DataType().(*ar.Decimal128Type).Scale))
	case *build.Decimal256:
		return text(a.Value(i).ToString(a.DataType().(*ar.Decimal256Type).Scale))
	case *build.Date32:
		return fmt.Sprintf("i%d", a.Value(i))
	case *build.Date64:
		return fmt.Sprintf("i%d", a.Value(i))
	case *build.Time32:
		return fmt.Sprintf("i%d", a.Value(i))
	case *build.Time64:
		return fmt.Sprintf("i%d", a.Value(i))
	case *build.Timestamp:
		return fmt.Sprintf("i%d", a.Value(i))
	case *build.Duration:
		return fmt.Sprintf("i%d", a.Value(i))
	case *build.Dictionary:
		return wordOf(t, a.Dictionary(), a.GetValueIndex(i))
	case *build.Struct:
		return "{" + join(0, int64(a.NumField()), func(k int) string {
			return text(a.DataType().(*ar.StructType).Field(k).Name) + ":" + wordOf(t, a.Field(k), i)
		}) + "}"
	case *build.Map:
		from, to := a.ValueOffsets(i)
		return "{" + join(from, to, func(k int) string { return wordOf(t, a.Keys(), k) + ":" + wordOf(t, a.Items(), k) }) + "}"
	case build.ListLike:
		from, to := a.ValueOffsets(i)
		return "[" + join(from, to, func(k int) string { return wordOf(t, a.ListValues(), k) }) + "]"
	}
	t.Fatalf("a column of the type %v", a.DataType())
	return ""
}
