package encode

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/place"
)

// Debian 12 has no pyarrow, so Arrow's reader in Go is what reads these records. It is no
// part of the writer: it parses the messages anew.

// arrowRows reads a stream of one record batch: the names and types of its columns, and its
// values by column, then row.
func arrowRows(t *testing.T, data []byte) (schema []string, columns [][]any) {
	t.Helper()
	r, err := ipc.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Schema().Fields() {
		schema = append(schema, f.Name+" "+f.Type.String())
		columns = append(columns, []any{})
	}
	for r.Next() {
		for i, column := range r.Record().Columns() {
			for row := range column.Len() {
				columns[i] = append(columns[i], arrowValue(column, row))
			}
		}
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return schema, columns
}

func arrowValue(column arrow.Array, row int) any {
	if column.IsNull(row) {
		return nil
	}
	switch c := column.(type) {
	case *array.Null:
		return nil
	case *array.Int64:
		return c.Value(row)
	case *array.Uint64:
		return c.Value(row)
	case *array.Float64:
		return c.Value(row)
	case *array.Float32:
		return float64(c.Value(row))
	case *array.Boolean:
		return c.Value(row)
	case *array.String:
		return strings.Clone(c.Value(row))
	case *array.Binary:
		return bytes.Clone(c.Value(row))
	}
	return fmt.Sprintf("? %T", column)
}

func TestArrowRoundTrip(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(8, 0))
	enc := newEncoder(t, Options{Encoding: "arrow"})
	for i := range randomSamples {
		s := randomSample(r, false)
		for j := range s.Fields {
			if r.IntN(8) == 0 {
				s.Fields[j].Value = converters.Nested([]any{nil, true, false, uint64(math.MaxUint64), "text", []byte("bytes"), int64(-1), 0.5}[r.IntN(8)])
			}
		}
		record := encodeBoth(t, enc, s)
		if again := rewritten(t, record); !bytes.Equal(again, record) {
			t.Fatalf("Arrow writes\n%x\nwant\n%x", again, record)
		}
		_, columns := arrowRows(t, record)
		var got []string
		if s.Key != "" {
			got = append(got, canon(converters.KeyField)+"="+canon(columns[0][0]))
			columns = columns[1:]
		}
		for j, f := range s.Fields {
			got = append(got, canon(f.Name)+"="+canon(columns[j][0]))
		}
		if got := strings.Join(got, ";"); got != canonSample(s) {
			t.Fatalf("sample %d:\ngot  %.2000s\nwant %.2000s", i, got, canonSample(s))
		}
	}
}

func TestArrowTable(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(9, 0))
	enc := newEncoder(t, Options{Encoding: "arrow"})
	for i := range randomSamples {
		s := &converters.Sample{}
		rows := max(1, r.IntN(80)-40) // often one
		if r.IntN(10) == 0 {
			rows = 0
		}
		var want []string
		for j := range 1 + r.IntN(6) {
			c := randomColumn(r, rows)
			name := fmt.Sprintf("c%d", j)
			s.Fields = append(s.Fields, converters.Field{Name: name, Value: converters.Nested(c)})
			want = append(want, name+" "+map[string]string{"bool": "bool", "str": "utf8"}[c.Type]+strings.TrimRight(c.Type, "bolstr"))
		}
		data := encodeBoth(t, enc, s)
		schema, columns := arrowRows(t, data)
		if !slices.Equal(schema, want) {
			t.Fatalf("sample %d: schema %q, want %q", i, schema, want)
		}
		for j, f := range s.Fields {
			if got, want := canon(columns[j]), canon(f.Value.Nested()); got != want {
				t.Fatalf("sample %d, column %d:\ngot  %.2000s\nwant %.2000s", i, j, got, want)
			}
		}
		if again := encodeBoth(t, enc, s); !bytes.Equal(again, data) {
			t.Fatalf("sample %d: two encodings differ", i)
		}
		var arrows Builder
		if err := (&arrowForm{}).rows(&arrows, s, rows); err != nil || !bytes.Equal(arrows.Written, data) {
			t.Fatalf("sample %d, %d rows: Arrow writes\n%x, %v, want\n%x", i, rows, arrows.Written, err, data)
		}
	}
}

// The schema of a record does not depend on the lengths or on what is null, so records of
// one dataset can be joined.
func TestArrowSchema(t *testing.T) {
	t.Parallel()
	enc := newEncoder(t, Options{Encoding: "arrow"})
	schema := func(s *converters.Sample) *arrow.Schema {
		r, err := ipc.NewReader(bytes.NewReader(encodeBoth(t, enc, s)))
		if err != nil {
			t.Fatal(err)
		}
		return r.Schema()
	}
	column := func(values ...any) *converters.Sample {
		return &converters.Sample{Fields: []converters.Field{{Name: "a", Value: converters.Nested(converters.Column{Type: "int64", Values: values})}}}
	}
	if a, b := schema(column(int64(1))), schema(column(nil, nil)); !a.Equal(b) || !a.Field(0).Nullable {
		t.Errorf("%v and %v", a, b)
	}
	long := &converters.Sample{Key: "key", Fields: []converters.Field{field("a", strings.Repeat("x", 1000))}}
	if a, b := schema(long), schema(&converters.Sample{Key: "k", Fields: []converters.Field{field("a", "")}}); !a.Equal(b) {
		t.Errorf("%v and %v", a, b)
	}
}

// The record of a shape has the size of that of the sample, at every padding.
func TestArrowSizes(t *testing.T) {
	t.Parallel()
	enc := newEncoder(t, Options{Encoding: "arrow"})
	big := make([]byte, 3<<20)
	sizes := []int{65_535, 65_536, 65_537, 1<<20 + 1, 3 << 20}
	for n := range 131 {
		sizes = append(sizes, n)
	}
	for _, n := range sizes {
		for _, m := range []int{0, 63, 100} {
			for _, key := range []string{"", "k", strings.Repeat("k", n%67+1)} {
				encodeBoth(t, enc, &converters.Sample{Key: key, Fields: []converters.Field{
					{Name: "a", Value: converters.Bytes(big[:n])},
					{Name: "b", Value: converters.Bytes(big[:m])}, // the same bytes as a
					{Name: "c", Value: converters.Int(0)},
				}})
			}
		}
	}
	// Only columns without a body: lengths of 0 where there are no defaults in the way.
	for _, x := range []any{nil, converters.Column{Type: "int64"}, converters.Column{Type: "str", Values: []any{nil, nil}}} {
		encodeBoth(t, enc, &converters.Sample{Fields: []converters.Field{{Name: "a", Value: converters.Nested(x)}}})
	}
	// Unread payloads cost nothing, whatever their size.
	rec, err := enc.Encode(&converters.Sample{Fields: []converters.Field{{Name: "a", Value: converters.Opaque(math.MaxInt32)}}})
	if err != nil || rec.Size < math.MaxInt32 || rec.Size > math.MaxInt32+1000 {
		t.Errorf("size %d, %v", rec.Size, err)
	}
}

// A payload is handed on where it lies.
func TestPayloadNotCopied(t *testing.T) {
	t.Parallel()
	payload, other := bytes.Repeat([]byte("x"), 1000), bytes.Repeat([]byte("y"), 1000)
	s := &converters.Sample{Key: "k", Fields: []converters.Field{
		{Name: "jpg", Value: converters.Bytes(payload)}, {Name: "txt", Value: converters.Text(other)}, {Name: "again", Value: converters.Bytes(payload)},
	}}
	for _, encoding := range []string{"msgpack", "cbor", "pickle", "arrow", "raw:jpg"} {
		rec, err := newEncoder(t, Options{Encoding: encoding}).Encode(s)
		if err != nil {
			t.Fatal(err)
		}
		var found []byte
		for _, p := range rec.Parts {
			if &p[0] == &payload[0] || &p[0] == &other[0] {
				found = append(found, p[0])
			}
		}
		want := "xyx"
		if encoding == "raw:jpg" {
			want = "x"
		}
		if string(found) != want {
			t.Errorf("%s: the payloads are pieces %q", encoding, found)
		}
	}
}

func TestArrowRefuses(t *testing.T) {
	t.Parallel()
	column := func(kind string, values ...any) converters.Value {
		return converters.Nested(converters.Column{Type: kind, Values: values})
	}
	text := slices.Repeat([]any{strings.Repeat("x", 1<<16)}, 1<<15) // 2 GiB, in few bytes
	for _, row := range []struct {
		name   string
		key    string
		values []converters.Value
		want   error // nil: a mistake of ours
		text   string
	}{
		{"2 GiB", "", []converters.Value{converters.Opaque(1 << 31)}, converters.ErrLimit, "2 GiB"},
		{"2 GiB of text in a column", "", []converters.Value{column("str", text...)}, converters.ErrLimit, "option rows-per-sample"},
		{"a list of this and that", "", []converters.Value{converters.Nested([]any{"a", int64(1)})}, converters.ErrUnsupported, "option encode msgpack"},
		{"a column and a value", "", []converters.Value{column("int64"), converters.Int(1)}, nil, "internal error"},
		{"a value and a column", "", []converters.Value{converters.Int(1), column("int64")}, nil, "internal error"},
		{"columns that differ in length", "", []converters.Value{column("int64", int64(1)), column("int64")}, nil, "internal error"},
		{"columns with a key", "k", []converters.Value{column("int64")}, nil, "internal error"},
		{"an unknown type", "", []converters.Value{column("int8")}, nil, "internal error"},
		{"a value of another type", "", []converters.Value{column("int64", "x")}, nil, "row 0 is a string"},
		{"a value of another type, of two", "", []converters.Value{column("int64", int64(1), "x")}, nil, "row 1 is a string"},
		{"an unknown type of one row", "", []converters.Value{column("int8", int64(1))}, nil, "internal error"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := &converters.Sample{Key: row.key}
			for i, v := range row.values {
				s.Fields = append(s.Fields, converters.Field{Name: fmt.Sprint(i), Value: v})
			}
			_, err := newEncoder(t, Options{Encoding: "arrow"}).Encode(s)
			if err == nil || row.want != nil && !errors.Is(err, row.want) || !strings.Contains(err.Error()+place.HintOf(err), row.text) {
				t.Errorf("error %v; want %v with %q", err, row.want, row.text)
			}
		})
	}
}
