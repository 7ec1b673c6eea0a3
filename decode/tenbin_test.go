package decode_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/decode"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/jsonvalue"
	"github.com/ffconvert/ffconvert/internal/test/python"
)

// tenbinFile returns a file of one array, whose items are zero.
func tenbinFile(typ string, shape ...int64) []byte {
	head, n := append([]byte(typ), make([]byte, 16-len(typ))...), int64(typ[1]-'0')
	head = binary.LittleEndian.AppendUint64(head, uint64(len(shape)))
	for _, edge := range shape {
		head, n = binary.LittleEndian.AppendUint64(head, uint64(edge)), n*edge
	}
	return decode.AppendTenbinChunk(decode.AppendTenbinChunk(nil, head), make([]byte, n))
}

// Arrays that a writer of webdataset's format has made are, decoded, files that numpy loads, equal in type, shape and items; and the same file is
// made of them again.
func TestTenbin(t *testing.T) {
	t.Parallel()
	py := python.Start(t, `
import base64, io, struct, msgpack, numpy
def chunk(b):
    return b"~TenBin~" + struct.pack("<q", len(b)) + b + bytes(-len(b) % 64)
def tenbin(arrays):
    out = b""
    for a in arrays:
        head = a.dtype.str[1:].encode().ljust(8, b"\0") + bytes(8) + struct.pack("<q%dq" % a.ndim, a.ndim, *a.shape)
        out += chunk(head) + chunk(a.tobytes())
    return out
def reply(request):
    global arrays
    if len(request) == 1:
        r = numpy.random.default_rng(request[0])
        types = ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
        arrays = []
        for i in range(request[0] % 5):
            shape = tuple(int(n) for n in r.integers(0 if i == 2 else 1, 9, r.integers(0, 5)))
            arrays.append((r.random(shape) * 100).astype(types[(request[0] + i) % len(types)]).reshape(shape))
        return base64.b64encode(tenbin(arrays)).decode()
    sample = msgpack.unpackb(request)
    got = [numpy.load(io.BytesIO(b)) for b in sample["ten"]]
    if len(got) != len(arrays):
        return "%d arrays, not %d" % (len(got), len(arrays))
    for a, b in zip(got, arrays):
        if a.dtype != b.dtype or a.shape != b.shape or not numpy.array_equal(a, b):
            return "%s %s, not %s %s" % (a.dtype, a.shape, b.dtype, b.shape)
    return ""
`, "numpy", "msgpack")
	spec, err := encode.Parse(encode.Options{Decode: true})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		var file []byte
		py.Ask([]byte{byte(i)}, &file)
		s := &converters.Sample{Key: "k", Fields: []converters.Field{{Name: "ten", Value: converters.Bytes(file)}}}
		rec, err := spec.NewEncoder().Encode(s)
		if err != nil {
			t.Fatal(i, err)
		}
		var wrong string
		if py.Ask(slices.Concat(rec.Parts...), &wrong); wrong != "" {
			t.Errorf("file %d: %s", i, wrong)
		}
		v, err := decodeTenbin(file)
		if err != nil {
			t.Fatal(i, err)
		}
		if again, ok := decode.AppendTenbin(nil, v.Nested()); !ok || !bytes.Equal(again, file) {
			t.Errorf("file %d: %v, %d bytes again, not %d", i, ok, len(again), len(file))
		}
	}
}

func TestTenbinRefuses(t *testing.T) {
	t.Parallel()
	good := tenbinFile("f4", 2, 3)
	at := func(i int, b ...byte) []byte { return append(append(slices.Clone(good[:i]), b...), good[i+len(b):]...) }
	for n := 1; n < len(good); n++ {
		if _, err := decodeTenbin(good[:n]); !errors.Is(err, converters.ErrMalformed) {
			t.Errorf("cut at %d: %v", n, err)
		}
	}
	for _, row := range []struct {
		name string
		data []byte
		want string
		kind error
	}{
		{"no length", []byte(decode.TenbinMagic + "xx"), "array 0: malformed: the file ends too early", converters.ErrMalformed},
		{"no items", good[:80], "array 0: malformed: the file ends too early", converters.ErrMalformed},
		{"a length below zero", at(8, 255, 255, 255, 255, 255, 255, 255, 255), "bytes, and 144 follow", converters.ErrMalformed},
		{"another type", at(16, 'U', '4'), `no array has the type "U4"`, converters.ErrMalformed},
		{"another shape", at(48, 9), "wants others", converters.ErrMalformed},
		{"a shape that overflows", at(48, 0, 0, 0, 0, 0, 0, 0, 64), "wants others", converters.ErrMalformed},
		{"other axes", at(32, 3), "3 axes, and a head of 40 bytes", converters.ErrMalformed},
		{"a name", at(24, 'x'), `the name "x"`, converters.ErrUnsupported},
		{"a second that is cut", slices.Concat(good, good[:100]), "array 1: ", converters.ErrMalformed},
	} {
		_, err := decode.NewField(decode.Limits{})(&converters.Field{Name: "a.ten", Value: converters.Bytes(row.data)})
		if !errors.Is(err, row.kind) || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v", row.name, err)
		}
	}
	v, _ := decodeTenbin(good)
	file := v.Nested().([]any)[0].([]byte)
	for _, x := range []any{nil, "x", []any{"x"}, []any{file, []byte("x")}, []any{file[:len(file)-1]}, []any{bytes.Replace(file, []byte("<f4"), []byte(">f4"), 1)}, []any{bytes.Replace(file, []byte("False"), []byte("True "), 1)}} {
		if b, ok := decode.AppendTenbin([]byte("kept"), x); ok || string(b) != "kept" {
			t.Errorf("%.40q was taken for arrays", x)
		}
	}
}

func decodeTenbin(data []byte) (converters.Value, error) {
	return decode.NewField(decode.Limits{})(&converters.Field{Name: "ten", Value: converters.Bytes(data)})
}

// Numbers that JSON does not have are what Python's json reads; what it refuses is refused.
func TestJSONNaN(t *testing.T) {
	t.Parallel()
	py := python.Start(t, `
import json, msgpack, struct
def canon(x):
    if isinstance(x, float): return "nan" if x != x else x
    if isinstance(x, list): return [canon(v) for v in x]
    if isinstance(x, dict): return {k: canon(v) for k, v in x.items()}
    return x
def reply(request):
    n = struct.unpack("<I", request[:4])[0]
    try:
        want = canon(json.loads(request[4:4 + n]))
    except ValueError:
        return "refused"
    got = canon(msgpack.unpackb(request[4 + n:])) if request[4 + n:] else "refused"
    return "" if got == want else "%r, not %r" % (got, want)
`, "msgpack")
	parse := jsonvalue.New(0)
	for _, text := range []string{
		"NaN", " Infinity\n", "-Infinity", "[NaN,Infinity , -Infinity,1.5]", `{"a":NaN,"NaN":"-Infinity","b\"NaN,":[1,NaN],"c\\":NaN}`, `["NaN", NaN, "\\", NaN, "\\\"", Infinity]`, "[[NaN],{\"x\":NaN}]",
		"1NaN", "-NaN", "NaN1", "nan", "+Infinity", "Inf", "{NaN:1}", "{ NaN: 1}", "[NaN NaN]", "NaNNaN", "--Infinity", `{"a":NaN`, "[NaN,]", "NaN,", "-InfinityNaN", "1e-Infinity", "Infinity0", "[1.NaN]",
	} {
		request := append(binary.LittleEndian.AppendUint32(nil, uint32(len(text))), text...)
		v, err := parse([]byte(text))
		if err == nil {
			if request, err = encode.AppendValue(request, "msgpack", v.Any()); err != nil {
				t.Fatal(err)
			}
		}
		var wrong string
		if py.Ask(request, &wrong); err == nil && wrong != "" || err != nil && wrong != "refused" {
			t.Errorf("%s: %v; Python says %q", text, err, wrong)
		}
	}
	v, err := parse([]byte("[NaN]"))
	if err != nil || !math.IsNaN(v.Nested().([]any)[0].(float64)) {
		t.Errorf("%v, %v", v, err)
	}
}
