package encode

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/decode"
	"github.com/ffconvert/ffconvert/internal/place"
)

// Encode decodes by the names of the input, and only what ends up in the record.
func TestEncodeDecodes(t *testing.T) {
	t.Parallel()
	s := &converters.Sample{Key: "k", Fields: []converters.Field{
		field("jpg", "JPEG"), field("cls", "7"), field("json", `{"a": [1]}`), field("bad.txt", "\xff"),
		{Name: "a.cls", Value: converters.Int(3)}, {Name: "b.txt", Value: converters.Nested(nil)},
	}}
	for _, row := range []struct {
		name string
		opts Options
		want string // as canonSample says it
		err  error
	}{
		{"off", Options{Fields: "cls"}, "cls=b37", nil},
		{"on", Options{Fields: "jpg,cls,json"}, "jpg=b4a504547;cls=i7;json={s61:[i1]}", nil},
		{"renamed to what is not decodable", Options{Fields: "label", Rename: []string{"label=cls"}}, "label=i7", nil},
		{"renamed to what is", Options{Fields: "cls", Rename: []string{"x=cls", "cls=jpg"}}, "cls=b4a504547", nil},
		{"bad, not kept", Options{Fields: "cls"}, "cls=i7", nil},
		{"bad, kept", Options{}, "", converters.ErrMalformed},
		{"bad, renamed", Options{Rename: []string{"x=bad.txt"}}, "", converters.ErrMalformed},
		{"values already", Options{Fields: "a.cls,b.txt"}, "a.cls=i3;b.txt=n", nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			row.opts.Decode = row.name != "off"
			rec, err := newEncoder(t, row.opts).Encode(s)
			if !errors.Is(err, row.err) {
				t.Fatalf("error %v, want %v", err, row.err)
			}
			if row.err != nil {
				if !strings.Contains(err.Error(), `field "bad.txt": malformed: it is not UTF-8 at byte 0`) {
					t.Errorf("error %v", err)
				}
				return
			}
			dec := msgpack.NewDecoder(bytes.NewReader(slices.Concat(rec.Parts...)))
			n, _ := dec.DecodeMapLen()
			var got []string
			for range n {
				name, _ := dec.DecodeString()
				x, err := dec.DecodeInterface()
				if err != nil {
					t.Fatal(err)
				}
				if name != converters.KeyField {
					got = append(got, name+"="+canon(unordered(x)))
				}
			}
			if got := strings.Join(got, ";"); got != row.want {
				t.Errorf("got %s, want %s", got, row.want)
			}
		})
	}
}

// raw takes text that was decoded, and decodes nothing but its field.
func TestDecodeRaw(t *testing.T) {
	t.Parallel()
	s := &converters.Sample{Fields: []converters.Field{field("txt", "grüß"), field("json", "{")}}
	rec, err := newEncoder(t, Options{Encoding: "raw:txt", Decode: true}).Encode(s)
	if err != nil || string(slices.Concat(rec.Parts...)) != "grüß" {
		t.Errorf("%q, %v", rec.Parts, err)
	}
}

// A shape must carry the bytes of fields that are decoded; over the limit it need not.
func TestDecodeShape(t *testing.T) {
	t.Parallel()
	enc := newEncoder(t, Options{Decode: true})
	for name, want := range map[string]string{"json": "internal error", "jpg": ""} {
		_, err := enc.Encode(&converters.Sample{Fields: []converters.Field{{Name: name, Value: converters.Opaque(10)}}})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := enc.Encode(&converters.Sample{Fields: []converters.Field{{Name: "json", Value: converters.Opaque(decode.DefaultMaxDecode + 1)}}})
	if !errors.Is(err, converters.ErrLimit) || !strings.HasSuffix(place.HintOf(err), "without option decode it stays bytes") {
		t.Errorf("%v", err)
	}
	for _, data := range []string{"", strings.Repeat("x", decode.DefaultMaxDecode+1)} {
		if _, err := enc.Encode(&converters.Sample{Fields: []converters.Field{field("txt", data)}}); err != nil {
			t.Errorf("%d bytes of text: %v", len(data), err)
		}
	}
}

// The options are part of a plan.
func TestOptionsJSON(t *testing.T) {
	t.Parallel()
	for opts, want := range map[string]Options{
		`{"encoding":"cbor","decode":true}`: {Encoding: "cbor", Decode: true},
		`{"encoding":"raw"}`:                {Encoding: "raw"},
	} {
		got, err := json.Marshal(want)
		if err != nil || string(got) != opts {
			t.Errorf("%s, want %s", got, opts)
		}
	}
}
