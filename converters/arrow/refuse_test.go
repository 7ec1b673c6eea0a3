package arrow

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	ar "github.com/apache/arrow/go/v15/arrow"
	build "github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/endian"
	"github.com/apache/arrow/go/v15/arrow/memory"
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/convertertest"
	"github.com/ffconvert/ffconvert/converters/internal/columns"
	"github.com/ffconvert/ffconvert/internal/fuzz"
	"github.com/ffconvert/ffconvert/internal/test/arrowjs"
	"github.com/ffconvert/ffconvert/internal/test/arrowtest"
)

func hexOf(s string) string { return hex.EncodeToString([]byte(s)) }

// contents indexes and reads a part in memory. An error is that of the first of Open, Index and Read that has one.
func contents(t testing.TB, data []byte, opts Options) (rows [][]string, err error) {
	t.Helper()
	parts, open := convertertest.InMemory(".arrow", data)
	s, err := openSource(parts, opts, open)
	if err != nil {
		return nil, err
	}
	n := int64(0)
	for _, err := range s.Index(t.Context(), 0) {
		if err != nil {
			return nil, err
		}
		n++
	}
	for sample, err := range s.Read(t.Context(), converters.Run{Count: n}) {
		if err != nil {
			t.Errorf("Index accepts what Read refuses: %v", err)
			return rows, err
		}
		rows = append(rows, arrowjs.Row(sample))
	}
	return rows, nil
}

// batchOf is a batch of columns.
func batchOf(fields []ar.Field, columns ...ar.Array) ar.Record {
	return build.NewRecord(ar.NewSchema(fields, nil), columns, int64(columns[0].Len()))
}

// texts is a column of text.
func texts(name string, values ...string) ar.Record {
	b := build.NewStringBuilder(memory.DefaultAllocator)
	b.AppendValues(values, nil)
	return batchOf([]ar.Field{{Name: name, Type: ar.BinaryTypes.String, Nullable: true}}, b.NewArray())
}

// empty is a stream of a column of a type, without rows.
func empty(typ ar.DataType) []byte {
	b := build.NewBuilder(memory.DefaultAllocator, typ)
	return arrowtest.Write(arrowtest.Stream, arrowtest.Plain, batchOf([]ar.Field{{Name: "x", Type: typ, Nullable: true}}, b.NewArray()))
}

// replaced is data with one occurrence of some bytes changed.
func replaced(data []byte, from, to string) []byte {
	if bytes.Count(data, []byte(from)) != 1 || len(from) != len(to) {
		panic(fmt.Sprintf("%q occurs %d times", from, bytes.Count(data, []byte(from))))
	}
	return bytes.Replace(data, []byte(from), []byte(to), 1)
}

func int32s(all ...int32) string {
	var b []byte
	for _, v := range all {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return string(b)
}

func TestRefused(t *testing.T) {
	t.Parallel()
	stream := arrowtest.Write(arrowtest.Stream, arrowtest.Plain, texts("s", "one", "three", "eleven"), texts("s", "more", "", ""))
	file := arrowtest.Write(arrowtest.File, arrowtest.Plain, texts("s", "one", "three", "eleven"), texts("s", "more", "", ""))
	long := strings.Repeat("zeros ", 1000)
	packed := arrowtest.Write(arrowtest.Stream, arrowtest.Zstd, texts("s", long))
	deep := ar.DataType(ar.PrimitiveTypes.Int8)
	for range 64 {
		deep = ar.ListOf(deep)
	}
	nulls := build.NewStringBuilder(memory.DefaultAllocator)
	nulls.AppendNull()
	numbers := build.NewInt8Builder(memory.DefaultAllocator)
	numbers.Append(1)
	words := &ar.DictionaryType{IndexType: ar.PrimitiveTypes.Int32, ValueType: ar.BinaryTypes.String}
	word := build.NewDictionaryBuilder(memory.DefaultAllocator, words).(*build.BinaryDictionaryBuilder)
	for _, s := range []string{"a", "b", "c", "b"} {
		if err := word.AppendString(s); err != nil {
			t.Fatal(err)
		}
	}
	pairs := build.NewMapBuilder(memory.DefaultAllocator, ar.BinaryTypes.String, ar.PrimitiveTypes.Int8, false)
	pairs.Append(true)
	pairs.KeyBuilder().(*build.StringBuilder).AppendValues([]string{"k", "k"}, nil)
	pairs.ItemBuilder().(*build.Int8Builder).AppendValues([]int8{1, 2}, nil)
	column := func(name string, typ ar.DataType) []ar.Field {
		return []ar.Field{{Name: name, Type: typ, Nullable: true}}
	}
	null := nulls.NewArray()
	views := arrowtest.Write(arrowtest.Stream, arrowtest.Plain, batchOf(column("v", ar.ListViewOf(ar.BinaryTypes.String)), viewOf(ar.ListViewOf(ar.BinaryTypes.String), texts("s", "one", "three", "eleven").Column(0))))
	big := arrowtest.Write(arrowtest.Stream, arrowtest.Plain, build.NewRecord(ar.NewSchemaWithEndian(column("s", ar.BinaryTypes.String), nil, endian.BigEndian), []ar.Array{null}, 1))
	for _, row := range []struct {
		name string
		data []byte
		opts Options
		kind error
		text string
	}{
		{"empty", nil, Options{}, converters.ErrTruncated, "no mark of the end"},
		{"a stream without its end", stream[:len(stream)-8], Options{}, converters.ErrTruncated, "no mark of the end"},
		{"a cut message", stream[:len(stream)-20], Options{}, converters.ErrTruncated, "are left"},
		{"two streams", append(bytes.Clone(stream), stream...), Options{}, converters.ErrMalformed, "follow the end"},
		{"an end alone", []byte{255, 255, 255, 255, 0, 0, 0, 0}, Options{}, converters.ErrTruncated, "no schema"},
		{"no schema", stream[binary.LittleEndian.Uint32(stream[4:])+8:], Options{}, converters.ErrMalformed, "does not begin with a schema"},
		{"text", []byte("a,b\n1,2\n"), Options{}, converters.ErrMalformed, "not an Arrow stream"},
		{"Feather of version 1", []byte("FEA1\x00\x00\x00\x00"), Options{}, converters.ErrUnsupported, "Feather of version 1"},
		{"a cut file", file[:len(file)-1], Options{}, converters.ErrTruncated, "does not end with ARROW1"},
		{"a file of its first bytes", []byte("ARROW1\x00\x00"), Options{}, converters.ErrTruncated, "8 bytes"},
		{"a long footer", append(file[:len(file)-10:len(file)-10], "\xff\xff\xff\x00ARROW1"...), Options{}, converters.ErrMalformed, "a footer of 16777215 bytes"},
		{"a batch that the footer lost", without(file), Options{}, converters.ErrMalformed, "names no message in the"},
		{"big-endian", big, Options{}, converters.ErrUnsupported, "big-endian"},
		{"intervals", empty(ar.FixedWidthTypes.MonthInterval), Options{}, converters.ErrUnsupported, `column "x" has intervals`},
		{"unions", empty(ar.SparseUnionOf([]ar.Field{{Name: "a", Type: ar.PrimitiveTypes.Int8}}, []ar.UnionTypeCode{0})), Options{}, converters.ErrUnsupported, `column "x" has unions`},
		{"runs", empty(ar.RunEndEncodedOf(ar.PrimitiveTypes.Int32, ar.PrimitiveTypes.Int8)), Options{}, converters.ErrUnsupported, `column "x" has runs`},
		{"a view of lists beyond the elements", replaced(views, int32s(1, 0, 0, 3, 2), int32s(1, 0, 0, 4, 2)), Options{}, converters.ErrMalformed, "a list of 0 elements at 4 of 3"},
		{"a view of lists that is too long", replaced(views, int32s(2, 3, 0, 0, 1), int32s(2, 4, 0, 0, 1)), Options{}, converters.ErrMalformed, "a list of 4 elements at 0 of 3"},
		{"a view of lists before the elements", replaced(views, int32s(1, 0, 0, 3, 2), int32s(-1, 0, 0, 3, 2)), Options{}, converters.ErrMalformed, "at -1 of 3"},
		{"a view of lists of less than none", replaced(views, int32s(2, 3, 0, 0, 1), int32s(2, -3, 0, 0, 1)), Options{}, converters.ErrMalformed, "a list of -3 elements"},
		{"a deep schema", empty(deep), Options{}, converters.ErrLimit, "nests deeper"},
		{"a dictionary in a dictionary", nestedWords(), Options{}, converters.ErrUnsupported, "a dictionary in a dictionary"},
		{"a column twice", arrowtest.Write(arrowtest.Stream, arrowtest.Plain, batchOf(append(column("a", ar.BinaryTypes.String), column("a", ar.BinaryTypes.String)...), texts("a", "b").Column(0), texts("a", "b").Column(0))), Options{}, converters.ErrDuplicate, `"a"`},
		{"a key of numbers", arrowtest.Write(arrowtest.Stream, arrowtest.Plain, batchOf(column("__key__", ar.PrimitiveTypes.Int8), numbers.NewArray())), Options{}, converters.ErrUnsupported, "is not text"},
		{"a key that is null", arrowtest.Write(arrowtest.Stream, arrowtest.Plain, batchOf(column("__key__", ar.BinaryTypes.String), null)), Options{}, converters.ErrMalformed, "a key that is null"},
		{"text that is not UTF-8", replaced(stream, "eleven", "elev\xffn"), Options{}, converters.ErrMalformed, "not UTF-8"},
		{"offsets that go back", replaced(stream, int32s(0, 3, 8, 14), int32s(0, 9, 8, 14)), Options{}, converters.ErrMalformed, "offsets 9 and 8"},
		{"an offset before the bytes", replaced(stream, int32s(0, 3, 8, 14), int32s(-1, 3, 8, 14)), Options{}, converters.ErrMalformed, "an offset of -1"},
		{"an offset beyond the bytes", replaced(stream, int32s(0, 3, 8, 14), int32s(0, 3, 8, 1<<30)), Options{}, converters.ErrMalformed, "an offset of 1073741824 into"},
		{"an index beyond the dictionary", replaced(arrowtest.Write(arrowtest.Stream, arrowtest.Plain, batchOf(column("w", words), word.NewArray())), int32s(0, 1, 2, 1), int32s(0, 1, 3, 1)), Options{}, converters.ErrMalformed, "index 3 into a dictionary of 3"},
		{"two equal keys of a map", arrowtest.Write(arrowtest.Stream, arrowtest.Plain, batchOf(column("m", ar.MapOf(ar.BinaryTypes.String, ar.PrimitiveTypes.Int8)), pairs.NewArray())), Options{}, converters.ErrDuplicate, "key k of a map"},
		{"zstd that is none", replaced(packed, int32s(6000, 0)+"\x28\xb5", int32s(6000, 0)+"\x28\xb6"), Options{}, converters.ErrMalformed, "does not decompress"},
		{"zstd that says 2 GB", replaced(packed, int32s(6000, 0)+"\x28\xb5", int32s(1<<31-1, 0)+"\x28\xb5"), Options{MaxBatch: 1 << 40}, converters.ErrMalformed, "does not decompress"},
		{"zstd that says less than nothing", replaced(packed, int32s(6000, 0)+"\x28\xb5", int32s(6000, -1)+"\x28\xb5"), Options{}, converters.ErrMalformed, "a compressed buffer becomes -"},
		{"a batch over the limit", packed, Options{MaxBatch: 5999}, converters.ErrLimit, "a buffer of 6000 bytes"},
		{"a value over the limit", stream, Options{MaxValue: 5}, converters.ErrLimit, "a value of 6 bytes"},
		{"fields that share their children", shared(30), Options{}, converters.ErrMalformed, "more fields than bytes"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			_, err := contents(t, row.data, row.opts)
			var at *converters.Error
			if !errors.Is(err, row.kind) || !strings.Contains(fmt.Sprint(err), row.text) {
				t.Fatalf("error %v, want %v with %q", err, row.kind, row.text)
			}
			if !errors.As(err, &at) || at.Where != "part-0.arrow" || at.Off < 0 || at.Entry == "" || strings.Contains(err.Error(), "\n") {
				t.Errorf("error without a place: %+v", at)
			}
			if errors.Is(err, converters.ErrLimit) && !strings.HasPrefix(at.Hint, "option max-") && row.name != "a deep schema" {
				t.Errorf("the hint %q", at.Hint)
			}
		})
	}
}

// without is a file of two batches whose footer says that it has one.
func without(file []byte) []byte {
	file = bytes.Clone(file)
	f := footerOf(file)
	binary.LittleEndian.PutUint32(f.Bytes[batchesOf(f)-4:], 1)
	return file
}

// footerOf is the footer of a file, of which it shares the bytes.
func footerOf(file []byte) flatbuffers.Table {
	b := file[len(file)-10-int(binary.LittleEndian.Uint32(file[len(file)-10:])) : len(file)-10]
	return flatbuffers.Table{Bytes: b, Pos: flatbuffers.GetUOffsetT(b)}
}

// batchesOf is where the list of batches of a footer begins, behind its length.
func batchesOf(f flatbuffers.Table) flatbuffers.UOffsetT {
	return f.Vector(flatbuffers.UOffsetT(f.Offset(10)))
}

// Some writers align the first message to 64 bytes.
func TestAligned(t *testing.T) {
	t.Parallel()
	file := arrowtest.Write(arrowtest.File, arrowtest.Plain, texts("s", "one", "two"), texts("s", "three"))
	want, err := contents(t, file, Options{})
	if err != nil || len(want) != 3 {
		t.Fatal(want, err)
	}
	file = slices.Concat(file[:8], make([]byte, 56), file[8:])
	f := footerOf(file)
	for i := range f.VectorLen(flatbuffers.UOffsetT(f.Offset(10))) {
		block := batchesOf(f) + flatbuffers.UOffsetT(24*i)
		binary.LittleEndian.PutUint64(f.Bytes[block:], uint64(f.GetInt64(block)+56))
	}
	rows, err := contents(t, file, Options{})
	if err != nil || !slices.EqualFunc(rows, want, slices.Equal) {
		t.Errorf("%v, want %v; %v", rows, want, err)
	}
	if _, err := contents(t, without(file), Options{}); !errors.Is(err, converters.ErrMalformed) {
		t.Errorf("without a batch: %v", err)
	}
}

// nestedWords is a stream of a dictionary of lists of words of another dictionary.
func nestedWords() []byte {
	words := &ar.DictionaryType{IndexType: ar.PrimitiveTypes.Int8, ValueType: ar.BinaryTypes.String}
	b := build.NewListBuilder(memory.DefaultAllocator, words)
	b.Append(true)
	if err := b.ValueBuilder().(*build.BinaryDictionaryBuilder).AppendString("a"); err != nil {
		panic(err)
	}
	index := build.NewInt8Builder(memory.DefaultAllocator)
	index.Append(0)
	typ := &ar.DictionaryType{IndexType: ar.PrimitiveTypes.Int8, ValueType: ar.ListOf(words)}
	return arrowtest.Write(arrowtest.Stream, arrowtest.Plain, batchOf([]ar.Field{{Name: "x", Type: typ}}, build.NewDictionaryArray(typ, index.NewArray(), b.NewArray())))
}

// shared is a stream of a schema in which each field has the next one twice: 2³⁰ fields in a few bytes.
func shared(levels int) []byte {
	b := flatbuffers.NewBuilder(0)
	b.StartObject(7)
	field := b.EndObject()
	twice := func() flatbuffers.UOffsetT {
		b.StartVector(4, 2, 4)
		b.PrependUOffsetT(field)
		b.PrependUOffsetT(field)
		return b.EndVector(2)
	}
	for range levels {
		children := twice()
		b.StartObject(7)
		b.PrependUOffsetTSlot(5, children, 0)
		field = b.EndObject()
	}
	fields := twice()
	b.StartObject(4)
	b.PrependUOffsetTSlot(1, fields, 0)
	schema := b.EndObject()
	b.StartObject(5)
	b.PrependByteSlot(1, 1, 0)
	b.PrependUOffsetTSlot(2, schema, 0)
	b.Finish(b.EndObject())
	return append(binary.LittleEndian.AppendUint32([]byte{255, 255, 255, 255}, uint32(len(b.FinishedBytes()))), b.FinishedBytes()...)
}

// No cut of a file or a stream is accepted, and no changed byte makes more than an error, or other values of as many rows.
func TestDamaged(t *testing.T) {
	t.Parallel()
	images := []arrowtest.Image{{Data: []byte{1, 2, 3}, Path: "a.jpg", Label: 1}, {Data: []byte{}, Label: -1}, {Data: []byte{5}, Path: "c", Label: 1 << 40}}
	for _, how := range [][2]string{{arrowtest.Stream, arrowtest.Plain}, {arrowtest.File, arrowtest.Plain}, {arrowtest.Stream, arrowtest.LZ4}, {arrowtest.File, arrowtest.Zstd}} {
		t.Run(how[0]+how[1], func(t *testing.T) {
			t.Parallel()
			data := arrowtest.Write(how[0], how[1], arrowtest.Batches(images, 2)...)
			want, err := contents(t, data, Options{})
			if err != nil || len(want) != len(images) {
				t.Fatal(want, err)
			}
			for n := range data {
				if rows, err := contents(t, data[:n], Options{}); err == nil {
					t.Errorf("cut to %d of %d bytes: %d rows", n, len(data), len(rows))
				}
			}
			step := 1
			if testing.Short() || how[1] != arrowtest.Plain { // decompressors take their time to begin
				step = 3
			}
			for bit := 0; bit < 8*len(data); bit += step {
				changed := bytes.Clone(data)
				changed[bit/8] ^= 1 << (bit % 8)
				rows, err := contents(t, changed, Options{MaxBatch: 1 << 20, MaxValue: 1 << 20})
				var placed *converters.Error
				switch {
				case err == nil && len(rows) != len(want):
					t.Errorf("bit %d changed: %d rows", bit, len(rows))
				case err != nil && (!errors.As(err, &placed) || placed.Where == "" || placed.Off < 0):
					t.Errorf("bit %d changed: no place: %v", bit, err)
				}
			}
		})
	}
}

// No bytes make a source panic, or allocate more than they warrant; Index and Read agree.
func FuzzArrow(f *testing.F) {
	images := []arrowtest.Image{{Data: []byte{1, 2, 3}, Path: "a.jpg", Label: 1}, {Data: []byte{}, Label: -1}}
	for _, form := range []string{arrowtest.Stream, arrowtest.File} {
		for _, codec := range []string{arrowtest.Plain, arrowtest.LZ4, arrowtest.Zstd} {
			f.Add(arrowtest.Write(form, codec, arrowtest.Batches(images, 1)...))
		}
	}
	f.Add(shared(30))
	views := ar.ListViewOf(ar.BinaryTypes.String)
	f.Add(arrowtest.Write(arrowtest.Stream, arrowtest.Plain, batchOf([]ar.Field{{Name: "x", Type: views, Nullable: true}}, viewOf(views, texts("s", "one", "two", "three").Column(0)))))
	f.Add(nestedWords())
	f.Fuzz(func(t *testing.T, data []byte) {
		parts, open := convertertest.InMemory(".arrow", data)
		var s *source
		var err error
		n := int64(0)
		fuzz.WantAllocated(t, 2*columns.MostWindow+32<<20+1000*len(data), func() {
			n = 0
			if s, err = openSource(parts, Options{MaxBatch: 1 << 20, MaxValue: 1 << 20}, open); err != nil {
				return
			}
			for _, err = range s.Index(t.Context(), 0) {
				if n++; err != nil || n > 1000 {
					break
				}
			}
		})
		if err != nil || n > 1000 {
			return
		}
		read := int64(0)
		for _, err := range s.Read(t.Context(), converters.Run{Count: n}) {
			if err != nil {
				t.Fatalf("Index has %d rows, Read: %v", n, err)
			}
			read++
		}
		if read != n {
			t.Fatalf("Index has %d rows, Read %d", n, read)
		}
	})
}
