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

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/decode"
	"github.com/ffconvert/ffconvert/internal/test/need"
)

func newRecordDecoder(t testing.TB, opts Options) *decode.Decoder {
	t.Helper()
	d, err := decode.New(opts.Encoding, opts.Limits)
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
