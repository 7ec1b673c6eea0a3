package encode

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/need"
)

func newRecordDecoder(t testing.TB, opts Options) *Decoder {
	t.Helper()
	d, err := NewDecoder(opts)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A record decodes to the sample that was encoded, whose encoding is the same bytes.
func TestDecoderInverse(t *testing.T) {
	t.Parallel()
	for i, encoding := range []string{"msgpack", "cbor", "pickle", "arrow"} {
		t.Run(encoding, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(11, uint64(i)))
			opts := Options{Encoding: encoding}
			enc, dec := newEncoder(t, opts), newRecordDecoder(t, opts)
			for range 5 * randomSamples {
				s := randomSample(r, encoding != "arrow")
				if encoding == "arrow" && r.IntN(2) == 0 {
					s = randomTable(r)
				}
				record := encodeBoth(t, enc, s)
				got, err := dec.Decode(record)
				if err != nil {
					t.Fatalf("%v\n%x", err, record)
				}
				if !ofOneRow(s) && canonSample(got) != canonSample(s) {
					t.Fatalf("got  %.2000s\nwant %.2000s", canonSample(got), canonSample(s))
				}
				if again := encodeBoth(t, enc, got); !bytes.Equal(again, record) {
					t.Fatalf("another record:\n%x\nwant\n%x", again, record)
				}
			}
		})
	}
}

// ofOneRow reports whether a sample is a table of one row, which has the same record as a sample of its values.
func ofOneRow(s *converters.Sample) bool {
	if len(s.Fields) == 0 {
		return false
	}
	c, ok := s.Fields[0].Value.Nested().(converters.Column)
	return ok && len(c.Values) == 1
}

// randomTable makes a sample of columns, of one row now and then.
func randomTable(r *rand.Rand) *converters.Sample {
	s, rows := &converters.Sample{}, r.IntN(4)
	for i := range 1 + r.IntN(4) {
		s.Fields = append(s.Fields, converters.Field{Name: fmt.Sprint(i), Value: converters.Nested(randomColumn(r, rows))})
	}
	return s
}

func TestDecoderRaw(t *testing.T) {
	t.Parallel()
	for encoding, field := range map[string]string{"raw": RawField, "raw:jpg": "jpg", "raw:jpg;png": "jpg"} {
		s, err := newRecordDecoder(t, Options{Encoding: encoding}).Decode([]byte("bytes"))
		if err != nil || s.Key != "" || len(s.Fields) != 1 || s.Fields[0].Name != field || string(s.Fields[0].Value.Data()) != "bytes" {
			t.Errorf("%s: %+v, %v", encoding, s, err)
		}
	}
}

// A tuple is what Python's pickle writes of it, to the byte but for the frame, and decodes to the fields that it was made of.
func TestTuple(t *testing.T) {
	t.Parallel()
	need.Time(t, "the same records in Python")
	py := startPython(t, 't')
	field := func(name string, v converters.Value) converters.Field { return converters.Field{Name: name, Value: v} }
	s := &converters.Sample{Key: "k", Fields: []converters.Field{
		field("cls", converters.Int(7)), field("jpg", converters.Bytes(bytes.Repeat([]byte("x"), 300))), field("txt", converters.Text([]byte("grün"))),
		field("x", converters.Float(-1.5)), field("boxes", converters.Nested([]any{int64(-1), nil, true})), field("empty", converters.Bytes(nil)),
	}}
	jpg := "b'" + strings.Repeat("x", 300) + "'"
	for encoding, want := range map[string]string{
		"pickle:cls":                        "(7,)",
		"pickle:jpg,cls":                    "(" + jpg + ", 7)",
		"pickle:webp;jpg,txt;cls,empty":     "(" + jpg + ", 'grün', b'')",
		"pickle:x,cls,txt,empty":            "(-1.5, 7, 'grün', b'')",
		"pickle:txt,boxes,x,cls,jpg":        "('grün', [-1, None, True], -1.5, 7, " + jpg + ")",
		"pickle:jpg,cls,txt,x,boxes,empty":  "(" + jpg + ", 7, 'grün', -1.5, [-1, None, True], b'')",
		"pickle:empty,boxes,x,txt,jpg,cls ": "",
	} {
		enc := newEncoder(t, Options{Encoding: encoding})
		rec, err := enc.Encode(s)
		if want == "" {
			if !errors.Is(err, ErrMissing) {
				t.Errorf("%s: %v", encoding, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		record, size := slices.Concat(rec.Parts...), rec.Size
		if shape, err := enc.Encode(shapeOf(s)); err != nil || shape.Size != size || size != int64(len(record)) {
			t.Errorf("%s: %d bytes of %d, the shape has %d, %v", encoding, len(record), size, shape.Size, err)
		}
		var got [2]string
		if py.Ask(record, &got); got != [2]string{want, fmt.Sprintf("%x", record)} {
			t.Errorf("%s: %x in Python: %q\nwant %s", encoding, record, got, want)
		}
		decoded, err := newRecordDecoder(t, Options{Encoding: encoding}).Decode(record)
		if err != nil || decoded.Key != "" {
			t.Fatalf("%s: %v, key %q", encoding, err, decoded.Key)
		}
		for i, c := range enc.fields.only {
			if decoded.Fields[i].Name != c[0] {
				t.Errorf("%s: field %d is %q", encoding, i, decoded.Fields[i].Name)
			}
		}
		if again, err := enc.Encode(decoded); err != nil || !bytes.Equal(slices.Concat(again.Parts...), record) {
			t.Errorf("%s: encoded again: %v, %x", encoding, err, again.Parts)
		}
	}
}

// Bytes and text of fields lie in the record. A field name that the last record had costs nothing.
func TestDecoderAllocs(t *testing.T) {
	for _, encoding := range []string{"msgpack", "cbor"} {
		opts := Options{Encoding: encoding}
		record := encodeBoth(t, newEncoder(t, opts), image())
		dec := newRecordDecoder(t, opts)
		s, err := dec.Decode(record)
		if jpg := s.Fields[0].Value.Data(); err != nil || !bytes.Contains(record, jpg) || &jpg[0] != &record[bytes.Index(record, jpg)] {
			t.Errorf("%s: a payload was copied, or %v", encoding, err)
		}
		if n := testing.AllocsPerRun(100, func() { dec.Decode(record) }); n > 1 { // the key
			t.Errorf("%s: %v allocations", encoding, n)
		}
	}
}

func TestDecoderRefuses(t *testing.T) {
	t.Parallel()
	deep := func(open, end string) string { return strings.Repeat(open, 40) + "\x01" + strings.Repeat(end, 40) }
	for _, row := range []struct {
		name, encoding, record string
		want                   error
		text                   string
	}{
		{"empty", "msgpack", "", converters.ErrMalformed, "not a map in MessagePack"},
		{"a list", "msgpack", "\x90", converters.ErrMalformed, "not a map in MessagePack"},
		{"cut", "msgpack", "\x81\xa1a", converters.ErrMalformed, "ends too early"},
		{"cut payload", "msgpack", "\x81\xa1a\xc6\xff\xff\xff\xffx", converters.ErrMalformed, "ends too early"},
		{"four billion fields", "msgpack", "\xdf\xff\xff\xff\xff\xa1a", converters.ErrMalformed, "ends too early"},
		{"bytes after the end", "msgpack", "\x81\xa1a\x01\x02", converters.ErrMalformed, "1 bytes follow"},
		{"a field twice", "msgpack", "\x82\xa1a\x01\xa1a\x02", converters.ErrMalformed, `"a" comes twice`},
		{"a name that is a number", "msgpack", "\x81\x01\x01", converters.ErrUnsupported, "name of a field"},
		{"a name that is not UTF-8", "msgpack", "\x81\xa1\xff\x01", converters.ErrMalformed, "UTF-8"},
		{"text that is not UTF-8", "msgpack", "\x81\xa1a\xa1\xff", converters.ErrMalformed, "UTF-8"},
		{"an extension", "msgpack", "\x81\xa1a\xd4\x01\x02", converters.ErrUnsupported, "extension"},
		{"too deep", "msgpack", "\x81\xa1a" + deep("\x91", ""), converters.ErrLimit, "32 deep"},
		{"a key after a field", "msgpack", "\x82\xa1a\x01\xa7__key__\xa1k", converters.ErrUnsupported, "after a field"},
		{"a list", "cbor", "\x80", converters.ErrMalformed, "not a map in CBOR"},
		{"cut", "cbor", "\xa1\x61a", converters.ErrMalformed, "CBOR"},
		{"8 EiB", "cbor", "\xa1\x61a\x5b\x7f\xff\xff\xff\xff\xff\xff\xff", converters.ErrMalformed, "CBOR"},
		{"bytes after the end", "cbor", "\xa0\x00", converters.ErrMalformed, "CBOR"},
		{"a field twice", "cbor", "\xa2\x61a\x01\x61a\x02", converters.ErrMalformed, `"a" comes twice`},
		{"a tag", "cbor", "\xa1\x61a\xc0\x61b", converters.ErrUnsupported, "tag"},
		{"a name in pieces", "cbor", "\xa1\x7f\x61a\xff\x01", converters.ErrUnsupported, "name of a field"},
		{"too deep", "cbor", "\xa1\x61a" + deep("\x81", ""), converters.ErrLimit, "32 deep"},
		{"another protocol", "pickle", "\x80\x02}(u.", converters.ErrMalformed, "protocol 4"},
		{"of Python", "pickle", "\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00}\x94\x8c\x01a\x94K\x01s.", converters.ErrMalformed, "not a pickle of plain data as ffconvert writes it: opcode 0x95"},
		{"a list", "pickle", "\x80\x04](e.", converters.ErrMalformed, "not a map in pickle"},
		{"os.system", "pickle", "\x80\x04}(\x8c\x01acos\nsystem\nu.", converters.ErrMalformed, "opcode 0x63"},
		{"cut", "pickle", "\x80\x04}(\x8c\x01aB\xff\xff\xff\xff", converters.ErrMalformed, "too early"},
		{"bytes after the end", "pickle", "\x80\x04}(u.x", converters.ErrMalformed, "follow"},
		{"no end", "pickle", "\x80\x04}(u", converters.ErrMalformed, "too early"},
		{"a list that ends a dict", "pickle", "\x80\x04}(\x8c\x01a}(eu.", converters.ErrMalformed, "where a value is expected"},
		{"too deep", "pickle", "\x80\x04}(\x8c\x01a" + strings.Repeat("](", 40) + strings.Repeat("e", 40) + "u.", converters.ErrLimit, "32 deep"},
		{"a dict", "pickle:a", "\x80\x04}(u.", converters.ErrMalformed, "no tuple of 1"},
		{"one value of two", "pickle:a,b", "\x80\x04K\x01\x85.", converters.ErrMalformed, "opcode 0x85"},
		{"three values of two", "pickle:a,b", "\x80\x04K\x01K\x02K\x03\x87.", converters.ErrMalformed, "no tuple of 2"},
		{"the tuple of another length", "pickle:a,b", "\x80\x04K\x01K\x02\x87.", converters.ErrMalformed, "no tuple of 2"},
		{"a tuple in a tuple", "pickle:a,b", "\x80\x04K\x01K\x02\x86K\x02\x86.", converters.ErrMalformed, "not a pickle of plain data"},
		{"a tuple in a list", "pickle:a", "\x80\x04](K\x01\x85e\x85.", converters.ErrMalformed, "opcode 0x85"},
		{"a call in a tuple", "pickle:a", "\x80\x04cos\nsystem\n\x8c\x04true\x85R\x85.", converters.ErrMalformed, "opcode 0x63"},
		{"four values without a mark", "pickle:a,b,c,d", "\x80\x04K\x01K\x01K\x01K\x01t.", converters.ErrMalformed, "no tuple of 4"},
		{"a cut tuple", "pickle:a,b", "\x80\x04K\x01K\x02", converters.ErrMalformed, "too early"},
		{"bytes after a tuple", "pickle:a", "\x80\x04K\x01\x85.x", converters.ErrMalformed, "follow"},
		{"too deep in a tuple", "pickle:a", "\x80\x04" + strings.Repeat("](", 40) + strings.Repeat("e", 40) + "\x85.", converters.ErrLimit, "32 deep"},
		{"text", "arrow", "hello, world", converters.ErrMalformed, "Arrow"},
		{"nothing", "arrow", "", converters.ErrMalformed, "Arrow"},
	} {
		t.Run(row.encoding+"/"+row.name, func(t *testing.T) {
			t.Parallel()
			s, err := newRecordDecoder(t, Options{Encoding: row.encoding}).Decode([]byte(row.record))
			if s != nil || !errors.Is(err, row.want) || !strings.Contains(err.Error(), row.text) {
				t.Errorf("%v, error %v; want %v with %q", s, err, row.want, row.text)
			}
		})
	}
}

// A list of a few bytes an element is refused before it takes a hundred times as much memory.
func TestDecoderLimit(t *testing.T) {
	t.Parallel()
	opts := Options{Limits: Limits{MaxDecode: 1000}}
	for encoding, record := range map[string]string{
		"msgpack": "\x81\xa1a\xdc\x04\x00" + strings.Repeat("\x90", 1024),
		"cbor":    "\xa1\x61a\x99\x04\x00" + strings.Repeat("\x80", 1024),
		"pickle":  "\x80\x04}(\x8c\x01a](" + strings.Repeat("](e", 1024) + "eu.",
	} {
		opts.Encoding = encoding
		_, err := newRecordDecoder(t, opts).Decode([]byte(record))
		if !errors.Is(err, converters.ErrLimit) || !strings.Contains(Hint(err), "MaxDecode") {
			t.Errorf("%s: %v", encoding, err)
		}
		opts := opts
		opts.Limits.MaxDecode = 4000
		if _, err := newRecordDecoder(t, opts).Decode([]byte(record)); err != nil {
			t.Errorf("%s, with the limit raised: %v", encoding, err)
		}
	}
}

// Any flip of a bit in an Arrow record gives an error or a sample, in little memory.
func TestDecoderArrowFlips(t *testing.T) {
	t.Parallel()
	opts := Options{Encoding: "arrow"}
	record := encodeBoth(t, newEncoder(t, opts), image())
	dec := newRecordDecoder(t, opts)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	refused := 0
	for bit := range 8 * len(record) {
		flipped := slices.Clone(record)
		flipped[bit/8] ^= 1 << (bit % 8)
		if _, err := dec.Decode(flipped); err != nil {
			refused++
		}
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / uint64(8*len(record)); each > 1<<20 {
		t.Errorf("%d bytes are allocated for a record of %d", each, len(record))
	}
	if refused < len(record) {
		t.Errorf("%d of %d flips are refused", refused, 8*len(record))
	}
}

// Maps of other writers: longer heads than needed, keys in any order but the first.
func TestDecoderForeign(t *testing.T) {
	t.Parallel()
	data, err := msgpack.Marshal(map[string]any{"a": float32(1.5)})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		encoding, record, want string
	}{
		{"msgpack", string(data), canon("a") + "=" + canon(1.5)},
		{"msgpack", "\xde\x00\x01\xd9\x01a\xd3\x00\x00\x00\x00\x00\x00\x00\x07", canon("a") + "=" + canon(int64(7))},
		{"cbor", "\xbf\x61a\x5f\x41x\x41y\xff\xff", canon("a") + "=" + canon([]byte("xy"))},
		{"cbor", "\xb8\x01\x78\x01a\xf9\x3c\x00", canon("a") + "=" + canon(1.0)},
	} {
		s, err := newRecordDecoder(t, Options{Encoding: row.encoding}).Decode([]byte(row.record))
		if err != nil || canonSample(s) != row.want {
			t.Errorf("%x: %v, %v", row.record, s, err)
		}
	}
}

// FuzzDecoder decodes any bytes. What is a sample has one encoding, which decodes to the same sample.
func FuzzDecoder(f *testing.F) {
	encodings := []string{"msgpack", "cbor", "pickle", "arrow", "pickle:a,b", "pickle:a,b,c,d"}
	r := rand.New(rand.NewPCG(12, 0))
	for i, encoding := range encodings {
		if _, _, tuple := strings.Cut(encoding, ":"); tuple {
			f.Add(byte(i), []byte("\x80\x04K\x01C\x01x\x86."))
			f.Add(byte(i), []byte("\x80\x04(K\x01C\x01x](eNt."))
			continue
		}
		for range 4 {
			rec, err := newEncoder(f, Options{Encoding: encoding}).Encode(randomSample(r, encoding != "arrow"))
			if err != nil {
				f.Fatal(err)
			}
			f.Add(byte(i), slices.Concat(rec.Parts...))
		}
	}
	f.Fuzz(func(t *testing.T, which byte, record []byte) {
		opts := Options{Encoding: encodings[int(which)%len(encodings)]}
		dec := newRecordDecoder(t, opts)
		s, err := dec.Decode(record)
		if err != nil {
			return
		}
		want := canonSample(s)
		rec, err := newEncoder(t, opts).Encode(s)
		if err != nil {
			t.Fatalf("a decoded sample is refused: %v", err)
		}
		again, err := newRecordDecoder(t, opts).Decode(slices.Concat(rec.Parts...))
		if err != nil || canonSample(again) != want {
			t.Fatalf("%v\ngot  %s\nwant %s", err, canonSample(again), want)
		}
	})
}

func BenchmarkDecoder(b *testing.B) {
	for _, encoding := range []string{"msgpack", "cbor", "pickle", "arrow", "raw:jpg"} {
		b.Run(encoding, func(b *testing.B) {
			opts := Options{Encoding: encoding}
			rec, err := newEncoder(b, opts).Encode(image())
			if err != nil {
				b.Fatal(err)
			}
			record, dec := slices.Concat(rec.Parts...), newRecordDecoder(b, opts)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := dec.Decode(record); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
