package decode_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"math"
	"os"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/decode"
	"github.com/ffconvert/ffconvert/internal/place"
)

func field(name, data string) converters.Field {
	return converters.Field{Name: name, Value: converters.Bytes([]byte(data))}
}

func decodeField(name, data string) (any, error) {
	f := field(name, data)
	v, err := decode.NewField(decode.Limits{})(&f)
	if err != nil {
		return nil, err
	}
	return v.Any(), nil
}

func gzipped(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(text))
	z.Close()
	return b.String()
}

func npyHead(descr, shape string) string {
	head := "{'descr': " + descr + ", 'fortran_order': False, 'shape': " + shape + ", }\n"
	return "\x93NUMPY\x01\x00" + string([]byte{byte(len(head)), 0}) + head
}

func TestDecodable(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"cls": true, "index": true, "txt": true, "text": true, "json": true, "mp": true, "msgpack": true, "cbor": true,
		"a.cls": true, "seg.JSON": true, "a.b.Txt": true, ".mp": true,
		"pyd": false, "pth": false, "pickle": false, "pkl": false, "jpg": false, "npy": false, "npz": false, "tenbin": false,
		"cls2": true, "inx": true, "id": true, "transcript": true, "jsn": true, "msg": true, "json.gz": true, "a.cls.GZ": true, "ten": true, "a.tb": true,
		"": false, ".": false, "cls.": false, "gz": false, ".gz": false, "jpg.gz": false, "pyd.gz": false, "json.gz.gz": false, "jsongz": false, "xcls": false, "mycbor": false,
	} {
		if decode.Decodable(name) != want {
			t.Errorf("decode.Decodable(%q) = %v", name, !want)
		}
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()
	type m = converters.Map
	pair := func(k, v any) converters.Pair { return converters.Pair{Key: k, Value: v} }
	for _, row := range []struct {
		name, data string
		want       any
	}{
		{"cls", "7", int64(7)},
		{"cls", " -007\n", int64(-7)},
		{"index", "+9223372036854775807", int64(math.MaxInt64)},
		{"a.index", "-9223372036854775808", int64(math.MinInt64)},
		{"txt", "grüß\n", "grüß\n"},
		{"cls2", "7", int64(7)},
		{"inx", "8\n", int64(8)},
		{"id", "9", int64(9)},
		{"transcript", "grüß", "grüß"},
		{"jsn", "[1]", []any{int64(1)}},
		{"msg", "\x91\x01", []any{int64(1)}},
		{"json.gz", gzipped("[1") + gzipped("]"), []any{int64(1)}},
		{"a.txt.gz", gzipped("grüß"), "grüß"},
		{"cls.gz", gzipped("7\n"), int64(7)},
		{"npy", npyHead("'<f4'", "(2, 3)") + strings.Repeat("x", 24), []byte(npyHead("'<f4'", "(2, 3)") + strings.Repeat("x", 24))},
		{"a.npy", npyHead("'<U2'", "()") + "12345678", []byte(npyHead("'<U2'", "()") + "12345678")},
		{"npy", npyHead("'<M8[ns]'", "(5, 0)"), []byte(npyHead("'<M8[ns]'", "(5, 0)"))},
		{"npy", npyHead("[('O', '<f4'), ('b', '|u1')]", "(1,)") + "12345", []byte(npyHead("[('O', '<f4'), ('b', '|u1')]", "(1,)") + "12345")},
		{"text", "", ""},
		{"json", " 5 ", int64(5)},
		{"json", "-0", int64(0)},
		{"json", "18446744073709551615", uint64(math.MaxUint64)},
		{"json", "5.0", 5.0},
		{"json", "1E2", 100.0},
		{"json", "0.1", 0.1},
		{"json", "1e-400", 0.0},
		{"json", `"a\u0041\ud83d\ude00\\ud800\""`, "aA😀\\ud800\""},
		{"json", "null", nil},
		{"json", "true", true},
		{"json", "[]", []any{}},
		{"json", "{}", m{}},
		{"meta.json", `{"a": [1, 2.5, null, {"b": "c"}], "": false}`, m{pair("a", []any{int64(1), 2.5, nil, m{pair("b", "c")}}), pair("", false)}},
		{"json", strings.Repeat("[", 32) + strings.Repeat("]", 32), nestedList(32)},
		{"mp", "\x07", int64(7)},
		{"mp", "\xff", int64(-1)},
		{"mp", "\xd0\x80", int64(-128)},
		{"mp", "\xd3\x80\x00\x00\x00\x00\x00\x00\x00", int64(math.MinInt64)},
		{"mp", "\xcc\xff", int64(255)},
		{"mp", "\xcf\xff\xff\xff\xff\xff\xff\xff\xff", uint64(math.MaxUint64)},
		{"mp", "\xcf\x00\x00\x00\x00\x00\x00\x00\x01", int64(1)},
		{"mp", "\xca\x3f\x80\x00\x00", 1.0},
		{"mp", "\xcb\x3f\xf8\x00\x00\x00\x00\x00\x00", 1.5},
		{"mp", "\xc0", nil},
		{"mp", "\xc3", true},
		{"mp", "\xc4\x02\xff\x00", []byte("\xff\x00")},
		{"mp", "\xa2ab", "ab"},
		{"mp", "\xd9\x02ab", "ab"},
		{"mp", "\x90", []any{}},
		{"mp", "\x80", m{}},
		{"msgpack", "\x82\xa1a\x92\x01\xc4\x01x\xa0\x81\x01\xc2", m{pair("a", []any{int64(1), []byte("x")}), pair("", m{pair(int64(1), false)})}},
		{"mp", "\x83\xa1a\x01\xc0\x02\xcb\x3f\xf8\x00\x00\x00\x00\x00\x00\x03", m{pair("a", int64(1)), pair(nil, int64(2)), pair(1.5, int64(3))}},
		{"mp", strings.Repeat("\x91", 31) + "\x90", nestedList(32)},
		{"cbor", "\x07", int64(7)},
		{"cbor", "\x1b\xff\xff\xff\xff\xff\xff\xff\xff", uint64(math.MaxUint64)},
		{"cbor", "\x3b\x7f\xff\xff\xff\xff\xff\xff\xff", int64(math.MinInt64)},
		{"cbor", "\xf9\x3e\x00", 1.5},
		{"cbor", "\xfa\x3f\x80\x00\x00", 1.0},
		{"cbor", "\xf6", nil},
		{"cbor", "\x41\xff", []byte("\xff")},
		{"cbor", "\x7f\x61a\x61b\xff", "ab"},
		{"cbor", "\xa0", m{}},
		{"cbor", "\xbf\x61a\x9f\x01\x80\xff\xff", m{pair("a", []any{int64(1), []any{}})}},
		{"cbor", "\xa2\x01\xa1\x61b\x18\x64\x61a\x41x", m{pair(int64(1), m{pair("b", int64(100))}), pair("a", []byte("x"))}},
		{"cbor", strings.Repeat("\x81", 31) + "\x80", nestedList(32)},
		{"pyd", "\x80\x04N.", []byte("\x80\x04N.")},
		{"jpg", "{", []byte("{")},
	} {
		got, err := decodeField(row.name, row.data)
		if err != nil || !reflect.DeepEqual(got, row.want) {
			t.Errorf("%s %.100q: %#v, %v; want %#v", row.name, row.data, got, err, row.want)
		}
	}
}

// nestedList is depth lists in one another.
func nestedList(depth int) []any {
	list := []any{}
	for range depth - 1 {
		list = []any{list}
	}
	return list
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	malformed, unsupported, limit := converters.ErrMalformed, converters.ErrUnsupported, converters.ErrLimit
	for _, row := range []struct {
		name, data string
		want       error
		text       string
	}{
		{"cls", "", malformed, "not an integer"},
		{"cls", "cat", malformed, `"cat" is not an integer`},
		{"cls", "1.0", malformed, "not an integer"},
		{"cls", "1 2", malformed, "not an integer"},
		{"cls", "0x10", malformed, "not an integer"},
		{"cls", "1_000", malformed, "not an integer"},
		{"cls", "7\u00a0", malformed, "not an integer"},
		{"cls", "7\x00", malformed, "not an integer"},
		{"index", "9223372036854775808", unsupported, "64 bits"},
		{"txt", "gr\xfc\xdf", malformed, "not UTF-8 at byte 2"},
		{"json.gz", `{"a": 1234567}`, malformed, "bad gzip"},
		{"json.gz", gzipped("[1]")[:20], malformed, "gzip ends too early"},
		{"json.gz", gzipped("[1]") + "x", malformed, "gzip"},
		{"json.gz", strings.Replace(gzipped("[1]"), "\x03\x00\x00\x00", "\x04\x00\x00\x00", 1), malformed, "checksum"},
		{"json.gz", gzipped("{"), malformed, "JSON ends too early"},
		{"txt.gz", gzipped(strings.Repeat("x", decode.DefaultMaxDecode+1)), limit, "more than 16777216 bytes"},
		{"npy", "", malformed, "not an array file"},
		{"npy", npyHead("'<f4'", "(2, 3)")[:20], malformed, "inside its head"},
		{"npy", npyHead("'<f4'", "(2, 3)") + "x", malformed, "1 bytes of items"},
		{"npy", npyHead("'<f4'", "(4611686018427387905, 4)"), malformed, "0 bytes of items"},
		{"npy", npyHead("'<f4'", "2"), malformed, "no shape"},
		{"npy", npyHead("'|O'", "(1,)") + "\x80\x04.", unsupported, "a pickle"},
		{"npy", npyHead("[('a', '|O')]", "(1,)") + "\x80\x04.", unsupported, "a pickle"},
		{"txt", "x\xed\xa0\x80", malformed, "not UTF-8 at byte 1"},
		{"json", "", malformed, "ends too early"},
		{"json", "  ", malformed, "ends too early"},
		{"json", "[1,", malformed, "ends too early"},
		{"json", `{"a"`, malformed, "ends too early"},
		{"json", `"a`, malformed, "ends too early"},
		{"json", "[1,]", malformed, "bad JSON"},
		{"json", "[1 2]", malformed, "bad JSON"},
		{"json", "[1}", malformed, "bad JSON"},
		{"json", `{"a" 1}`, malformed, "bad JSON"},
		{"json", `{"a":1,}`, malformed, "bad JSON"},
		{"json", "{1:2}", malformed, "bad JSON"},
		{"json", "]", malformed, "bad JSON"},
		{"json", "[-NaN]", malformed, "bad JSON"},
		{"json", "[NaN, nan]", malformed, "at byte 7"},
		{"ten", "123", malformed, `begins with "123"`},
		{"json", "007", malformed, ""},
		{"json", "{'a': 1}", malformed, "bad JSON"},
		{"json", "{} {}", malformed, "after the JSON value"},
		{"json", "1 x", malformed, "after the JSON value"},
		{"json", "[]]", malformed, "after the JSON value"},
		{"json", "\xef\xbb\xbf{}", malformed, "bad JSON"},
		{"json", "\"\xff\"", malformed, "invalid UTF-8 at byte 1"},
		{"json", `"\ud83d"`, malformed, "in string at byte 1"},
		{"json", `"a\ud83d\u0041"`, malformed, "in string at byte 2"},
		{"json", `["\\\uDE00"]`, malformed, "in string at byte 4"},
		{"json", `{"a": 1, "\u0061": 2}`, malformed, `"a" comes twice`},
		{"json", "18446744073709551616", unsupported, "64 bits"},
		{"json", "-9223372036854775809", unsupported, "64 bits"},
		{"json", "1e400", unsupported, "float64"},
		{"json", strings.Repeat("[", 33), limit, "32 deep"},
		{"json", strings.Repeat(`{"a":`, 33), limit, "32 deep"},
		{"json", strings.Repeat("[", 1_000_000), limit, "32 deep"},
		{"mp", "", malformed, "ends too early"},
		{"mp", "\xc1", malformed, "code 0xc1"},
		{"mp", "\x92\x01", malformed, "ends too early"},
		{"mp", "\xa2a", malformed, "ends too early"},
		{"mp", "\xcd\x01", malformed, "ends too early"},
		{"mp", "\xc6\xff\xff\xff\xff", malformed, "ends too early"},
		{"mp", "\xdb\xff\xff\xff\xff", malformed, "ends too early"},
		{"mp", "\xdd\xff\xff\xff\xff", malformed, "ends too early"},
		{"mp", "\xdf\xff\xff\xff\xff", malformed, "ends too early"},
		{"mp", "\x01\x02", malformed, "1 bytes follow"},
		{"mp", "\xa1\xff", malformed, "not UTF-8"},
		{"mp", "\x81\xa1\xff\x01", malformed, "not UTF-8"},
		{"mp", "\x82\xa1a\x01\xd9\x01a\x02", malformed, `"a" comes twice`},
		{"mp", "\x82\x01\x01\xcc\x01\x02", malformed, `"1" comes twice`},
		{"mp", "\x81\x90\x01", unsupported, "key of a map"},
		{"mp", "\x81\x80\x01", unsupported, "key of a map"},
		{"mp", "\x81\xc4\x01x\x01", unsupported, "key of a map"},
		{"mp", "\xd6\xff\x00\x00\x00\x00", unsupported, "extension"},
		{"mp", "\x91\xc7\x00\x05", unsupported, "extension"},
		{"mp", strings.Repeat("\x91", 33), limit, "32 deep"},
		{"mp", strings.Repeat("\x81\x01", 33), limit, "32 deep"},
		{"mp", strings.Repeat("\x81", 33), limit, "32 deep"},
		{"mp", strings.Repeat("\x91", 1_000_000), limit, "32 deep"},
		{"mp", strings.Repeat("\xdd\x00\x00\xff\xff", 32) + strings.Repeat("\x01", 100_000), malformed, "ends too early"},
		{"cbor", "", malformed, "ends too early"},
		{"cbor", "\x82\x01", malformed, "ends too early"},
		{"cbor", "\xf7", unsupported, "the CBOR value undefined"},
		{"cbor", "\xa1\x61a\x81\xf7", unsupported, "the CBOR value undefined"},
		{"cbor", "\xa1\xf7\x01", unsupported, "the CBOR value undefined"},
		{"cbor", "\x5b\x7f\xff\xff\xff\xff\xff\xff\xff", malformed, "ends too early"},
		{"cbor", "\x5b\xff\xff\xff\xff\xff\xff\xff\xff", malformed, "too large"},
		{"cbor", "\x9b\x7f\xff\xff\xff\xff\xff\xff\xff", malformed, ""},
		{"cbor", "\x9a\x7f\xff\xff\xff", malformed, "ends too early"},
		{"cbor", "\xba\x7f\xff\xff\xff", malformed, "ends too early"},
		{"cbor", "\x1c", malformed, "bad CBOR"},
		{"cbor", "\xff", malformed, "bad CBOR"},
		{"cbor", "\x01\x02", malformed, "extraneous"},
		{"cbor", "\x61\xff", malformed, "UTF-8"},
		{"cbor", "\xa2\x61a\x01\x61a\x02", malformed, "comes twice"},
		{"cbor", "\xa2\x01\x01\x18\x01\x02", malformed, "comes twice"},
		{"cbor", "\xa1\x80\x01", unsupported, "key of a map"},
		{"cbor", "\xa1\xa0\x01", unsupported, "key of a map"},
		{"cbor", "\xa1\x41x\x01", unsupported, "key of a map"},
		{"cbor", "\xc1\x01", unsupported, "tag"},
		{"cbor", "\xc2\x41\x01", unsupported, "tag"},
		{"cbor", "\x3b\x80\x00\x00\x00\x00\x00\x00\x00", unsupported, "64 bits"},
		{"cbor", "\x81\xf0", unsupported, "simple value 16"},
		{"cbor", strings.Repeat("\x81", 33) + "\x01", limit, "32 deep"},
		{"cbor", strings.Repeat("\x9f", 1_000_000), limit, "32 deep"},
	} {
		got, err := decodeField(row.name, row.data)
		if !errors.Is(err, row.want) || !strings.Contains(err.Error(), row.text) || !strings.HasSuffix(place.HintOf(err), decode.Undecoded) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s %.100q: %#v, %v; want %v with %q", row.name, row.data, got, err, row.want, row.text)
		}
	}
}

// What a value takes is in proportion to its bytes, whatever these claim. It is not
// parallel: memory is counted.
func TestDecodeMemory(t *testing.T) {
	const size = 256 << 10
	fill := func(unit string) string { return strings.Repeat(unit, size/len(unit)) }
	for _, row := range []struct{ name, data string }{
		{"json", "[" + fill("[],") + "1]"},
		{"json", fill("[")},
		{"json", `"` + fill("x") + `"`},
		{"mp", "\xdd\x00\x04\x00\x00" + fill("\x90")},
		{"mp", strings.Repeat("\xdd\x00\x03\xff\x00", 31) + fill("\x90")},
		{"mp", strings.Repeat("\xdf\x00\x01\xff\x00\x01", 31) + fill("\x90")},
		{"mp", "\xc6\x00\x04\x00\x00" + fill("x")},
		{"cbor", "\x9a\x00\x04\x00\x00" + fill("\x80")},
		{"cbor", strings.Repeat("\x9a\x00\x03\xff\x00", 31) + fill("\x80")},
		{"cbor", strings.Repeat("\x9f", 31) + fill("\x80") + strings.Repeat("\xff", 31)},
		{"cbor", "\xbb\x00\x00\x00\x00\x00\x02\x00\x00" + fill("\x80")},
	} {
		f := field(row.name, row.data)
		d := decode.NewField(decode.Limits{})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		d(&f)
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 200*size {
			t.Errorf("%s %.20q takes %d times its size", row.name, row.data, n/size)
		} else if os.Getenv("FFCONVERT_FAULTS") != "" {
			t.Logf("%s %.20q takes %d times its size", row.name, row.data, n/size)
		}
	}
}
