package stage

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"testing"

	"github.com/ffconvert/ffconvert/internal/input"
)

// zlibRecords is a TFRecord file of one record as the standard library's zlib writes it, and the file.
func zlibRecords(t testing.TB, data []byte, level int) (compressed, file []byte) {
	masked := func(b []byte) uint32 {
		sum := crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))
		return (sum>>15 | sum<<17) + 0xa282ead8
	}
	file = binary.LittleEndian.AppendUint64(nil, uint64(len(data)))
	file = binary.LittleEndian.AppendUint32(file, masked(file))
	file = append(file, data...)
	file = binary.LittleEndian.AppendUint32(file, masked(data))
	var b bytes.Buffer
	w, err := zlib.NewWriterLevel(&b, level)
	must(t, err)
	_, err = w.Write(file)
	must(t, err)
	must(t, w.Close())
	return b.Bytes(), file
}

// zlib is told by the TFRecord file in it; its Adler-32 is compared, and nothing may follow.
func TestZlib(t *testing.T) {
	t.Parallel()
	for _, level := range []int{zlib.NoCompression, zlib.BestSpeed, zlib.BestCompression} {
		full, want := zlibRecords(t, bytes.Repeat([]byte("a record, a record, "), 50), level)
		if c, out, err := decodeAll(full); c != "zlib" || err != nil || !bytes.Equal(out, want) {
			t.Fatalf("level %d: %q, %d bytes, %v", level, c, len(out), err)
		}
		for n := range full {
			if c, _, err := decodeAll(full[:n]); c == "zlib" && !errors.Is(err, ErrTruncated) {
				t.Errorf("level %d: cut to %d of %d bytes: %v", level, n, len(full), err)
			} else if c != "zlib" && n > 100 {
				t.Errorf("level %d: cut to %d of %d bytes it is %q", level, n, len(full), c)
			}
		}
		for bit := range 8 * len(full) {
			damaged := bytes.Clone(full)
			damaged[bit/8] ^= 1 << (bit % 8)
			if c, out, err := decodeAll(damaged); c == "zlib" && err == nil && !bytes.Equal(out, want) {
				t.Errorf("level %d: bit %d: accepted", level, bit)
			}
		}
		if _, _, err := decodeAll(append(bytes.Clone(full), 0)); !errors.Is(err, input.ErrMalformed) {
			t.Errorf("level %d: a byte after the end: %v", level, err)
		}
	}
	empty := []byte("\x78\x9c\x03\x00\x00\x00\x00\x01")
	if c, out, err := decodeAll(empty); c != "zlib" || len(out) > 0 || err != nil {
		t.Errorf("empty: %q, %d bytes, %v", c, len(out), err)
	}
}

// Other files begin with the same two bytes, zlib streams of other data too: they are not decompressed.
func TestNotZlib(t *testing.T) {
	t.Parallel()
	var csv bytes.Buffer
	w := zlib.NewWriter(&csv)
	_, err := w.Write([]byte("a,b\n1,2\n"))
	must(t, err)
	must(t, w.Close())
	for name, data := range map[string][]byte{
		"text of CBOR":        append([]byte("\x78\x9c"), bytes.Repeat([]byte("x"), 156)...),
		"a line":              []byte("x^2,y\n1,2\n"),
		"zlib of CSV":         csv.Bytes(),
		"the two bytes":       []byte("\x78\x9c"),
		"a preset dictionary": []byte("\x78\xbb\x00\x00\x00\x01"),
	} {
		if c, err := sniff(data); c != "" || err != nil {
			t.Errorf("%s: %q, %v", name, c, err)
		}
	}
}
