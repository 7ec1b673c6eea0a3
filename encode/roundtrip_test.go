package encode

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ffconvert/ffconvert/decode"
	"github.com/ffconvert/ffconvert/internal/test/need"

	"github.com/fxamacker/cbor/v2"
	"github.com/vmihailenco/msgpack/v5"

	"github.com/ffconvert/ffconvert/converters"
)

const randomSamples = 200

// encodeBoth encodes s, and s as an index has it, which must have the same size.
func encodeBoth(t *testing.T, enc *Encoder, s *converters.Sample) []byte {
	t.Helper()
	rec, err := enc.Encode(s)
	if err != nil {
		t.Fatal(err)
	}
	data, size, fields := slices.Concat(rec.Parts...), rec.Size, rec.Fields // the next call makes another record of it
	if size != int64(len(data)) || fields != len(s.Fields) {
		t.Fatalf("size %d, %d fields; want %d, %d", rec.Size, rec.Fields, len(data), len(s.Fields))
	}
	shape, err := enc.Encode(shapeOf(s))
	if err != nil || shape.Size != size || shape.Fields != fields {
		t.Fatalf("the shape encodes to %d bytes, %d fields, %v; the sample to %d, %d", shape.Size, shape.Fields, err, size, fields)
	}
	return data
}

// What every reader of a map reads: the format's library in Go, and that of Python.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	need.Time(t, "the same records in Python")
	for _, row := range []struct {
		encoding string
		python   byte
		read     func([]byte) (any, error) // nil: there is no library in Go
	}{
		{"msgpack", 'm', func(b []byte) (any, error) {
			dec := msgpack.NewDecoder(bytes.NewReader(b))
			dec.SetMapDecoder(func(d *msgpack.Decoder) (any, error) { return d.DecodeUntypedMap() })
			return dec.DecodeInterface()
		}},
		{"cbor", 'c', func(b []byte) (x any, err error) { return x, cbor.Unmarshal(b, &x) }},
		{"pickle", 'p', nil},
	} {
		t.Run(row.encoding, func(t *testing.T) {
			t.Parallel()
			py := startPython(t, row.python)
			r := rand.New(rand.NewPCG(4, uint64(row.python)))
			enc := newEncoder(t, Options{Encoding: row.encoding})
			for i := range randomSamples {
				s := randomSample(r, true)
				data := encodeBoth(t, enc, s)
				var got string
				if py.Ask(data, &got); got != canonSample(s) {
					t.Fatalf("sample %d, Python:\ngot  %.2000s\nwant %.2000s", i, got, canonSample(s))
				}
				if row.read != nil {
					x, err := row.read(data)
					if want := canon(unordered(mapOf(s))); err != nil || canon(x) != want {
						t.Fatalf("sample %d: %v\ngot  %.2000s\nwant %.2000s", i, err, canon(x), want)
					}
				}
				describes(t, row.encoding, data, s)
			}
		})
	}
}

func mapOf(s *converters.Sample) converters.Map {
	var m converters.MapBuilder
	if s.Key != "" {
		m.Add(converters.KeyField, s.Key)
	}
	for _, f := range s.Fields {
		m.Add(f.Name, f.Value.Any())
	}
	return m.Map()
}

// describes checks that Describe knows the record of s, unless that is empty or a pickle.
func describes(t *testing.T, encoding string, data []byte, s *converters.Sample) {
	t.Helper()
	key, fields, ok := decode.Describe(data)
	known := encoding != "pickle" && (s.Key != "" || len(s.Fields) > 0)
	if ok != known || known && (key != s.Key || !slices.Equal(namesOf(fields), fieldNames(s))) {
		t.Fatalf("%s: described as %q, %v, %v", encoding, key, fields, ok)
	}
}

// The values of floats, raw, are what numpy reads.
func TestRawNumpy(t *testing.T) {
	t.Parallel()
	py := startPython(t, 'r')
	r := rand.New(rand.NewPCG(5, 0))
	enc := newEncoder(t, Options{Encoding: "raw"})
	for range 50 {
		var row []any
		var packed []byte
		for range r.IntN(20) {
			x := randomFloat(r)
			row = append(row, x)
			packed = binary.LittleEndian.AppendUint64(packed, math.Float64bits(x))
		}
		data := encodeBoth(t, enc, &converters.Sample{Fields: []converters.Field{{Name: "row", Value: converters.Bytes(packed)}}})
		var got string
		if py.Ask(data, &got); got != canon(row) {
			t.Fatalf("got  %s\nwant %s", got, canon(row))
		}
	}
}

// A pickle builds data and does nothing else.
func TestPickleOpcodes(t *testing.T) {
	t.Parallel()
	need.Time(t, "the same records in Python")
	allowed := []string{
		"PROTO", "STOP", "MARK", "NONE", "NEWTRUE", "NEWFALSE", "BININT", "BININT1", "BININT2", "LONG1", "BINFLOAT",
		"SHORT_BINUNICODE", "BINUNICODE", "SHORT_BINBYTES", "BINBYTES", "EMPTY_LIST", "APPENDS", "EMPTY_DICT", "SETITEMS",
	}
	py := startPython(t, 'o')
	r := rand.New(rand.NewPCG(6, 0))
	enc := newEncoder(t, Options{Encoding: "pickle"})
	seen := map[string]bool{}
	for range 100 {
		var ops []string
		py.Ask(encodeBoth(t, enc, randomSample(r, true)), &ops)
		for i, op := range ops {
			if !slices.Contains(allowed, op) || (op == "STOP") != (i == len(ops)-1) || (op == "PROTO") != (i == 0) {
				t.Fatalf("opcode %d is %s", i, op)
			}
			seen[op] = true
		}
	}
	if len(seen) != len(allowed) {
		t.Errorf("only %d of %d opcodes were tried", len(seen), len(allowed))
	}
}

// The bytes of a record depend on the values alone.
func TestDeterministic(t *testing.T) {
	t.Parallel()
	for _, encoding := range []string{"msgpack", "cbor", "pickle"} {
		enc := newEncoder(t, Options{Encoding: encoding})
		var first []byte
		for range 5 {
			r := rand.New(rand.NewPCG(7, 0))
			var all []byte
			for range 20 {
				all = append(all, encodeBoth(t, enc, randomSample(r, true))...)
			}
			if first == nil {
				first = all
			}
			if !bytes.Equal(all, first) {
				t.Fatalf("%s: two encodings of one sample differ", encoding)
			}
		}
	}
}

// Nested maps keep the order of their source, in each encoding and from each kind of field:
// JSON, MessagePack and CBOR that say {"b": {"z": 1, "a": 2}, "aa": 3, "": 4}.
func TestNestedOrder(t *testing.T) {
	t.Parallel()
	for _, field := range []struct{ name, data string }{
		{"m.json", `{"b": {"z": 1, "a": 2}, "aa": 3, "": 4}`},
		{"m.mp", "\x83\xa1b\x82\xa1z\x01\xa1a\x02\xa2aa\x03\xa0\x04"},
		{"m.cbor", "\xa3\x61b\xa2\x61z\x01\x61a\x02\x62aa\x03\x60\x04"},
		{"m.cbor", "\xbf\x61b\xbf\x61z\x01\x61a\x02\xff\x62aa\x03\x60\x04\xff"},
	} {
		s := &converters.Sample{Fields: []converters.Field{{Name: field.name, Value: converters.Bytes([]byte(field.data))}}}
		for encoding, want := range map[string]string{
			"msgpack": "\x81\xa1m\x83\xa1b\x82\xa1z\x01\xa1a\x02\xa2aa\x03\xa0\x04",
			"cbor":    "\xa1\x61m\xa3\x61b\xa2\x61z\x01\x61a\x02\x62aa\x03\x60\x04",
			"pickle":  "\x80\x04}(\x8c\x01m}(\x8c\x01b}(\x8c\x01zK\x01\x8c\x01aK\x02u\x8c\x02aaK\x03\x8c\x00K\x04uu.",
		} {
			enc := newEncoder(t, Options{Encoding: encoding, Decode: true, Rename: []string{"m=" + field.name}})
			if rec, err := enc.Encode(s); err != nil || string(slices.Concat(rec.Parts...)) != want {
				t.Errorf("%q as %s: error %v\ngot  %q\nwant %q", field.data, encoding, err, rec.Parts, want)
			}
		}
	}
	mixed := &converters.Sample{Fields: []converters.Field{{Name: "m.mp", Value: converters.Bytes([]byte("\x83\xcd\x01\x2c\x05\xff\x06\xa1a\x07"))}}}
	rec, err := newEncoder(t, Options{Decode: true}).Encode(mixed)
	if err != nil || string(slices.Concat(rec.Parts...)) != "\x81\xa4m.mp\x83\xcd\x01\x2c\x05\xff\x06\xa1a\x07" {
		t.Errorf("keys that are not text: error %v, got %q", err, rec.Parts)
	}
}

// Every number and length at which a head grows is written as the libraries write it.
func TestHeads(t *testing.T) {
	t.Parallel()
	check := func(what string, n int64, got, want []byte, err error) {
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s %d: %x, want %x, %v", what, n, got, want, err)
		}
	}
	for shift := range 64 {
		p := int64(1) << shift
		for _, n := range []int64{p - 2, p - 1, p, p + 1, p + p/2, -p - 1, -p, -p + 1} {
			var b bytes.Buffer
			lib := msgpack.NewEncoder(&b)
			err := lib.EncodeInt(n)
			check("msgpack int", n, msgpackSyntax(nil, tokenInt, uint64(n)), b.Bytes(), err)
			want, err := cbor.Marshal(n)
			check("cbor int", n, cborSyntax(nil, tokenInt, uint64(n)), want, err)
			for token, write := range map[token]func(int) error{
				tokenList: lib.EncodeArrayLen, tokenMap: lib.EncodeMapLen, tokenBytes: lib.EncodeBytesLen,
			} {
				if 0 <= n && n <= math.MaxUint32 {
					b.Reset()
					err := write(int(n))
					check("msgpack length", n, msgpackSyntax(nil, token, uint64(n)), b.Bytes(), err)
				}
			}
			if 0 <= n && n < 70_000 {
				b.Reset()
				err := lib.EncodeString(string(make([]byte, n)))
				check("msgpack text", n, msgpackSyntax(nil, tokenText, uint64(n)), b.Bytes()[:b.Len()-int(n)], err)
			}
		}
	}
}
