package encode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/decode"
	"github.com/ffconvert/ffconvert/internal/place"
	"github.com/ffconvert/ffconvert/internal/test/arrowjs"
)

// A maker makes values that are alike, or null.
type maker func() any

// randomMaker makes a maker of lists and maps up to some depth.
func randomMaker(r *rand.Rand, depth int) maker {
	kinds := 7
	if depth > 0 {
		kinds = 11
	}
	var make maker
	switch kind := r.IntN(kinds); kind {
	case 0:
		return func() any { return nil }
	case 1:
		make = func() any { return r.IntN(2) == 0 }
	case 2:
		make = func() any { return randomInt(r) }
	case 3:
		make = func() any { return uint64(math.MaxUint64 - r.Uint64N(100)) }
	case 4:
		make = func() any { return randomFloat(r) }
	case 5:
		make = func() any { return randomText(r) }
	case 6:
		make = func() any { return randomBytes(r) }
	case 7, 8:
		of := randomMaker(r, depth-1)
		make = func() any {
			list := []any{}
			for range r.IntN(4) {
				list = append(list, of())
			}
			return list
		}
	case 9: // the same keys
		of := slices.Repeat([]maker{nil}, r.IntN(4))
		for i := range of {
			of[i] = randomMaker(r, depth-1)
		}
		make = func() any {
			m := converters.Map{}
			for i, value := range of {
				m = append(m, converters.Pair{Key: fmt.Sprint("f", i), Value: value()})
			}
			return m
		}
	case 10: // other keys each
		of := randomMaker(r, depth-1)
		make = func() any {
			m := converters.Map{}
			for i := range r.IntN(4) {
				m = append(m, converters.Pair{Key: int64(i + 10*r.IntN(10)), Value: of()})
			}
			return m
		}
	}
	return func() any {
		if r.IntN(6) == 0 {
			return nil
		}
		return make()
	}
}

// Lists and maps are columns that the decoder, Arrow's reader in Go and apache-arrow in JavaScript read; and the bytes of a
// record are those that Arrow's writer makes of what its reader reads.
func TestArrowNested(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(21, 0))
	opts := Options{Encoding: "arrow"}
	enc, dec := newEncoder(t, opts), newRecordDecoder(t, opts)
	var all []byte
	var want [][]string
	for i := range 400 {
		s := &converters.Sample{Key: "k", Fields: []converters.Field{{Name: "n", Value: converters.Int(int64(i))}}}
		for j := range 1 + r.IntN(3) {
			s.Fields = append(s.Fields, converters.Field{Name: fmt.Sprint("v", j), Value: converters.ValueOf(randomMaker(r, 3)())})
		}
		record := encodeBoth(t, enc, s)
		got, err := dec.Decode(record)
		if err != nil || canonSample(got) != canonSample(s) {
			t.Fatalf("%v\ngot  %.2000s\nwant %.2000s", err, canonSample(got), canonSample(s))
		}
		if again := encodeBoth(t, enc, got); !bytes.Equal(again, record) {
			t.Fatalf("another record:\n%x\nwant\n%x", again, record)
		}
		if again := rewritten(t, record); !bytes.Equal(again, record) {
			t.Fatalf("Arrow writes\n%x\nwant\n%x", again, record)
		}
		all = append(binary.LittleEndian.AppendUint32(all, uint32(len(record))), record...)
		want = append(want, append([]string{converters.KeyField + ":" + "t6b"}, arrowjs.Row(s)[1:]...))
	}
	path := filepath.Join(t.TempDir(), "records")
	if err := os.WriteFile(path, all, 0o600); err != nil {
		t.Fatal(err)
	}
	a := arrowjs.Streams(t, path)
	if a.Error != "" || len(a.Rows) != len(want) {
		t.Fatalf("apache-arrow reads %d of %d records: %s", len(a.Rows), len(want), a.Error)
	}
	for i := range want {
		if !slices.Equal(a.Rows[i], want[i]) {
			t.Fatalf("record %d: apache-arrow reads\n%.2000q, want\n%.2000q", i, a.Rows[i], want[i])
		}
	}
}

// rewritten is a record, read and written by Arrow.
func rewritten(t *testing.T, record []byte) []byte {
	t.Helper()
	r, err := ipc.NewReader(bytes.NewReader(record))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	if !r.Next() {
		t.Fatal("no batch", r.Err())
	}
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(r.Schema()))
	if err := w.Write(r.Record()); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestArrowNestedEdges(t *testing.T) {
	t.Parallel()
	m := func(pairs ...any) converters.Map {
		m := converters.Map{}
		for i := 0; i < len(pairs); i += 2 {
			m = append(m, converters.Pair{Key: pairs[i], Value: pairs[i+1]})
		}
		return m
	}
	list := func(all ...any) []any { return append([]any{}, all...) }
	deep := func(n int) (x any) {
		for range n {
			x = list(x)
		}
		return x
	}
	for _, row := range []struct {
		name   string
		value  any
		schema string
		err    string // what it is refused with
		floats any    // the value with floats in place of integers
	}{
		{name: "an empty list", value: list(), schema: "list<item: null, nullable>"},
		{name: "an empty map", value: m(), schema: "struct<>"},
		{name: "maps with the same keys", value: list(m("a", int64(1)), nil, m("a", nil)), schema: "list<item: struct<a: int64>, nullable>"},
		{name: "keys in another order", value: list(m("a", int64(1), "b", int64(2)), m("b", int64(1), "a", int64(2))), schema: "list<item: map<utf8, int64, items_nullable>, nullable>"},
		{name: "keys that some lack", value: list(m("a", int64(1)), m("b", int64(1))), schema: "list<item: map<utf8, int64, items_nullable>, nullable>"},
		{name: "integers beside floats", value: list(int64(1), 2.5, nil), schema: "list<item: float64, nullable>", floats: list(1.0, 2.5, nil)},
		{name: "many nulls", value: slices.Repeat(list(nil), decode.MostNulls+1), schema: "list<item: bool, nullable>"},
		{name: "many empty maps", value: slices.Repeat(list(m()), decode.MostNulls+1), schema: "list<item: map<null, null, items_nullable>, nullable>"},
		{name: "text beside a number", value: list("a", int64(1)), err: "arrow has no column for text beside an integer"},
		{name: "a list beside a map", value: list(list(), m()), err: "arrow has no column for a list beside a map"},
		{name: "an integer that a float would change", value: list(int64(1)<<53+1, 0.5), err: "an integer of more than 53 bits beside a float"},
		{name: "integers below 0 and above 63 bits", value: list(int64(-1), uint64(1)<<63), err: "an integer below 0 beside one of 64 bits"},
		{name: "other keys, and values that are not alike", value: list(m("a", int64(1)), m("b", "x")), err: "which have other keys each"},
		{name: "a null key", value: m(nil, int64(1)), err: "a key that is null"},
		{name: "too deep", value: deep(100), err: "nested more than 60 deep"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := &converters.Sample{Fields: []converters.Field{{Name: "a", Value: converters.Nested(row.value)}}}
			if row.err != "" {
				_, err := newEncoder(t, Options{Encoding: "arrow"}).Encode(s)
				if err == nil || !strings.Contains(err.Error(), row.err) || !strings.Contains(place.HintOf(err), "option encode msgpack") {
					t.Errorf("error %v (%s), want %q", err, place.HintOf(err), row.err)
				}
				return
			}
			record := encodeBoth(t, newEncoder(t, Options{Encoding: "arrow"}), s)
			r, err := ipc.NewReader(bytes.NewReader(record))
			if err != nil {
				t.Fatal(err)
			}
			if got := r.Schema().Field(0).Type.String(); got != row.schema {
				t.Errorf("type %s, want %s", got, row.schema)
			}
			want := row.value
			if row.floats != nil {
				want = row.floats
			}
			got, err := newRecordDecoder(t, Options{Encoding: "arrow"}).Decode(record)
			if err != nil || canon(got.Fields[0].Value.Any()) != canon(want) {
				t.Errorf("%v: %.300v, want %.300v", err, got, want)
			}
		})
	}
}

// Lists of values without bytes, and nesting, are bounded where a record is decoded.
func TestArrowNestedLimits(t *testing.T) {
	t.Parallel()
	x := any(int64(1))
	for range 40 {
		x = []any{x}
	}
	record := encodeBoth(t, newEncoder(t, Options{Encoding: "arrow"}), &converters.Sample{Fields: []converters.Field{{Name: "a", Value: converters.Nested(x)}}})
	if _, err := newRecordDecoder(t, Options{Encoding: "arrow"}).Decode(record); !errors.Is(err, converters.ErrLimit) || !strings.Contains(place.HintOf(err), "max-decode-depth") {
		t.Errorf("nested 40 deep: %v", err)
	}
	a := arrowForm{}
	a.node(1, 0)
	a.buffer(nil)
	a.buffer([]byte{0, 0, 0, 0, 255, 255, 255, 127}) // a list of 2³¹−1 nulls
	a.node(math.MaxInt32, math.MaxInt32)
	hostile := hostileRecord(t, &a)
	if _, err := newRecordDecoder(t, Options{Encoding: "arrow"}).Decode(hostile); !errors.Is(err, converters.ErrUnsupported) || !strings.Contains(err.Error(), "take no bytes") {
		t.Errorf("2 billion nulls: %v", err)
	}
	big := slices.Repeat([]any{"0123456789"}, 100)
	record = encodeBoth(t, newEncoder(t, Options{Encoding: "arrow"}), &converters.Sample{Fields: []converters.Field{{Name: "a", Value: converters.Nested(big)}}})
	opts := Options{Encoding: "arrow", Limits: decode.Limits{MaxDecode: 1000}}
	if _, err := newRecordDecoder(t, opts).Decode(record); !errors.Is(err, converters.ErrLimit) {
		t.Errorf("1,400 bytes of a list: %v", err)
	}
}

// hostileRecord is a record of a column of a list of nulls.
func hostileRecord(t *testing.T, a *arrowForm) []byte {
	t.Helper()
	a.add("a", arrow.ListOf(arrow.Null))
	a.meta = flatbuffers.NewBuilder(0)
	var b Builder
	if err := a.batch(&b); err != nil {
		t.Fatal(err)
	}
	return b.Written
}
