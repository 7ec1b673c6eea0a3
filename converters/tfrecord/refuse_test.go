package tfrecord

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/ffconvert/ffconvert/converters"
)

// group returns field num as a group of what is in it.
func group(num protowire.Number, b ...byte) []byte {
	b = append(protowire.AppendTag(nil, num, protowire.StartGroupType), b...)
	return protowire.AppendTag(b, num, protowire.EndGroupType)
}

// Index and Read refuse with one text, or both accept.
func TestRefuse(t *testing.T) {
	t.Parallel()
	huge := binary.LittleEndian.AppendUint64(nil, 1<<62)
	huge = binary.LittleEndian.AppendUint32(huge, masked(huge))
	deep := group(9)
	for range 200 {
		deep = group(9, deep...)
	}
	for _, row := range []struct {
		name string
		opts Options
		data []byte
		want string // after "part-0.tfrecord: "; or a sample
	}{
		{"no CRC of a length", Options{}, make([]byte, 16), `offset 0: "record 0": malformed: the checksum of the length is wrong`},
		{"a length past the end", Options{}, huge, `offset 0: "record 0": truncated: the record has 4611686018427387904 bytes of data, the part 0 more`},
		{"a cut head", Options{}, cat(framed([]byte{}), huge[:5]), `offset 16: "record 1": truncated: a record begins with 12 bytes, the part has 5 more`},
		{"over the limit", Options{MaxSample: 10}, framed(example(entry("a", bytesList("longer")))), `offset 0: "record 0": over a limit: the record has 19 bytes`},
		{"text", Options{}, framed([]byte("hello, world")), `malformed: near byte 3 of its data: the end of a group that did not begin`},
		{"JSON", Options{}, framed([]byte(`{"a": 1}`)), `malformed: near byte 3 of its data: a value of 97 bytes in a message that has 5 more`},
		{"nothing known", Options{}, framed(cat(under(5, "x"), under(7, "y"))), `malformed: none of its 6 bytes are of a feature`},
		{"wire type of features", Options{}, framed([]byte{8, 1}), `malformed: near byte 1 of its data: field 1 has wire type 0, want 2`},
		{"wire type of a value", Options{}, framed(example(entry("a", under(1, "\x08\x01")))), `malformed: near byte 12 of its data: a value of bytes has wire type 0`},
		{"a varint in floats", Options{}, framed(example(entry("a", under(2, "\x08\x01")))), `a value of float32 has wire type 0`},
		{"half a float", Options{}, framed(example(entry("a", under(2, under(1, "\x00\x00\x80"))))), `a value of 4 bytes in a message that has 3 more`},
		{"an open varint", Options{}, framed(example(entry("a", under(3, under(1, "\xff\xff"))))), `a number that does not end in its message`},
		{"a long varint", Options{}, framed(example(entry("a", under(3, under(1, strings.Repeat("\xff", 12)))))), `a number of more than 64 bits`},
		{"field number 0", Options{}, framed([]byte{2, 0}), `field number 0`},
		{"an inner length", Options{}, framed([]byte{10, 9, 0}), `a value of 9 bytes in a message that has 1 more`},
		{"a name that is not UTF-8", Options{}, framed(example(entry("\xff", ints(1)))), `a name that is not UTF-8`},
		{"the same feature twice", Options{}, framed(example(entry("a", ints(1)), entry("b", ints(2)), entry("a", ints(3)))), `duplicate feature "a"`},
		{"a feature and a feature list", Options{}, framed(cat(example(entry("a", ints(1))), under(2, under(1, entry("a", under(1, ints(1))))))), `duplicate feature "a"`},
		{"two lists", Options{}, framed(example(entry("a", cat(ints(1), floats(1))))), `feature "a" has two lists`},
		{"two names", Options{}, framed(example(cat(under(1, "a"), under(1, "b")))), `an entry with two names or two values`},
		{"two values", Options{}, framed(example(cat(under(2, ints(1)), under(2, ints(1)), under(1, "a")))), `an entry with two names or two values`},
		{"a key of numbers", Options{}, framed(example(entry(keyName, ints(1)))), `its "__key__" is not one value of bytes that are UTF-8`},
		{"a key that is not UTF-8", Options{}, framed(example(entry(keyName, bytesList("\xff")))), `its "__key__" is not one value`},
		{"two keys", Options{}, framed(example(entry(keyName, bytesList("a")), entry(keyName, bytesList("a")))), `duplicate feature "__key__"`},
		{"two values of a key", Options{}, framed(example(entry(keyName, bytesList("a", "b")))), `feature "__key__": not supported: it has 2 values`},
		{"a feature list of keys", Options{}, framed(under(2, under(1, entry(keyName, under(1, ints(1)))))), `a feature list named "__key__"`},
		{"many values", Options{MaxSample: 1 << 20, AllLists: true}, framed(example(entry("b", ints(make([]int64, 70_000)...)))), `the record has more than 65536 values, of 64 bytes each in memory`},
		{"groups too deep", Options{}, framed(cat(example(entry("a", ints(1))), deep)), `more than 100 groups one inside the other`},
		{"a group that ends another", Options{}, framed(cat(example(entry("a", ints(1))), []byte{75, 84})), `the end of a group that did not begin`},
		{"wire type 6", Options{}, framed(cat(example(entry("a", ints(1))), []byte{78})), `wire type 6`},

		{"unknown fields", Options{}, framed(cat(example(entry("a", cat(ints(1), under(9, "x")))), group(9, 8, 1), []byte{80, 1}, protowire.AppendFixed32([]byte{93}, 1), protowire.AppendFixed64([]byte{97}, 1))), `"" "a":1`},
		{"a value before its name", Options{}, framed(example(cat(under(2, ints(1)), under(1, "a")))), `"" "a":1`},
		{"features twice", Options{}, framed(cat(example(entry("b", ints(1))), example(entry("a", ints(2))))), `"" "a":2 "b":1`},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			src := memory(t, row.opts, row.data)
			got, err := read(t, src, 0)
			_, _, indexErr := indexed(t, src, 0)
			if (err == nil) != (indexErr == nil) || err != nil && err.Error() != indexErr.Error() {
				t.Fatalf("Read says %v, Index %v", err, indexErr)
			}
			text := strings.Join(got, "\n")
			if err != nil {
				text = err.Error()
				if e, ok := errors.AsType[*converters.Error](err); !ok || e.Where != "part-0.tfrecord" || e.Off < 0 {
					t.Errorf("no place: %+v", err)
				}
			}
			if !strings.Contains(text, row.want) {
				t.Errorf("%s, want %s", text, row.want)
			}
		})
	}
}

// Unknown fields are counted, a record once.
func TestUnknownCounted(t *testing.T) {
	t.Parallel()
	odd := cat(example(entry("a", ints(1))), under(9, "x"), under(8, "x"))
	var got []string
	for span, err := range memory(t, Options{}, framed(odd, example(entry("a", ints(1))), odd)).Index(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if span.Accepted {
			got = append(got, span.Skip+": "+span.Name)
		}
	}
	if want := "record with unknown fields: record 0, record with unknown fields: record 2"; strings.Join(got, ", ") != want {
		t.Errorf("%q", got)
	}
}

// A value that comes before its name is read again, where it was not in the window.
func TestLargeValueFirst(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", 300<<10)
	data := framed(
		example(cat(under(2, bytesList(large)), under(1, "jpg")), entry("n", ints(1))),
		example(entry("n", ints(2)), cat(under(2, bytesList(large)), under(1, "jpg"))),
		example(cat(under(2, bytesList("k")), under(1, keyName)), entry("jpg", bytesList(large))),
	)
	shapes, _, err := indexed(t, memory(t, Options{}, data), 0)
	want := `"" "jpg":307200 bytes "n":1;"" "jpg":307200 bytes "n":2;"k" "jpg":307200 bytes`
	if got := strings.Join(shapes, ";"); err != nil || got != want {
		t.Errorf("%.300s, error %v", got, err)
	}
	got, err := read(t, memory(t, Options{}, data), 0)
	if err != nil || len(got) != 3 || !strings.HasPrefix(got[2], `"k" "jpg":b7878`) {
		t.Errorf("%d samples, error %v", len(got), err)
	}
}

// Every cut and every changed bit of a small file is refused with its place.
func TestDamage(t *testing.T) {
	t.Parallel()
	data := framed(mixed()...)
	ends := map[int]bool{}
	for at := 0; at <= len(data); {
		ends[at] = true
		if at == len(data) {
			break
		}
		at += 16 + int(binary.LittleEndian.Uint64(data[at:]))
	}
	refused := func(what string, at int, data []byte) {
		t.Helper()
		for _, whole := range []bool{false, true} {
			src := memory(t, Options{Whole: whole}, data)
			_, _, err := indexed(t, src, 0)
			_, readErr := read(t, src, 0)
			for _, err := range []error{err, readErr} {
				e, ok := errors.AsType[*converters.Error](err)
				if !ok || e.Off < 0 || !errors.Is(err, converters.ErrMalformed) && !errors.Is(err, converters.ErrTruncated) {
					t.Fatalf("%s %d: %v", what, at, err)
				}
			}
		}
	}
	for cut := range data {
		if !ends[cut] {
			refused("cut at", cut, data[:cut])
		}
	}
	for at := range data {
		for bit := range 8 {
			b := bytes.Clone(data)
			b[at] ^= 1 << bit
			refused("flipped at", at, b)
		}
	}
}

// A byte that Index does not read is found by Read.
func TestLargeDamage(t *testing.T) {
	t.Parallel()
	data := pictures(0, 2)
	data[20_000] ^= 1
	src := memory(t, Options{}, data)
	if _, _, err := indexed(t, src, 0); err != nil {
		t.Fatal(err)
	}
	if got, err := read(t, src, 0); len(got) > 0 || !errors.Is(err, converters.ErrMalformed) || !strings.Contains(err.Error(), "the checksum of the data is wrong") {
		t.Errorf("%d samples, error %v", len(got), err)
	}
}
