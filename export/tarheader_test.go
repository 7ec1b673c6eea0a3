package export

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/converters"
	ourtar "github.com/ffconvert/ffconvert/converters/tar"
	"github.com/ffconvert/ffconvert/internal/heads"
	"github.com/ffconvert/ffconvert/internal/place"
)

// Names that ustar holds, names that it holds in two fields, and names for which there must be a PAX header.
var headerNames = []struct {
	name string
	pax  bool
}{
	{"a.jpg", false},
	{strings.Repeat("n", 96) + ".jpg", false},
	{strings.Repeat("n", 97) + ".jpg", true},
	{strings.Repeat("d", 155) + "/" + strings.Repeat("n", 96) + ".jpg", false},
	{strings.Repeat("d", 156) + "/a.jpg", true},
	{strings.Repeat("d/", 80) + "a.jpg", true}, // its last slashes are beyond the prefix, and the rest is short
	{strings.Repeat("dir/", 30) + strings.Repeat("n", 60) + ".jpg", false},
	{"/" + strings.Repeat("n", 100) + ".jpg", true},
	{"grüße/日本.txt", true},
	{strings.Repeat("é", 100) + ".jpg", true},
	{strings.Repeat("n", 3000) + ".jpg", true},
}

func TestHeader(t *testing.T) {
	t.Parallel()
	for _, row := range headerNames {
		for _, size := range []int64{0, 1, 511, 512, 513, maxOctal, maxOctal + 1, 1 << 40} {
			head := appendHeader(nil, []byte(row.name), size, 17)
			if len(head)%blockSize != 0 {
				t.Fatalf("%.40s: %d bytes", row.name, len(head))
			}
			_, _, fits := splitPath([]byte(row.name))
			if pax := row.pax && strings.Count(row.name, "/") < 80; fits && pax {
				t.Errorf("%.40s: no PAX header", row.name)
			}
			if more := len(head) > blockSize; more != (!fits || size > maxOctal) {
				t.Errorf("%.40s, %d bytes: headers of %d bytes", row.name, size, len(head))
			}
			r := tar.NewReader(io.MultiReader(bytes.NewReader(head), zeroReader{}))
			h, err := r.Next()
			if err != nil {
				t.Fatalf("%.40s, %d: %v", row.name, size, err)
			}
			if h.Name != row.name || h.Size != size || h.Mode != 0o444 || h.Uid != 0 || h.Gid != 0 || h.Uname != "" || h.Gname != "" || !h.ModTime.Equal(time.Unix(17, 0)) || h.Typeflag != tar.TypeReg {
				t.Errorf("%.40s, %d: %+v", row.name, size, h)
			}
		}
	}
}

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// In ustar the header is the one that Go's writer makes, to the byte.
func TestHeaderIsUstar(t *testing.T) {
	t.Parallel()
	for _, row := range headerNames {
		if _, _, ok := splitPath([]byte(row.name)); !ok {
			continue
		}
		var want bytes.Buffer
		w := tar.NewWriter(&want)
		if err := w.WriteHeader(&tar.Header{Name: row.name, Mode: 0o444, Size: 700, ModTime: time.Unix(5, 0), Format: tar.FormatUSTAR, Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if got := appendHeader(nil, []byte(row.name), 700, 5); !bytes.Equal(got, want.Bytes()) {
			t.Errorf("%.40s:\n%q\nGo writes\n%q", row.name, got, want.Bytes())
		}
	}
}

// What webdataset would read otherwise is refused, and nothing else.
func TestCheckMember(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		key, field string
		hint       string // "": accepted
	}{
		{"a", "jpg", ""},
		{"./a", "seg.png", ""},
		{"x.y/b", "c.d", ""},
		{"a", "", ""},
		{"a", ".b", ""},
		{"dir/", "hidden", ""},
		{"grüße/日本", "txt", ""},
		{"a b", "t x t", ""},
		{"a.b", "jpg", "key"},
		{"", "jpg", "key"},
		{"dir/a.b", "jpg", "key"},
		{"__x__/a", "jpg", "key"},
		{"x.y/", "ds_store", "key"},
		{"a\x00", "jpg", "key"},
		{"a\xff", "jpg", "key"},
		{"a", "JPG", "rename"},
		{"a", "b/c", "rename"},
		{"a", "__bad__", "rename"},
		{"a", "__local_path__", "rename"},
		{"a", "__url__", "rename"},
		{"a", "__key__", "rename"},
	} {
		var names nameChecks
		for range 2 { // the second time by what is remembered
			err := names.check(row.key, row.field)
			if (err == nil) != (row.hint == "") || !strings.Contains(place.HintOf(err), row.hint) {
				t.Errorf("%q.%q: %v (%s)", row.key, row.field, err, place.HintOf(err))
			}
		}
	}
}

// nameChecks is checkMember, whatever was checked before.
func FuzzNameChecks(f *testing.F) {
	f.Add("a", "jpg", "b", "png")
	f.Add("a", "jpg", "__x__/b", "jpg")
	f.Add("a_", "x__", "__a", "x__")
	f.Fuzz(func(t *testing.T, key1, field1, key2, field2 string) {
		var names nameChecks
		names.check(key1, field1)
		names.check(key1, field2)
		for _, at := range [][2]string{{key2, field1}, {key2, field2}, {key1, field2}} {
			got, want := names.check(at[0], at[1]), checkMember(at[0], at[1])
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%q: %v, want %v", at, got, want)
			}
		}
	})
}

// Go's reader finds the name and the size of any member, and a name that is accepted is split into key and field.
func FuzzMember(f *testing.F) {
	for _, row := range headerNames {
		f.Add(row.name, "jpg", int64(7))
	}
	f.Add("a.b", "C", int64(1<<40))
	f.Fuzz(func(t *testing.T, key, field string, size int64) {
		if checkMember(key, field) != nil {
			return
		}
		if k, suffix, ok := ourtar.Split(key + "." + field); !ok || k != key || suffix != field {
			t.Errorf("%q.%q is split into %q.%q", key, field, k, suffix)
		}
		size &= 1<<50 - 1
		head := appendHeader(nil, []byte(key+"."+field), size, 0)
		h, err := tar.NewReader(io.MultiReader(bytes.NewReader(head), zeroReader{})).Next()
		if err != nil || h.Name != key+"."+field || h.Size != size {
			t.Errorf("%q.%q, %d bytes: %+v, %v", key, field, size, h, err)
		}
	})
}

func TestFileContent(t *testing.T) {
	t.Parallel()
	nested := converters.Map{{Key: "a", Value: []any{int64(1), 1.0, 0.1, 1e300, "ü\n<", true, nil, uint64(1 << 63)}}}
	for _, row := range []struct {
		field string
		value converters.Value
		want  string // "!": refused
	}{
		{"x", converters.Bytes([]byte{0, 255}), "\x00\xff"},
		{"txt", converters.Text([]byte("grüß")), "grüß"},
		{"json", converters.Text([]byte(`{"a":1}`)), `{"a":1}`},
		{"cls", converters.Int(-17), "-17"},
		{"x", converters.Float(1), "1.0"},
		{"x", converters.Float(0.1), "0.1"},
		{"x", converters.Float(1e-7), "1e-07"},
		{"x", converters.Nested(true), "true"},
		{"x", converters.Nested(nil), "null"},
		{"json", converters.Nested(nested), `{"a":[1,1.0,0.1,1e+300,"ü\n<",true,null,9223372036854775808]}`},
		{"mp", converters.Int(5), "\x05"},
		{"a.msgpack", converters.Text([]byte("a")), "\xa1a"},
		{"cbor", converters.Nested([]any{int64(1), []byte("b")}), "\x82\x01\x41b"},
		{"json", converters.Nested([]any{[]byte("b")}), "!"},
		{"x", converters.Nested(converters.Map{{Key: int64(1), Value: nil}}), "!"},
		{"x", converters.Nested([]any{nan, math.Inf(-1)}), "[NaN,-Infinity]"},
		{"json", converters.Float(nan), "NaN"},
		{"ten", converters.Nested([]any{"x"}), `["x"]`},
		{"tb", converters.Nested([]any{}), ""},
		{"a.ten", converters.Nested([]any{append(heads.AppendArray(nil, "|u1", []int64{3}), "abc"...)}),
			"~TenBin~\x20\x00\x00\x00\x00\x00\x00\x00u1\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00" + string(zeros[:32]) + "~TenBin~\x03\x00\x00\x00\x00\x00\x00\x00abc" + string(zeros[:61])},
		{"x", converters.Float(nan), "nan"},
	} {
		var w fileWriter
		got, err := w.content(&converters.Field{Name: row.field, Value: row.value})
		if err != nil && row.want != "!" || err == nil && string(got.Data()) != row.want {
			t.Errorf("%s: %q, %v, want %q", row.field, got.Data(), err, row.want)
		}
	}
}

var nan = func() float64 { x := 0.0; return x / x }()
