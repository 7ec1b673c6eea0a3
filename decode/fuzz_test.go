package decode_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"github.com/vmihailenco/msgpack/v5"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/decode"
	"github.com/ffconvert/ffconvert/encode"
)

// What is accepted is well-formed by another judge, and every encoding takes it.
func FuzzDecode(f *testing.F) {
	for name, data := range map[string]string{
		"json": `{"a": [1, 2.5e3, null, {"b": "\ud83d\ude00"}], "": -5}`,
		"mp":   "\x84\xa1a\x92\x01\xc4\x01x\xa0\x81\x01\xc2\xc0\xca\x00\x00\x00\x00\xcf\xff\xff\xff\xff\xff\xff\xff\xff\xd9\x01b",
		"cbor": "\xa2\x01\xbf\x61b\x18\x64\xff\x61a\x9f\x41x\xf9\x3e\x00\xff",
		"cls":  " -7\n",
		"txt":  "grüß",
		"npy":  npyHead("'<f4'", "(1,)") + "1234",
		"ten":  string(tenbinFile("f4", 2, 3)),

		"txt.gz": gzipped("grüß"),
	} {
		f.Add(name, []byte(data))
	}
	f.Add("mp", []byte("\x82\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00\x01\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00\x02")) // NaN twice
	f.Add("cbor", []byte("\xa1\xf6\x01"))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		fld := converters.Field{Name: name, Value: converters.Bytes(data)}
		v, err := decode.NewField(decode.Limits{})(&fld)
		if err != nil {
			for _, kind := range []error{converters.ErrMalformed, converters.ErrUnsupported, converters.ErrLimit} {
				if errors.Is(err, kind) {
					return
				}
			}
			t.Fatalf("an error of no kind: %v", err)
		}
		switch name[strings.LastIndexByte(name, '.')+1:] {
		case "cbor":
			if err := cbor.Wellformed(data); err != nil {
				t.Errorf("%x: %v", data, err)
			}
		case "mp":
			if err := msgpack.NewDecoder(bytes.NewReader(data)).Skip(); err != nil {
				t.Errorf("%x: %v", data, err)
			}
		}
		s := &converters.Sample{Fields: []converters.Field{{Name: "x", Value: v}}}
		for _, encoding := range []string{"msgpack", "cbor", "pickle"} {
			spec, err := encode.Parse(encode.Options{Encoding: encoding})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := spec.NewEncoder().Encode(s); err != nil && !errors.Is(err, converters.ErrDuplicate) {
				t.Errorf("%s: %v", encoding, err)
			}
		}
	})
}
