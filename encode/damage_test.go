package encode

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/decode"
	"github.com/ffconvert/ffconvert/internal/test/picturetest"
)

// Damage is looked for in the fields of a record, by their names before they are renamed, where their bytes are known.
func TestDamaged(t *testing.T) {
	t.Parallel()
	whole := picturetest.JPEG(picturetest.Picture())
	cut := whole[:len(whole)-2]
	sample := func(fields ...any) *converters.Sample {
		s := &converters.Sample{Key: "k"}
		for i := 0; i < len(fields); i += 2 {
			f := converters.Field{Name: fields[i].(string)}
			switch v := fields[i+1].(type) {
			case []byte:
				f.Value = converters.Bytes(v)
			case string:
				f.Value = converters.Text([]byte(v))
			case int:
				f.Value = converters.Opaque(int64(v))
			}
			s.Fields = append(s.Fields, f)
		}
		return s
	}
	recordOf := func(encoding string, fields ...any) []byte {
		rec, err := newEncoder(t, Options{Encoding: encoding}).Encode(sample(fields...))
		if err != nil {
			t.Fatal(err)
		}
		return slices.Concat(rec.Parts...)
	}
	for _, row := range []struct {
		name   string
		opts   Options
		sample *converters.Sample
		want   []string
	}{
		{"whole", Options{}, sample("jpg", whole, "cls", []byte("3")), nil},
		{"cut", Options{}, sample("cls", []byte("3"), "jpg", cut), []string{"jpg"}},
		{"two", Options{}, sample("jpg", cut, "png", []byte{}), []string{"jpg", "png"}},
		{"no suffix", Options{}, sample("image", cut), []string{"image"}},
		{"renamed", Options{Rename: []string{"image=jpg"}}, sample("jpg", []byte{}), []string{"jpg"}},
		{"left out", Options{Fields: "cls"}, sample("jpg", cut, "cls", []byte("3")), nil},
		{"raw", Options{Encoding: "raw:jpg"}, sample("png", []byte{}, "jpg", cut), []string{"jpg"}},
		{"text", Options{}, sample("json", "{"), nil},
		{"sizes alone", Options{}, sample("jpg", 7), nil},
		{"copies", Options{Encoding: "msgpack", Encoded: true}, sample("record", []byte("\x80"), "jpg", cut), nil},
		{"a record", Options{Encoding: "msgpack", Encoded: true}, sample("record", recordOf("msgpack", "jpg", cut, "png", []byte{}), "cls", 3), []string{"jpg", "png"}},
		{"a record of another encoding", Options{Encoding: "cbor", Encoded: true}, sample("record", recordOf("msgpack", "jpg", cut)), nil},
		{"a whole record", Options{Encoding: "cbor", Encoded: true}, sample("record", recordOf("cbor", "jpg", whole)), nil},
		{"CBOR", Options{Encoding: "cbor", Encoded: true}, sample("record", recordOf("cbor", "txt", []byte("x"), "jpg", cut)), []string{"jpg"}},
		{"a pickle", Options{Encoding: "pickle", Encoded: true}, sample("record", recordOf("pickle", "jpg", cut)), []string{"jpg"}},
		{"a tuple", Options{Encoding: "pickle:txt,image", Encoded: true}, sample("record", recordOf("pickle:txt,image", "txt", []byte("x"), "image", cut)), []string{"image"}},
		{"Arrow", Options{Encoding: "arrow", Encoded: true}, sample("record", recordOf("arrow", "jpg", cut)), []string{"jpg"}},
		{"a record that is a field", Options{Encoding: "raw:jpg;png", Encoded: true}, sample("record", []byte{}), []string{"jpg"}},
		{"opaque", Options{Encoding: "raw"}, sample("record", cut), []string{"record"}},
		{"opaque, a map", Options{Encoding: "raw"}, sample("record", recordOf("msgpack", "jpg", cut)), []string{"jpg"}},
		{"an item", Options{Encoding: "raw"}, sample("item", recordOf("cbor", "jpg", cut)), []string{"jpg"}},
		{"an item of any length", Options{Encoding: "raw"}, sample("item", []byte("\xbf\x63jpg\x41x\x61b\xc1\x01\xff")), []string{"jpg"}},
		{"an item that is no map", Options{Encoding: "raw"}, sample("item", []byte("\x43jpg")), nil},
		{"an empty item", Options{Encoding: "raw"}, sample("item", []byte{}), nil},
		{"bytes that look like a map", Options{Encoding: "raw"}, sample("row", recordOf("msgpack", "jpg", cut)), nil},
		{"a record of which the size is known", Options{Encoding: "msgpack", Encoded: true}, sample("record", 7), nil},
	} {
		for _, damaged := range []string{"", DamagedKeep, DamagedSkip, DamagedError} {
			opts := row.opts
			opts.Damaged = damaged
			decodes := opts.Encoded && (strings.HasPrefix(opts.Encoding, "pickle") || opts.Encoding == "arrow")
			enc := newEncoder(t, opts)
			_, err := enc.Encode(row.sample)
			refuses := len(row.want) > 0 && (damaged == DamagedSkip || damaged == DamagedError)
			if refuses {
				if want := map[string]error{DamagedSkip: ErrSkipDamaged, DamagedError: errNotWhole}[damaged]; !errors.Is(err, want) || errors.Is(err, ErrSkip) != (damaged == DamagedSkip) {
					t.Errorf("%s, %q: %v, want %v", row.name, damaged, err, want)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s, %q: %v", row.name, damaged, err)
				continue
			}
			var got []string
			for _, d := range enc.Damaged(row.sample) {
				got = append(got, d.Field)
			}
			if !slices.Equal(got, row.want) && !(decodes && got == nil) {
				t.Errorf("%s, %q: %q, want %q", row.name, damaged, got, row.want)
			}
		}
	}
	if _, err := Parse(Options{Damaged: "drop"}); err == nil {
		t.Error("an unknown word is accepted")
	}
	for _, word := range []string{DamagedSkip, DamagedError} {
		if opts := (Options{Damaged: word}); !opts.Loads("jpg") {
			t.Errorf("--damaged %s does not read", word)
		}
	}
	if opts := (Options{Damaged: DamagedKeep}); opts.Loads("jpg") {
		t.Error("--damaged keep reads while it indexes")
	}
}

// The fields that are found in a record are those that its decoder finds; in one that is cut there are none.
func TestInside(t *testing.T) {
	t.Parallel()
	for i, encoding := range []string{"msgpack", "cbor"} {
		opts := Options{Encoding: encoding}
		r := rand.New(rand.NewPCG(31, uint64(i)))
		enc, dec, in := newEncoder(t, opts), newRecordDecoder(t, opts), decode.NewInside(encoding, decode.Limits{}, false)
		look := func(record []byte) (all []string) {
			for _, f := range in(&converters.Field{Name: recordName, Value: converters.Bytes(record)}) {
				all = append(all, f.Name+"="+string(f.Value.Data()))
			}
			return all
		}
		for range 500 {
			record := encodeBoth(t, enc, randomSample(r, true))
			s, err := dec.Decode(record)
			if err != nil {
				t.Fatal(err)
			}
			var want []string
			for _, f := range s.Fields {
				if f.Value.Kind() == converters.KindBytes {
					want = append(want, f.Name+"="+string(f.Value.Data()))
				}
			}
			if got := look(record); !slices.Equal(got, want) {
				t.Fatalf("%s: %x\ngot  %q\nwant %q", encoding, record, got, want)
			}
			if got := look(append(record, 0)); got != nil {
				t.Fatalf("%s: %q in what is too long", encoding, got)
			}
			if at := r.IntN(len(record)); at > 0 {
				if got := look(record[:at:at]); got != nil {
					t.Fatalf("%s: %x, cut at %d: %q", encoding, record, at, got)
				}
				record[r.IntN(at)] = byte(r.Uint32())
				look(record) // whatever it is, it ends
			}
		}
	}
}
