package cbor

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
)

const deep = 1_000_000

func repeat(s string, n int) string { return strings.Repeat(s, n) }

// hostile are inputs that nobody may accept, as items nor as fields.
var hostile = []struct {
	name string
	pack bool // MessagePack
	data string
	want error
	hint string
}{
	{name: "arrays 10⁶ deep", data: repeat("\x81", deep), want: converters.ErrLimit, hint: hintDepth},
	{name: "maps 10⁶ deep, by value", data: repeat("\xa1\x01", deep), want: converters.ErrLimit, hint: hintDepth},
	{name: "maps 10⁶ deep, by name", data: repeat("\xa1\x61x", deep), want: converters.ErrLimit, hint: hintDepth},
	{name: "maps 10⁶ deep, by key", data: repeat("\xa1", deep), want: converters.ErrLimit, hint: hintDepth},
	{name: "tags 10⁶ deep", data: repeat("\xc1", deep), want: converters.ErrLimit, hint: hintDepth},
	{name: "tags of CBOR 10⁶ deep", data: repeat("\xd9\xd9\xf7", deep), want: converters.ErrLimit, hint: hintDepth},
	{name: "open arrays 10⁶ deep", data: repeat("\x9f", deep), want: converters.ErrLimit, hint: hintDepth},
	{name: "open maps 10⁶ deep", data: repeat("\xbf\x61x", deep), want: converters.ErrLimit, hint: hintDepth},
	{name: "33 deep, complete", data: repeat("\x81", 33) + "\x01", want: converters.ErrLimit, hint: hintDepth},
	{name: "33 deep, the last empty", data: repeat("\x81", 32) + "\x80", want: converters.ErrLimit, hint: hintDepth},
	{name: "33 deep in a map", data: "\xa1\x61x" + repeat("\x81", 32) + "\x01", want: converters.ErrLimit, hint: hintDepth},

	{name: "bytes of 2⁶³−1", data: "\x5b\x7f" + repeat("\xff", 7), want: converters.ErrTruncated},
	{name: "bytes of 2⁶³", data: "\x5b\x80" + repeat("\x00", 7), want: converters.ErrTruncated},
	{name: "bytes of 2⁶⁴−1", data: "\x5b" + repeat("\xff", 8), want: converters.ErrTruncated},
	{name: "bytes of 2⁶⁴−1, some there", data: "\x5b" + repeat("\xff", 8) + repeat("x", 100), want: converters.ErrTruncated},
	{name: "text of 2⁶³−1", data: "\x7b\x7f" + repeat("\xff", 7), want: converters.ErrTruncated},
	{name: "text of 2⁶⁴−1", data: "\x7b" + repeat("\xff", 8), want: converters.ErrTruncated},
	{name: "array of 2⁶⁰", data: "\x9b\x10" + repeat("\x00", 7), want: converters.ErrTruncated},
	{name: "array of 2⁶⁰, some there", data: "\x9b\x10" + repeat("\x00", 1000), want: converters.ErrTruncated},
	{name: "array of 2⁶⁴−1", data: "\x9b" + repeat("\xff", 8), want: converters.ErrTruncated},
	{name: "map of 2⁶³", data: "\xbb\x80" + repeat("\x00", 7), want: converters.ErrTruncated},
	{name: "map of 2⁶³+1, some there", data: "\xbb\x80" + repeat("\x00", 6) + "\x01" + repeat("\x00", 100), want: converters.ErrTruncated},
	{name: "map of 2⁶⁴−1", data: "\xbb" + repeat("\xff", 8), want: converters.ErrTruncated},
	{name: "map of one pair more than can be", data: "\xa3\x61x\x01\x02", want: converters.ErrTruncated},
	{name: "8 EiB as a value", data: "\xa1\x61x\x5b\x7f" + repeat("\xff", 7), want: converters.ErrTruncated},
	{name: "8 EiB as a name", data: "\xa1\x7b\x7f" + repeat("\xff", 7), want: converters.ErrTruncated},
	{name: "8 EiB as the key", data: "\xa1\x67__key__\x7b\x7f" + repeat("\xff", 7), want: converters.ErrTruncated},
	{name: "8 EiB in a list", data: "\x82\x01\x5b\x7f" + repeat("\xff", 7), want: converters.ErrTruncated},
	{name: "8 EiB in a chunk", data: "\x5f\x5b\x7f" + repeat("\xff", 7), want: converters.ErrTruncated},
	{name: "8 EiB in a chunk of text", data: "\x7f\x7b\x7f" + repeat("\xff", 7), want: converters.ErrTruncated},
	{name: "a list of 2⁶⁰ in a map", data: "\xa1\x61x\x9b\x10" + repeat("\x00", 7), want: converters.ErrTruncated},
	{name: "no end of an open array", data: "\x9f" + repeat("\x00", 100_000), want: converters.ErrTruncated},
	{name: "no end of chunks", data: "\x5f" + repeat("\x40", 100_000), want: converters.ErrTruncated},
	{name: "a tag and no more", data: "\xc1", want: converters.ErrTruncated},

	{name: "a break", data: "\xff", want: converters.ErrMalformed},
	{name: "a break in an array", data: "\x82\x01\xff", want: converters.ErrMalformed},
	{name: "a break as a value", data: "\xa1\x61x\xff", want: converters.ErrMalformed},
	{name: "a break as a key", data: "\xa1\xff\x01", want: converters.ErrMalformed},
	{name: "a break behind a tag", data: "\xc1\xff", want: converters.ErrMalformed},
	{name: "a break behind a tag in an open array", data: "\x9f\xc1\xff\xff", want: converters.ErrMalformed},
	{name: "an open map, a break as a value", data: "\xbf\x61x\xff", want: converters.ErrMalformed},
	{name: "an open map inside, a break as a value", data: "\x81\xbf\x61x\x01\x61y\xff", want: converters.ErrMalformed},
	{name: "chunks of text in bytes", data: "\x5f\x61x\xff", want: converters.ErrMalformed},
	{name: "chunks of bytes in text", data: "\x7f\x41x\xff", want: converters.ErrMalformed},
	{name: "chunks in chunks", data: "\x5f\x5f\x41x\xff\xff", want: converters.ErrMalformed},
	{name: "a number among chunks", data: "\x7f\x61x\x01\xff", want: converters.ErrMalformed},
	{name: "simple value 0 in two bytes", data: "\xf8\x00", want: converters.ErrMalformed},
	{name: "simple value 20 in two bytes", data: "\xf8\x14", want: converters.ErrMalformed},
	{name: "simple value 31 in two bytes", data: "\x81\xf8\x1f", want: converters.ErrMalformed},
	{name: "simple value 31 in two bytes, as a field", data: "\xa1\x61x\xf8\x1f", want: converters.ErrMalformed},

	{name: "a byte of 0x80 in text", data: "\x63a\x80b", want: converters.ErrMalformed},
	{name: "an overlong rune", data: "\x62\xc0\xaf", want: converters.ErrMalformed},
	{name: "half a surrogate pair", data: "\x63\xed\xa0\x80", want: converters.ErrMalformed},
	{name: "a rune above U+10FFFF", data: "\x64\xf4\x90\x80\x80", want: converters.ErrMalformed},
	{name: "a rune cut off", data: "\x62a\xc3", want: converters.ErrMalformed},
	{name: "a rune cut off in a long text", data: "\x7a\x00\x01\x00\x01" + repeat("a", 1<<16) + "\xc3", want: converters.ErrMalformed},
	{name: "a wrong rune in a long text", data: "\x7a\x00\x02\x00\x00" + repeat("a", 1<<16) + "\xc3" + repeat("a", 1<<16-1), want: converters.ErrMalformed},
	{name: "a rune in two chunks", data: "\x7f\x61\xc3\x61\xbc\xff", want: converters.ErrMalformed},
	{name: "a name not UTF-8", data: "\xa1\x61\xff\x01", want: converters.ErrMalformed},
	{name: "a value not UTF-8", data: "\xa1\x61x\x61\xff", want: converters.ErrMalformed},
	{name: "a key not UTF-8", data: "\xa1\x67__key__\x61\xff", want: converters.ErrMalformed},
	{name: "nested text not UTF-8", data: "\xa1\x61x\x81\x61\xff", want: converters.ErrMalformed},

	{name: "the key twice", data: "\xa2\x67__key__\x61a\x67__key__\x61a", want: converters.ErrDuplicate},
	{name: "a key of 64 KiB and a byte", data: "\xa1\x67__key__\x7a\x00\x01\x00\x01" + repeat("k", 1<<16+1), want: converters.ErrLimit, hint: hintName},

	{name: "arrays 10⁶ deep", pack: true, data: repeat("\x91", deep), want: converters.ErrLimit, hint: hintDepth},
	{name: "maps 10⁶ deep", pack: true, data: repeat("\x81\xa1x", deep), want: converters.ErrLimit, hint: hintDepth},
	{name: "maps 10⁶ deep, by key", pack: true, data: repeat("\x81", deep), want: converters.ErrLimit, hint: hintDepth},
	{name: "arrays of 2³²−1 in each other", pack: true, data: repeat("\xdd\xff\xff\xff\xff", 100_000), want: converters.ErrTruncated},
	{name: "bytes of 2³²−1", pack: true, data: "\xc6\xff\xff\xff\xff", want: converters.ErrTruncated},
	{name: "text of 2³²−1", pack: true, data: "\xdb\xff\xff\xff\xff", want: converters.ErrTruncated},
	{name: "array of 2³²−1", pack: true, data: "\xdd\xff\xff\xff\xff", want: converters.ErrTruncated},
	{name: "map of 2³²−1", pack: true, data: "\xdf\xff\xff\xff\xff", want: converters.ErrTruncated},
	{name: "extension of 2³²−1", pack: true, data: "\xc9\xff\xff\xff\xff\x01", want: converters.ErrTruncated},
	{name: "4 GiB as a value", pack: true, data: "\x81\xa1x\xc6\xff\xff\xff\xff", want: converters.ErrTruncated},
	{name: "4 GiB as a name", pack: true, data: "\x81\xdb\xff\xff\xff\xff", want: converters.ErrTruncated},
	{name: "4 GiB as the key", pack: true, data: "\x81\xa7__key__\xdb\xff\xff\xff\xff", want: converters.ErrTruncated},
	{name: "the type of an extension is not there", pack: true, data: "\xc7\x01", want: converters.ErrTruncated},
	{name: "an extension of 16, 15 there", pack: true, data: "\xd8\x01" + repeat("x", 15), want: converters.ErrTruncated},
	{name: "the byte 0xc1", pack: true, data: "\xc1", want: converters.ErrMalformed},
	{name: "the byte 0xc1 in an array", pack: true, data: "\x92\x01\xc1", want: converters.ErrMalformed},
	{name: "the byte 0xc1 as a value", pack: true, data: "\x81\xa1x\xc1", want: converters.ErrMalformed},
	{name: "the byte 0xc1 as a key", pack: true, data: "\x81\xc1\x01", want: converters.ErrMalformed},
	{name: "text not UTF-8", pack: true, data: "\xa1\xff", want: converters.ErrMalformed},
	{name: "a name not UTF-8", pack: true, data: "\x81\xa1\xff\x01", want: converters.ErrMalformed},
	{name: "a key not UTF-8", pack: true, data: "\x81\xa7__key__\xa1\xff", want: converters.ErrMalformed},
	{name: "the key twice", pack: true, data: "\x82\xa7__key__\xa1a\xa7__key__\xa1b", want: converters.ErrDuplicate},
}

// E5: hostile input is refused for what it is, at its place, in little memory. The test
// is not parallel: it counts what is allocated.
func TestHostile(t *testing.T) {
	rows := hostile
	for major := range 8 {
		for info := 28; info < 32; info++ {
			if info == 31 && major != 0 && major != 1 && major != 6 {
				continue
			}
			first := string([]byte{byte(major<<5 | info)})
			for _, data := range []string{first, "\x81" + first, "\xa1\x61x" + first, "\xa1" + first + "\x01", "\x9f" + first + "\xff"} {
				row := hostile[0]
				row.name, row.data, row.want, row.hint = fmt.Sprintf("reserved: % x", data), data, converters.ErrMalformed, ""
				rows = append(rows, row)
			}
		}
	}
	const before = 3 // sound items
	undetected, worst := 0, uint64(0)
	for _, row := range rows {
		for _, opts := range []Options{{}, {Items: true}, {Load: func(string) bool { return true }}, {Items: true, Load: func(string) bool { return true }}} {
			opts.MessagePack = row.pack
			src := memory(opts, []byte(repeat("\x05", before)+row.data))
			var was, is runtime.MemStats
			runtime.ReadMemStats(&was)
			got, err := indexed(t, src)
			runtime.ReadMemStats(&is)
			took := is.TotalAlloc - was.TotalAlloc
			worst = max(worst, took)
			if len(got) != before || !errors.Is(err, row.want) {
				undetected++
				t.Errorf("%s, MessagePack %t: %d items, error %v, want %v", row.name, row.pack, len(got), err, row.want)
				continue
			}
			placed := wantPlaced(t, err)
			if placed.Off != before || placed.Entry != "item 3" || placed.Hint != row.hint {
				t.Errorf("%s: %v; want hint %q", row.name, err, row.hint)
			}
			if took > 1<<20 {
				t.Errorf("%s: %d bytes were allocated", row.name, took)
			}
			n := 0
			for sample, err := range src.Read(t.Context(), converters.Run{Count: 10}) {
				if err == nil {
					n++
				} else if sample != nil || !errors.Is(err, row.want) {
					t.Errorf("%s: Read has error %v, want %v", row.name, err, row.want)
				}
			}
			if n != before {
				t.Errorf("%s: Read has %d items", row.name, n)
			}
		}
	}
	t.Logf("E5 [cbor] cases=%d undetected=%d lost=0 largest_allocation=%d", 4*len(rows), undetected, worst)
}

// What is a sound item and no sample of fields: Options.Items keeps it.
func TestNoFields(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, cbor, pack string
		want             error
	}{
		{"field twice", "\xa2\x61x\x01\x61x\x02", "\x82\xa1x\x01\xa1x\x02", converters.ErrDuplicate},
		{"nested key twice", "\xa1\x61x\xa2\x61y\x01\x61y\x02", "\x81\xa1x\x82\xa1y\x01\xa1y\x02", converters.ErrDuplicate},
		{"nested number twice", "\xa1\x61x\xa2\x01\x01\x18\x01\x02", "\x81\xa1x\x82\x01\x01\xd0\x01\x02", converters.ErrDuplicate},
		{"mixed key twice", "\xa3\x61y\x01\x02\x01\x61y\x02", "\x83\xa1y\x01\x02\x01\xa1y\x02", converters.ErrDuplicate},
		{"key no text", "\xa1\x67__key__\x01", "\x81\xa7__key__\x01", converters.ErrMalformed},
		{"key of bytes", "\xa1\x67__key__\x41k", "\x81\xa7__key__\xc4\x01k", converters.ErrMalformed},
		{"key in chunks", "\xa1\x67__key__\x7f\x61k\xff", "", converters.ErrMalformed},
		{"name in chunks", "\xa1\x7f\x61k\xff\x01", "", converters.ErrUnsupported},
		{"bytes as a nested key", "\x81\xa1\x41k\x01", "\x91\x81\xc4\x01k\x01", converters.ErrUnsupported},
		{"list as a nested key", "\x81\xa1\x80\x01", "\x91\x81\x90\x01", converters.ErrUnsupported},
		{"map as a key", "\xa1\xa0\x01", "\x81\x80\x01", converters.ErrUnsupported},
		{"below −2⁶³", "\xa1\x61x\x3b\x80\x00\x00\x00\x00\x00\x00\x00", "", converters.ErrUnsupported},
		{"nested, below −2⁶³", "\xa1\x61x\x81\x3b\x80\x00\x00\x00\x00\x00\x00\x00", "", converters.ErrUnsupported},
		{"big, below −2⁶³", "\xa1\x61x\xc3\x48\x80\x00\x00\x00\x00\x00\x00\x00", "", converters.ErrUnsupported},
		{"big, 2⁶⁴", "\xa1\x61x\xc2\x49\x01\x00\x00\x00\x00\x00\x00\x00\x00", "", converters.ErrUnsupported},
		{"big, of a text", "\xa1\x61x\xc2\x61\x01", "", converters.ErrMalformed},
		{"time in words", "\xa1\x61x\xc0\x742013-03-21T20:04:00Z", "", converters.ErrUnsupported},
		{"time in seconds", "\xa1\x61x\xc1\x01", "", converters.ErrUnsupported},
		{"tag on the item", "\xc1\x01", "", converters.ErrUnsupported},
		{"tag on a map", "\xd8\x20\xa1\x61x\x01", "", converters.ErrUnsupported},
		{"tag on a list in a list", "\x81\xd8\x40\x41\x01", "", converters.ErrUnsupported},
		{"undefined", "\xa1\x61x\xf7", "", converters.ErrUnsupported},
		{"undefined in a list", "\xa1\x61x\x81\xf7", "", converters.ErrUnsupported},
		{"undefined as a key", "\xa1\xf7\x01", "", converters.ErrUnsupported},
		{"simple value 5", "\xa1\x61x\xe5", "", converters.ErrUnsupported},
		{"simple value 255", "\x81\xf8\xff", "", converters.ErrUnsupported},
		{"extension", "", "\x81\xa1x\xd4\x05\x01", converters.ErrUnsupported},
		{"extension of no bytes", "", "\xc7\x00\x05", converters.ErrUnsupported},
		{"time", "", "\x81\xa1x\xd6\xff\x00\x00\x00\x00", converters.ErrUnsupported},
	} {
		for _, pack := range []bool{false, true} {
			data := []byte(row.cbor)
			if pack {
				data = []byte(row.pack)
			}
			if len(data) == 0 {
				continue
			}
			got, err := indexed(t, memory(Options{MessagePack: pack}, data))
			if !errors.Is(err, row.want) {
				t.Errorf("%s, MessagePack %t: %v, error %v, want %v", row.name, pack, got, err, row.want)
				continue
			}
			if placed := wantPlaced(t, err); placed.Hint != hintRaw {
				t.Errorf("%s: hint %q", row.name, placed.Hint)
			}
			if got, err := contents(t, memory(Options{MessagePack: pack, Items: true}, data)); err != nil || len(got) != 1 {
				t.Errorf("%s, MessagePack %t, as an item: %v, error %v", row.name, pack, got, err)
			}
		}
	}
}

// Limits hold to the byte and the level, for Index and Read.
func TestLimits(t *testing.T) {
	t.Parallel()
	lists := func(n int) string { return "\xa1\x61x" + repeat("\x81", n-1) + "\x01" }
	for _, row := range []struct {
		name string
		opts Options
		data string
		hint string // "": accepted
	}{
		{"32 deep", Options{}, lists(32), ""},
		{"33 deep", Options{}, lists(33), hintDepth},
		{"32 deep by tags of CBOR", Options{}, repeat("\xd9\xd9\xf7", 31) + "\xa0", ""},
		{"33 deep by tags of CBOR", Options{}, repeat("\xd9\xd9\xf7", 32) + "\xa0", hintDepth},
		{"100 deep, allowed", Options{MaxDepth: 100}, lists(100), ""},
		{"1 deep, 2 are not allowed", Options{MaxDepth: 1}, lists(1), ""},
		{"2 deep, not allowed", Options{MaxDepth: 1}, lists(2), hintDepth},
		{"65,535 deep", Options{MaxDepth: 1 << 30}, lists(65_535), ""},
		{"65,536 deep", Options{MaxDepth: 1 << 30}, lists(65_536), hintDepth},
		{"1,000 bytes", Options{MaxItem: 1000}, "\xa1\x61x\x59\x03\xe2" + repeat("x", 994), ""},
		{"1,001 bytes", Options{MaxItem: 1000}, "\xa1\x61x\x59\x03\xe3" + repeat("x", 995), hintItem},
		{"1,001 bytes, the last a number", Options{MaxItem: 1000}, "\xa2\x61x\x59\x03\xdf" + repeat("x", 991) + "\x61y\x18\x01", hintItem},
		{"1,001 bytes of text", Options{MaxItem: 1000}, "\x79\x03\xe6" + repeat("x", 998), hintItem},
		{"1,001 bytes of numbers", Options{MaxItem: 1000}, "\x99\x03\xe6" + repeat("\x01", 998), hintItem},
		{"1,001 bytes of an open list", Options{MaxItem: 1000}, "\x9f" + repeat("\x01", 999) + "\xff", hintItem},
		{"100,000 bytes in chunks", Options{MaxItem: 1000}, "\x5f" + repeat("\x41x", 50_000) + "\xff", hintItem},
		{"a key of 65,536 bytes", Options{}, "\xa1\x67__key__\x7a\x00\x01\x00\x00" + repeat("k", 1<<16), ""},
		{"a key of 65,537 bytes", Options{}, "\xa1\x67__key__\x7a\x00\x01\x00\x01" + repeat("k", 1<<16+1), hintName},
		{"a key of 65,537 bytes, allowed", Options{MaxName: 1<<16 + 1}, "\xa1\x67__key__\x7a\x00\x01\x00\x01" + repeat("k", 1<<16+1), ""},
		{"a key of 3 bytes, not allowed", Options{MaxName: 2}, "\xa1\x67__key__\x63abc", hintName},
		{"100,000 bytes", Options{MaxItem: 1000}, "\x5a\x00\x01\x86\xa0" + repeat("x", 100_000), hintItem},
	} {
		for _, items := range []bool{false, true} {
			opts := row.opts
			opts.Items = items
			src := memory(opts, []byte("\x05"+row.data+"\x05"))
			n, err := count(t, src)
			if row.hint == "" {
				if err != nil || n != 3 {
					t.Errorf("%s, items %t: %d items, error %v", row.name, items, n, err)
				}
				continue
			}
			for range 2 {
				if !errors.Is(err, converters.ErrLimit) {
					t.Fatalf("%s, items %t: error %v", row.name, items, err)
				}
				if placed := wantPlaced(t, err); placed.Hint != row.hint || placed.Off != 1 || placed.Entry != "item 7" && placed.Entry != "item 1" {
					t.Errorf("%s: %v", row.name, err)
				}
				for _, err = range src.Read(t.Context(), converters.Run{First: 7, Off: 1, Count: 1}) {
				}
			}
		}
	}
}

// Elements are counted before they are decoded: a byte each in the part, many in memory.
// The test is not parallel: it counts what is allocated.
func TestElements(t *testing.T) {
	const n = 1 << 17 // of 64 bytes: 8 MiB
	var fields strings.Builder
	fields.WriteString("\xb8\x40")
	for i := range 64 {
		fmt.Fprintf(&fields, "\x62%02d\x99\x08\x00%s", i, repeat("\xf6", n/64))
	}
	for _, row := range []struct{ name, data string }{
		{"a list of numbers", "\xa1\x61x\x9a\x00\x02\x00\x00" + repeat("\x01", n)},
		{"an open list of empty lists", "\x9f" + repeat("\x80", n) + "\xff"},
		{"a list of empty maps", "\x9a\x00\x02\x00\x00" + repeat("\xa0", n)},
		{"lists in lists", "\x9a\x00\x01\x00\x00" + repeat("\x81\x80", n/2)},
		{"fields of lists", fields.String()},
	} {
		for _, c := range []struct {
			limit int64
			want  error
			most  uint64 // MiB allocated, by Index and by Read
		}{{7 << 20, converters.ErrLimit, 10}, {9 << 20, nil, 32}} {
			var was, is runtime.MemStats
			runtime.ReadMemStats(&was)
			_, err := count(t, memory(Options{MaxItem: c.limit}, []byte(row.data)))
			runtime.ReadMemStats(&is)
			if took := (is.TotalAlloc - was.TotalAlloc) >> 20; !errors.Is(err, c.want) || took > c.most {
				t.Errorf("%s, limit %d: error %v, %d MiB allocated", row.name, c.limit, err, took)
			}
			if placed := (*converters.Error)(nil); errors.As(err, &placed) && (!strings.Contains(placed.Hint, hintItem) || !strings.Contains(placed.Hint, hintRaw)) {
				t.Errorf("%s: %v", row.name, err)
			}
		}
	}
}

// A file cut anywhere is accepted where an item ends, and nowhere else.
func TestCutEverywhere(t *testing.T) {
	t.Parallel()
	for _, pack := range []bool{false, true} {
		for _, items := range []bool{false, true} {
			data, ends := []byte{}, map[int]bool{0: true}
			for _, row := range kinds {
				item := row.cbor
				if pack {
					item = row.pack
				}
				data = append(data, item...)
				ends[len(data)] = true
			}
			start, number := 0, -1
			for n := range len(data) + 1 {
				if ends[n] {
					start = n
					number++
				}
				got, err := contents(t, memory(Options{MessagePack: pack, Items: items}, data[:n]))
				if (err == nil) != ends[n] || err == nil && len(got) != number {
					t.Errorf("cut at %d: %d items, error %v", n, len(got), err)
				}
				if err == nil {
					continue
				}
				placed := wantPlaced(t, err)
				if !errors.Is(err, converters.ErrTruncated) || placed.Off != int64(start) || placed.Entry != fmt.Sprint("item ", number) {
					t.Errorf("cut at %d, in item %d at %d: %v", n, number, start, err)
				}
			}
		}
	}
}

// Lines that a user may see.
func TestErrorWords(t *testing.T) {
	t.Parallel()
	big := bytes.Repeat([]byte("x"), 100)
	for _, row := range []struct {
		opts Options
		data []byte
		want string
	}{
		{Options{}, []byte("\x01\x5b\x7f\xff\xff\xff\xff\xff\xff\xff"), `part-0.cbor: offset 1: "item 1": truncated: byte 9 of the item wants 9223372036854775807 more, the part has 0`},
		{Options{MaxItem: 99}, blob(big), `part-0.cbor: offset 0: "item 0": over a limit: the item has more than 99 bytes (option max-item-size)`},
		{Options{MaxDepth: 1}, []byte("\x81\x81\x01"), `part-0.cbor: offset 0: "item 0": over a limit: at byte 2, more than 1 arrays, maps and tags one inside the other (option max-depth)`},
		{Options{}, []byte("\x82\x01\x1c"), `part-0.cbor: offset 0: "item 0": malformed: near byte 3 of the item: the byte 0x1c begins no item`},
		{Options{}, []byte("\xa1\x61x\xc1\x01"), `part-0.cbor: offset 0: "item 0": field "x": not supported: tag 1 (option encode raw keeps the item's own bytes)`},
		{Options{}, []byte("\xa2\x61x\x01\x61x\x01"), `part-0.cbor: offset 0: "item 0": duplicate field "x" (option encode raw keeps the item's own bytes)`},
	} {
		_, err := indexed(t, memory(row.opts, row.data))
		if fmt.Sprint(err) != row.want {
			t.Errorf("got  %v\nwant %s", err, row.want)
		}
	}
}
