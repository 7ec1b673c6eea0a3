package encode

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"github.com/vmihailenco/msgpack/v5"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/decode"
)

func field(name, data string) converters.Field {
	return converters.Field{Name: name, Value: converters.Bytes([]byte(data))}
}

// image is a sample as a WebDataset has it.
func image() *converters.Sample {
	return &converters.Sample{Key: "n01/0007", Fields: []converters.Field{
		field("jpg", "JPEG bytes"), field("png", ""), field("cls", "7"),
	}}
}

// shapeOf is the sample as an index has it.
func shapeOf(s *converters.Sample) *converters.Sample {
	shape := &converters.Sample{Key: s.Key}
	for _, f := range s.Fields {
		if f.Value.Kind() == converters.KindBytes {
			f.Value = converters.Opaque(f.Value.Len())
		}
		shape.Fields = append(shape.Fields, f)
	}
	return shape
}

func newEncoder(t testing.TB, opts Options) *Encoder {
	t.Helper()
	spec, err := Parse(opts)
	if err != nil {
		t.Fatal(err)
	}
	return spec.NewEncoder()
}

func TestEncode(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		opts   Options
		want   map[string]any // as MessagePack, key aside; nil: want raw
		raw    string
		fields int // of the three in the record
	}{
		{"all fields", Options{}, map[string]any{"jpg": []byte("JPEG bytes"), "png": []byte{}, "cls": []byte("7")}, "", 3},
		{"chosen fields", Options{Fields: "cls,jpg"}, map[string]any{"cls": []byte("7"), "jpg": []byte("JPEG bytes")}, "", 2},
		{"first that exists", Options{Fields: "webp;png;jpg"}, map[string]any{"png": []byte{}}, "", 1},
		{"rename", Options{Rename: []string{"image=jpg;png"}}, map[string]any{"image": []byte("JPEG bytes"), "cls": []byte("7")}, "", 2},
		{"rename, then choose", Options{Rename: []string{"label=cls"}, Fields: "label"}, map[string]any{"label": []byte("7")}, "", 1},
		{"swap two names", Options{Rename: []string{"x=jpg", "jpg=png", "png=x"}}, map[string]any{"png": []byte("JPEG bytes"), "jpg": []byte{}, "cls": []byte("7")}, "", 3},
		{"raw", Options{Encoding: "raw:jpg"}, nil, "JPEG bytes", 1},
		{"raw, first that exists", Options{Encoding: "raw:webp;cls"}, nil, "7", 1},
		{"raw of the only field", Options{Encoding: "raw", Fields: "cls"}, nil, "7", 1},
		{"raw of a renamed field", Options{Encoding: "raw:image", Rename: []string{"image=jpg;png"}}, nil, "JPEG bytes", 1},
		{"raw of a kept field", Options{Encoding: "raw:cls;png", Fields: "jpg,png"}, nil, "", 1},
		{"raw of an empty field", Options{Encoding: "raw:png"}, nil, "", 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			enc := newEncoder(t, row.opts)
			for range 2 { // an encoder is used again
				rec, err := enc.Encode(image())
				if err != nil {
					t.Fatal(err)
				}
				got := slices.Concat(rec.Parts...)
				if rec.Size != int64(len(got)) || rec.Fields != row.fields {
					t.Errorf("size %d, %d fields; want %d, %d", rec.Size, rec.Fields, len(got), row.fields)
				}
				shape, err := enc.Encode(shapeOf(image())) // it makes another record of the last one
				if err != nil || shape.Size != int64(len(got)) || shape.Fields != row.fields {
					t.Errorf("the shape encodes to %+v, %v; the sample to %d bytes", shape, err, len(got))
				}
				if row.want == nil {
					if string(got) != row.raw {
						t.Errorf("got %q, want %q", got, row.raw)
					}
					continue
				}
				var m map[string]any
				if err := msgpack.Unmarshal(got, &m); err != nil {
					t.Fatal(err)
				}
				if m[converters.KeyField] != "n01/0007" {
					t.Errorf("key %v", m[converters.KeyField])
				}
				delete(m, converters.KeyField)
				if !reflect.DeepEqual(m, row.want) {
					t.Errorf("got %v, want %v", m, row.want)
				}
			}
		})
	}
}

// namesOf are the names of fields.
func namesOf(fields []decode.FieldSize) (names []string) {
	for _, f := range fields {
		names = append(names, f.Name)
	}
	return names
}

// The order of fields is that of the archive, or that of --fields.
func TestEncodeOrder(t *testing.T) {
	t.Parallel()
	for fields, want := range map[string][]string{"": {"jpg", "png", "cls"}, "cls,png": {"cls", "png"}} {
		rec, err := newEncoder(t, Options{Fields: fields}).Encode(image())
		if err != nil {
			t.Fatal(err)
		}
		key, got, ok := decode.Describe(slices.Concat(rec.Parts...))
		if !ok || key != "n01/0007" || !slices.Equal(namesOf(got), want) {
			t.Errorf("fields %q: %q %v %v", fields, key, got, ok)
		}
	}
}

func TestEncodeValues(t *testing.T) {
	t.Parallel()
	s := &converters.Sample{Key: "k", Fields: []converters.Field{
		{Name: "text", Value: converters.Text([]byte("grüß"))},
		{Name: "int", Value: converters.Int(-5)},
		{Name: "float", Value: converters.Float(0.5)},
		{Name: "nested", Value: converters.Nested(converters.Map{{Key: "b", Value: []any{true, nil}}, {Key: "a", Value: "x"}})},
	}}
	rec, err := newEncoder(t, Options{}).Encode(s)
	if err != nil {
		t.Fatal(err)
	}
	want := "\x85" + "\xa7__key__" + "\xa1k" + "\xa4text" + "\xa6grüß" + "\xa3int" + "\xfb" +
		"\xa5float" + "\xcb\x3f\xe0\x00\x00\x00\x00\x00\x00" + "\xa6nested" + "\x82\xa1b\x92\xc3\xc0\xa1a\xa1x"
	if got := string(slices.Concat(rec.Parts...)); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestEncodeRefuses(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		opts   Options
		sample *converters.Sample
		want   error
		text   string
	}{
		{"missing field", Options{Fields: "jpg,txt"}, image(), ErrMissing, "no txt"},
		{"missing raw field", Options{Encoding: "raw:webp"}, image(), ErrMissing, "no webp"},
		{"missing renamed field", Options{Rename: []string{"a=b;c"}}, image(), ErrMissing, "no b;c"},
		{"missing by its old name", Options{Rename: []string{"label=cls"}, Fields: "cls"}, image(), ErrMissing, `"label"] after renaming`},
		{"missing among the kept", Options{Encoding: "raw:jpg", Fields: "cls"}, image(), ErrMissing, `no jpg, the sample has ["cls"] after selection`},
		{"missing, skip", Options{Fields: "txt", Missing: MissingSkip}, image(), ErrSkip, ""},
		{"missing raw, skip", Options{Encoding: "raw:txt", Missing: MissingSkip}, image(), ErrSkip, ""},
		{"renamed onto another", Options{Rename: []string{"cls=jpg"}}, image(), converters.ErrDuplicate, `"cls"`},
		{"chosen twice", Options{Fields: "jpg,png;jpg,jpg"}, image(), converters.ErrDuplicate, `"jpg" is selected twice`},
		{"a field named as the key", Options{}, &converters.Sample{Key: "k", Fields: []converters.Field{field(converters.KeyField, "x")}}, converters.ErrDuplicate, converters.KeyField},
		{"over 4 GiB", Options{}, &converters.Sample{Fields: []converters.Field{{Name: "a", Value: converters.Opaque(1 << 32)}}}, converters.ErrLimit, "4 GiB"},
		{"raw of several fields", Options{Encoding: "raw"}, image(), converters.ErrUnsupported, `["jpg" "png" "cls"]; name one with raw:FIELD`},
		{"raw of several numbers", Options{Encoding: "raw"}, &converters.Sample{Fields: []converters.Field{{Name: "a", Value: converters.Float(1)}, {Name: "b", Value: converters.Nested(nil)}}}, converters.ErrUnsupported, `raw takes one field of bytes or text, this has ["a" "b"] and neither`},
		{"raw of no field", Options{Encoding: "raw"}, &converters.Sample{}, converters.ErrUnsupported, "one field"},
		{"missing in a tuple", Options{Encoding: "pickle:jpg,webp"}, image(), ErrMissing, `no webp, the sample has ["jpg" "png" "cls"]`},
		{"missing in a tuple, skip", Options{Encoding: "pickle:jpg,webp", Missing: MissingSkip}, image(), ErrSkip, ""},
		{"twice in a tuple", Options{Encoding: "pickle:webp;jpg,jpg"}, image(), converters.ErrDuplicate, `"jpg" is selected twice`},
		{"a nested value of no known type", Options{Encoding: "cbor"}, &converters.Sample{Fields: []converters.Field{{Name: "a", Value: converters.Nested([]any{int8(1)})}}}, converters.ErrUnsupported, "int8"},
		{"raw of a number", Options{Encoding: "raw:n"}, &converters.Sample{Fields: []converters.Field{{Name: "n", Value: converters.Int(1)}}}, converters.ErrUnsupported, "bytes or text"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			_, err := newEncoder(t, row.opts).Encode(row.sample)
			if !errors.Is(err, row.want) || !strings.Contains(fmt.Sprint(err), row.text) {
				t.Errorf("error %v; want %v with %q", err, row.want, row.text)
			}
		})
	}
}

// CBOR and pickles have heads for any length.
func TestEncodeHuge(t *testing.T) {
	t.Parallel()
	s := &converters.Sample{Fields: []converters.Field{{Name: "a", Value: converters.Opaque(1 << 32)}}}
	for encoding, heads := range map[string]int64{"cbor": 1 + 2 + 9, "pickle": 2 + 2 + 3 + 9 + 2, "raw": 0} {
		rec, err := newEncoder(t, Options{Encoding: encoding}).Encode(s)
		if err != nil || rec.Size != heads+1<<32 {
			t.Errorf("%s: %d bytes, %v", encoding, rec.Size, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, opts := range []Options{
		{Encoding: "pickled"}, {Encoding: "raw:"}, {Encoding: "raw:a;"}, {Encoding: "msgpack:x"}, {Encoding: "cbor:x"}, {Encoding: "arrow:"}, {Encoding: "pickle:"}, {Encoding: "pickle:a,"}, {Encoding: "pickle:a,b,a;c"},
		{Fields: ","}, {Fields: "a;;b"}, {Rename: []string{"a"}}, {Rename: []string{"=a"}}, {Rename: []string{"a="}},
		{Rename: []string{"a=b", "a=c"}}, {Missing: "maybe"},
	} {
		if _, err := Parse(opts); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("Parse(%+v) = %v", opts, err)
		}
	}
}

// Encoding costs no allocation, where no library is asked.
func TestEncodeAllocs(t *testing.T) {
	s := image()
	s.Fields = append(s.Fields,
		converters.Field{Name: "txt", Value: converters.Text([]byte(strings.Repeat("text ", 30)))},
		converters.Field{Name: "n", Value: converters.Int(-1000)},
		converters.Field{Name: "x", Value: converters.Float(0.5)})
	for _, opts := range []Options{
		{}, {Fields: "jpg,txt,cls"}, {Encoding: "raw:txt"}, {Encoding: "cbor"}, {Encoding: "pickle"},
		{Decode: true}, {Encoding: "cbor", Fields: "cls,txt", Decode: true},
	} {
		enc := newEncoder(t, opts)
		if n := testing.AllocsPerRun(100, func() { enc.Encode(s) }); n > 0 {
			t.Errorf("%+v: %v allocations a sample", opts, n)
		}
	}
}

// BenchmarkEncode encodes a small sample of three fields.
func BenchmarkEncode(b *testing.B) {
	s := &converters.Sample{Key: "0000017", Fields: []converters.Field{
		{Name: "jpg", Value: converters.Bytes(bytes.Repeat([]byte("x"), 1000))},
		{Name: "txt", Value: converters.Text([]byte("a cat on a mat"))},
		{Name: "cls", Value: converters.Int(7)},
	}}
	for _, opts := range []Options{
		{Encoding: "msgpack"}, {Encoding: "msgpack", Fields: "jpg,txt,cls"}, {Encoding: "raw:jpg"}, {Encoding: "cbor"}, {Encoding: "pickle"}, {Encoding: "arrow"},
	} {
		b.Run(strings.TrimRight(opts.Encoding+" "+opts.Fields, " "), func(b *testing.B) {
			enc := newEncoder(b, opts)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := enc.Encode(s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	for name, value := range map[string]converters.Value{"raw row": converters.Bytes(make([]byte, 16)), "raw shape": converters.Opaque(34)} {
		row := &converters.Sample{Fields: []converters.Field{{Name: "row", Value: value}}}
		b.Run(name, func(b *testing.B) {
			enc := newEncoder(b, Options{Encoding: "raw"})
			b.ReportAllocs()
			for b.Loop() {
				if _, err := enc.Encode(row); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func ExampleEncoder_Encode() {
	spec, err := Parse(Options{Encoding: "raw:txt"})
	if err != nil {
		panic(err)
	}
	rec, err := spec.NewEncoder().Encode(&converters.Sample{Key: "a", Fields: []converters.Field{
		{Name: "txt", Value: converters.Bytes([]byte("hello"))},
	}})
	fmt.Printf("%s %d %v\n", rec.Parts, rec.Size, err)
	// Output: [hello] 5 <nil>
}

// FuzzDescribe: the names that are told of any bytes are those that a library finds in them.
func FuzzDescribe(f *testing.F) {
	for _, encoding := range []string{"msgpack", "cbor"} {
		rec, _ := newEncoder(f, Options{Encoding: encoding}).Encode(image())
		f.Add(slices.Concat(rec.Parts...))
	}
	f.Add([]byte("\xdf\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, record []byte) {
		key, sized, ok := decode.Describe(record)
		fields := namesOf(sized)
		if !ok {
			if key != "" || fields != nil {
				t.Errorf("%q and %q of no record", key, fields)
			}
			return
		}
		want := make(map[string]bool)
		if record[0]>>5 == 5 {
			var entries map[string]cbor.RawMessage
			if err := cbor.Unmarshal(record, &entries); err != nil {
				t.Fatalf("%x: %v", record, err)
			}
			for name := range entries {
				want[name] = true
			}
		} else {
			var entries map[string]msgpack.RawMessage
			if err := msgpack.Unmarshal(record, &entries); err != nil {
				t.Fatalf("%x: %v", record, err)
			}
			for name := range entries {
				want[name] = true
			}
		}
		got := map[string]bool{}
		for _, name := range fields {
			got[name] = true
		}
		delete(got, converters.KeyField) // it is the key at the first place alone
		delete(want, converters.KeyField)
		if !maps.Equal(got, want) {
			t.Errorf("%x: names %q, a library has %v", record, fields, want)
		}
	})
}

// The fields that records need, for sources that can read some alone.
func TestNeeds(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		opts Options
		want [][]string
	}{
		{Options{}, nil},
		{Options{Rename: []string{"image=jpg"}}, nil},
		{Options{Encoding: "raw"}, nil},
		{Options{Encoding: "raw:jpg;png"}, [][]string{{"jpg", "png"}}},
		{Options{Fields: "jpg;png,cls"}, [][]string{{"jpg", "png"}, {"cls"}}},
		{Options{Encoding: "raw:image", Rename: []string{"image=jpg;png"}}, [][]string{{"jpg", "png"}, {"image", "jpg", "png"}}},
		{Options{Fields: "cls", Load: []string{"size"}}, [][]string{{"cls"}, {"size"}}},
		{Options{Encoding: "raw:image", Fields: "image,cls"}, [][]string{{"image"}, {"cls"}}},
	} {
		if got := row.opts.Needs(); !slices.EqualFunc(got, row.want, slices.Equal) || (got == nil) != (row.want == nil) {
			t.Errorf("%+v needs %q, want %q", row.opts, got, row.want)
		}
	}
}
