package decode_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/decode"
	"github.com/ffconvert/ffconvert/internal/place"
)

func newDecoder(t testing.TB, encoding string, limits decode.Limits) *decode.Decoder {
	t.Helper()
	d, err := decode.New(encoding, limits)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDecoderRaw(t *testing.T) {
	t.Parallel()
	for encoding, field := range map[string]string{"raw": decode.RawField, "raw:jpg": "jpg", "raw:jpg;png": "jpg"} {
		s, err := newDecoder(t, encoding, decode.Limits{}).Decode([]byte("bytes"))
		if err != nil || s.Key != "" || len(s.Fields) != 1 || s.Fields[0].Name != field || string(s.Fields[0].Value.Data()) != "bytes" {
			t.Errorf("%s: %+v, %v", encoding, s, err)
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
			s, err := newDecoder(t, row.encoding, decode.Limits{}).Decode([]byte(row.record))
			if s != nil || !errors.Is(err, row.want) || !strings.Contains(err.Error(), row.text) {
				t.Errorf("%v, error %v; want %v with %q", s, err, row.want, row.text)
			}
		})
	}
}

// A list of a few bytes an element is refused before it takes a hundred times as much memory.
func TestDecoderLimit(t *testing.T) {
	t.Parallel()
	limits := decode.Limits{MaxDecode: 1000}
	for encoding, record := range map[string]string{
		"msgpack": "\x81\xa1a\xdc\x04\x00" + strings.Repeat("\x90", 1024),
		"cbor":    "\xa1\x61a\x99\x04\x00" + strings.Repeat("\x80", 1024),
		"pickle":  "\x80\x04}(\x8c\x01a](" + strings.Repeat("](e", 1024) + "eu.",
	} {
		_, err := newDecoder(t, encoding, limits).Decode([]byte(record))
		if !errors.Is(err, converters.ErrLimit) || !strings.Contains(place.HintOf(err), "max-decode-size") {
			t.Errorf("%s: %v", encoding, err)
		}
		if _, err := newDecoder(t, encoding, decode.Limits{MaxDecode: 4000}).Decode([]byte(record)); err != nil {
			t.Errorf("%s, with the limit raised: %v", encoding, err)
		}
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
		encoding, record string
		want             any
	}{
		{"msgpack", string(data), 1.5},
		{"msgpack", "\xde\x00\x01\xd9\x01a\xd3\x00\x00\x00\x00\x00\x00\x00\x07", int64(7)},
		{"cbor", "\xbf\x61a\x5f\x41x\x41y\xff\xff", []byte("xy")},
		{"cbor", "\xb8\x01\x78\x01a\xf9\x3c\x00", 1.0},
	} {
		s, err := newDecoder(t, row.encoding, decode.Limits{}).Decode([]byte(row.record))
		if err != nil || s.Key != "" || len(s.Fields) != 1 || s.Fields[0].Name != "a" || !reflect.DeepEqual(s.Fields[0].Value.Any(), row.want) {
			t.Errorf("%x: %v, %v", row.record, s, err)
		}
	}
}
