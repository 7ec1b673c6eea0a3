package mds

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/klauspost/compress/s2"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/fuzz"
)

var malformed, truncated, unsupported, limit = converters.ErrMalformed, converters.ErrTruncated, converters.ErrUnsupported, converters.ErrLimit

// A value that its encoding does not have is refused with sample and field.
func TestRefuseValues(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		encoding string
		size     int64
		data     string
		want     error
		text     string
	}{
		{"str", 0, "a\xff", malformed, "not UTF-8"},
		{"str_decimal", 0, "\xff", malformed, "not UTF-8"},
		{"str_int", 0, "18446744073709551616", unsupported, "64 bits"},
		{"str_int", 0, "-9223372036854775809", unsupported, "64 bits"},
		{"str_int", 0, "1.0", malformed, "not a decimal number"},
		{"str_int", 0, "", malformed, "not a decimal number"},
		{"str_float", 0, "1e400", unsupported, "64 bits"},
		{"str_float", 0, "0x1p3", malformed, "not a decimal number"},
		{"str_float", 0, "x", malformed, "not a decimal number"},
		{"json", 0, `{"a": 1, "a": 2}`, malformed, "comes twice"},
		{"json", 0, "nan", malformed, "bad JSON"},
		{"json", 0, "", malformed, "ends too early"},
		{"json", 0, strings.Repeat("[", 40), limit, "32 deep"},
		{"ndarray", 0, "", malformed, "without a type"},
		{"ndarray", 0, "\x07\x04\x01x", malformed, "type 7"},
		{"ndarray", 0, "\x08", malformed, "without its shape"},
		{"ndarray", 0, "\x08\x08\x01", malformed, "without its shape"},
		{"ndarray", 0, "\x08\x04\x02x", malformed, "has 1 bytes"},
		{"ndarray", 0, "\x08\x04\x02xyz", malformed, "has 3 bytes"},
		{"ndarray", 0, "\x08\x0b\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", malformed, "has 0 bytes"},
		{"ndarray:uint16", 0, "\x04\x02xyz", malformed, "has 3 bytes"},
		{"ndarray:uint16:2", 0, "xyz", malformed, "has 3 bytes"},
		{"jpeg_array", 0, "\x01\x00\x00", malformed, "sizes of the items"},
		{"jpeg_array", 0, "\xff\xff\xff\xffabcd", malformed, "sizes of the items"},
		{"jpeg_array", 0, "\x01\x00\x00\x00\x05\x00\x00\x00abcd", malformed, "sizes of the items"},
		{"jpeg_array", 0, "\x01\x00\x00\x00\x03\x00\x00\x00abcd", malformed, "sizes of the items"},
		{"list[jpeg]", 0, "\x00\x00\x00\x00", malformed, "sizes of the items"},
	} {
		w := write(t, []Column{{"good", "int8", 1}, {"x", row.encoding, row.size}}, []string{"\x01", row.data})
		s, err := memory(Options{}, w)
		if err != nil {
			t.Fatal(err)
		}
		_, err = contents(t, s)
		if err == nil {
			t.Errorf("%s of %q: accepted", row.encoding, row.data)
			continue
		}
		at := wantPlaced(t, err)
		if !errors.Is(err, row.want) || at.Entry != "sample 0" || at.Off < 16 || !strings.Contains(err.Error(), `field "x": `) || !strings.Contains(err.Error(), row.text) {
			t.Errorf("%s of %q: %v; want %v, %q", row.encoding, row.data, err, row.want, row.text)
		}
	}
}

// Columns without a value are refused before a shard is opened.
func TestRefuseColumns(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, encoding string
		size           int64
		text           string
	}{
		{"x", "pkl", 0, "a pickle (pkl) may run any program"},
		{"x", "pkl:5", 0, "a pickle (pkl)"},
		{"x", "video", 0, `the encoding "video"`},
		{"x", "", 0, `the encoding ""`},
		{"x", "str:utf-8", 0, `the encoding "str:utf-8"`},
		{"x", "ndarray:complex64", 0, "ndarray:complex64"},
		{"x", "ndarray:uint8:", 0, "ndarray:uint8:"},
		{"x", "ndarray:uint8:2,0", 0, "ndarray:uint8:2,0"},
		{"x", "ndarray:uint8:2:3", 0, "ndarray:uint8:2:3"},
		{"x", "ndarray:uint8:2", 3, "of 3 bytes"},
		{"x", "ndarray:uint8:" + strings.Repeat("1,", 63) + "1", 0, "the encoding"},
		{"x", "int", 4, "a column int of 4 bytes"},
		{"__key__", "int", 8, "a key that is not text"},
	} {
		_, err := memory(Options{}, write(t, []Column{{row.name, row.encoding, row.size}}))
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("field %q: ", row.name)) || !strings.Contains(err.Error(), row.text) {
			t.Errorf("%s: %v; want %q", row.encoding, err, row.text)
		}
	}
}

// A shard that is not as its index says is refused.
func TestRefuseShard(t *testing.T) {
	t.Parallel()
	put := func(at int, n uint32) func(*written) {
		return func(w *written) { binary.LittleEndian.PutUint32(w.data[at:], n) }
	}
	for _, row := range []struct {
		name   string
		change func(*written)
		want   error
		text   string
	}{
		{"cut", func(w *written) { w.data = w.data[:len(w.data)-1] }, truncated, "index.json has"},
		{"longer", func(w *written) { w.data = append(w.data, 0) }, malformed, "index.json has"},
		{"empty", func(w *written) { w.data, w.shard.Raw.Bytes = nil, 0 }, truncated, "a shard has 8 at least"},
		{"other number of samples", put(0, 3), malformed, "it has 3 samples, index.json has 2"},
		{"2^32-1 samples", func(w *written) { put(0, math.MaxUint32)(w); w.shard.Samples = math.MaxUint32 }, malformed, "samples"},
		{"the first offset in the table", put(4, 12), malformed, "samples from 12"},
		{"the first offset behind the end", put(4, 9999), malformed, "samples from 9999"},
		{"the last offset", put(12, 1000), malformed, "in a shard of"},
		{"offsets that go back", put(8, 17), malformed, "a sample from"},
		{"a sample of no bytes", func(w *written) { copy(w.data[8:12], w.data[4:8]) }, malformed, "other sizes than the sample"},
		{"a size in a sample", func(w *written) { w.data[len(w.data)-6]++ }, malformed, "other sizes than the sample"},
		{"other columns in the shard", func(w *written) { w.data = bytes.Replace(w.data, []byte(`"str"`), []byte(`"png"`), 1) }, malformed, "its columns are not those of index.json"},
		{"no configuration", func(w *written) { w.data = bytes.Replace(w.data, []byte(`{`), []byte(`x`), 1) }, malformed, "its configuration"},
		{"version 1", func(w *written) { w.data = bytes.Replace(w.data, []byte(`:2,`), []byte(`:1,`), 1) }, unsupported, "version 1"},
		{"a hash", func(w *written) { w.shard.Raw.Hashes = map[string]string{"sha1": "00", "nosuch": "1"} }, malformed, "its sha1 is"},
		{"a sample over the limit", func(w *written) { w.shard.Samples = 2 }, limit, "more than 4 bytes"},
	} {
		w := write(t, []Column{{"x", "str", 0}, {"n", "uint8", 1}}, []string{"a", "\x01"}, []string{"b", "\x02"})
		row.change(&w)
		opts := Options{}
		if row.want == limit {
			opts.MaxSample = 4
		}
		s, err := memory(opts, w)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = contents(t, s); err == nil {
			t.Errorf("%s: accepted", row.name)
			continue
		}
		wantPlaced(t, err)
		if !errors.Is(err, row.want) || !strings.Contains(err.Error(), row.text) {
			t.Errorf("%s: %v; want %v, %q", row.name, err, row.want, row.text)
		}
	}
}

const indexText = `{"version": 2, "shards": [{"column_names": ["a", "b"], "column_encodings": ["int", "str"], "column_sizes": [8, null],
 "compression": "zstd:7", "format": "mds", "hashes": ["sha1"], "samples": 3, "size_limit": 67108864, "version": 2,
 "raw_data": {"basename": "0/shard.00000.mds", "bytes": 5, "hashes": {"sha1": "x"}}, "zip_data": {"basename": "0/shard.00000.mds.zstd", "bytes": 4, "hashes": {}}}]}`

func TestParseIndex(t *testing.T) {
	t.Parallel()
	shards, err := ParseIndex([]byte(indexText), "index.json")
	if err != nil || len(shards) != 1 || shards[0].Columns[1] != (Column{"b", "str", 0}) || shards[0].Compression != "zstd:7" || shards[0].Samples != 3 || shards[0].Zip.Name != "0/shard.00000.mds.zstd" || shards[0].Raw.Hashes["sha1"] != "x" {
		t.Fatalf("%+v, %v", shards, err)
	}
	for _, row := range []struct{ from, to, text string }{
		{`"version": 2, "shards"`, `"version": 1, "shards"`, "version 1"},
		{`"format": "mds"`, `"format": "json"`, `format "json"`},
		{`67108864, "version": 2`, `67108864, "version": 3`, "version 3"},
		{`["int", "str"]`, `["int"]`, "column_encodings"},
		{`["a", "b"]`, `["a", "a"]`, `duplicate column "a"`},
		{`[8, null]`, `[-8, null]`, "values of -8 bytes"},
		{`"samples": 3`, `"samples": -3`, "-3 samples"},
		{`"samples": 3`, `"samples": 5000000000`, "5000000000 samples"},
		{`"bytes": 5`, `"bytes": -5`, "-5 bytes"},
		{`0/shard.00000.mds"`, `../shard.mds"`, "leads out of the directory"},
		{`0/shard.00000.mds"`, `/etc/passwd"`, "leads out of the directory"},
		{`"zstd:7"`, `null`, "zip_data if it is compressed"},
		{`"raw_data"`, `"data"`, "want raw_data"},
		{`]}`, `]`, "not JSON at byte"},
		{`"a"`, `7`, `column_names" is a JSON number, not a string`},
	} {
		_, err := ParseIndex([]byte(strings.Replace(indexText, row.from, row.to, 1)), "index.json")
		if err == nil || !strings.HasPrefix(err.Error(), "index.json: ") || !strings.Contains(err.Error(), row.text) {
			t.Errorf("%s: %v; want %q", row.to, err, row.text)
		}
	}
}

// Each cut and each changed byte of a shard with a hash is refused; without one it is refused or changes a value.
func TestDamage(t *testing.T) {
	t.Parallel()
	w := write(t, []Column{{"a", "ndarray", 0}, {"b", "bytes", 0}, {"c", "str", 0}, {"n", "uint16", 2}},
		[]string{"\x08\x04\x02xy", "bytes", "text", "\x01\x00"}, []string{"\x10\x04\x01xy", "", "ä", "\x02\x00"})
	for n := range len(w.data) {
		cut := written{w.data[:n], w.shard}
		if s, err := memory(Options{}, cut); err != nil {
			t.Fatal(err)
		} else if _, err := contents(t, s); !errors.Is(err, truncated) {
			t.Errorf("cut to %d bytes: %v", n, err)
		}
	}
	hashed := w
	hashed.shard.Raw.Hashes = map[string]string{"xxh64": fmt.Sprintf("%x", sum("xxh64", w.data))}
	for at := range len(w.data) {
		for _, flip := range []byte{1, 0x40, 0x80} {
			for _, of := range []written{w, hashed} {
				changed := written{bytes.Clone(of.data), of.shard}
				changed.data[at] ^= flip
				s, err := memory(Options{}, changed)
				if err != nil {
					t.Fatal(err)
				}
				if _, err = contents(t, s); err != nil {
					wantPlaced(t, err)
				} else if of.shard.Raw.Hashes != nil {
					t.Errorf("byte %d changed by %#x: accepted", at, flip)
				}
			}
		}
	}
}

func sum(algorithm string, data []byte) []byte {
	h := algorithms[algorithm]()
	h.Write(data)
	return h.Sum(nil)
}

// Digests of "abc" as Python's hashlib and xxhash have them.
func TestHashes(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"md5": "900150983cd24fb0d6963f7d28e17f72", "sha1": "a9993e364706816aba3e25717850c26c9cd0d89d",
		"sha224": "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7", "sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
		"sha3_256": "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532",
		"xxh64":    "44bc2cf5ad770999", "xxh3_64": "78af5f94892f3950", "xxh3_128": "06b05ab6733a618578af5f94892f3950", "xxh128": "06b05ab6733a618578af5f94892f3950",
	} {
		if got := fmt.Sprintf("%x", sum(name, []byte("abc"))); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	w := write(t, []Column{{"x", "str", 0}}, []string{"a"})
	w.shard.Raw.Hashes = map[string]string{"xxh32": "1", "md5": strings.ToUpper(fmt.Sprintf("%x", sum("md5", w.data)))}
	s, err := memory(Options{}, w, w)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := contents(t, s); err != nil {
		t.Error(err)
	}
	if d := s.Doubts(); len(d) != 1 || !strings.Contains(d[0].Text, `"xxh32" are not compared`) {
		t.Errorf("%+v", d)
	}
}

// A shard in a block of snappy is read, whatever run is, and damage of the block is refused.
func TestSnappy(t *testing.T) {
	t.Parallel()
	w := write(t, []Column{{"x", "str", 0}}, []string{strings.Repeat("a", 5000)}, []string{"b"}, []string{"c"})
	want, err := memory(Options{}, w)
	if err != nil {
		t.Fatal(err)
	}
	samples, err := contents(t, want)
	if err != nil {
		t.Fatal(err)
	}
	w.data, w.shard.Compression = s2.EncodeSnappy(nil, w.data), "snappy"
	s, err := memory(Options{}, w)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := contents(t, s); err != nil || len(got) != 3 || got[0] != samples[0] {
		t.Errorf("%d samples, %v", len(got), err)
	}
	for n := range len(w.data) {
		cut, err := memory(Options{}, written{w.data[:n], w.shard})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := contents(t, cut); !errors.Is(err, malformed) {
			t.Errorf("cut to %d bytes: %v", n, err)
		}
	}
	small, err := memory(Options{MaxSample: 100}, w)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := contents(t, small); !errors.Is(err, limit) {
		t.Error(err)
	}
}

// Index and Read agree on any shard, with the index of its true size; memory is in proportion to it.
func FuzzMDS(f *testing.F) {
	columns := []Column{{"a", "ndarray", 0}, {"b", "bytes", 0}, {"c", "json", 0}, {"d", "uint16", 2}, {"e", "list[png]", 0}, {"f", "str_float", 0}}
	seed := write(f, columns, []string{"\x08\x04\x02xy", "bytes", "[1]", "\x01\x00", "\x00\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00x", "1.5"})
	f.Add(seed.data, indexText)
	f.Fuzz(func(t *testing.T, data []byte, index string) {
		if shards, err := ParseIndex([]byte(index), "index.json"); err == nil {
			for i := range shards {
				_, _ = newLayout(&shards[i])
			}
			if _, err := json.Marshal(shards); err != nil {
				t.Error(err)
			}
		}
		w := written{data, seed.shard}
		w.shard.Raw.Bytes = int64(len(data))
		if len(data) >= 4 {
			w.shard.Samples = int64(binary.LittleEndian.Uint32(data))
		}
		s, err := memory(Options{}, w)
		if err != nil {
			t.Fatal(err)
		}
		fuzz.WantAllocated(t, 1<<20+1000*len(data), func() {
			for range s.Index(t.Context(), 0) {
			}
		})
		if _, err := contents(t, s); err != nil {
			wantPlaced(t, err)
		}
	})
}
