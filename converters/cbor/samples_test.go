package cbor

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
)

// kinds are items of every kind, and the samples that they are. What MessagePack has not
// is empty there.
var kinds = []struct {
	name, cbor, pack string
	want             string // key and fields, as Read has them
	index            string // as Index has them, where that differs
}{
	{name: "empty map", cbor: "\xa0", pack: "\x80", want: ``},
	{name: "key", cbor: "\xa2\x67__key__\x62k1\x61x\x01", pack: "\x82\xa7__key__\xa2k1\xa1x\x01", want: `"k1" x:1`},
	{name: "key last", cbor: "\xa2\x61x\x01\x67__key__\x62k1", pack: "\x82\xa1x\x01\xa7__key__\xa2k1", want: `"k1" x:1`},
	{name: "key of a wide head", cbor: "\xa1\x79\x00\x07__key__\x78\x02k1", pack: "\x81\xda\x00\x07__key__\xd9\x02k1", want: `"k1"`},
	{name: "other underscored names", cbor: "\xa1\x67__url__\x61u", pack: "\x81\xa7__url__\xa1u", want: `__url__:t75`},
	{name: "key in a nested map", cbor: "\xa1\x61x\xa1\x67__key__\x61n", pack: "\x81\xa1x\x81\xa7__key__\xa1n", want: `x:{t5f5f6b65795f5f:t6e}`},
	{name: "no name", cbor: "\xa1\x60\x01", pack: "\x81\xa0\x01", want: `:1`},
	{name: "bytes", cbor: "\xa2\x61a\x43\x01\x02\x03\x61b\x40", pack: "\x82\xa1a\xc4\x03\x01\x02\x03\xa1b\xc4\x00", want: `a:b010203 b:b`, index: `a:3 bytes b:b`},
	{name: "text", cbor: "\xa2\x61a\x64gr\xc3\xbc\x61b\x60", pack: "\x82\xa1a\xa4gr\xc3\xbc\xa1b\xa0", want: `a:t6772c3bc b:t`},
	{name: "integers", cbor: "\x84\x17\x18\xff\x19\x01\x00\x1a\x00\x01\x00\x00", pack: "\x94\x17\xcc\xff\xcd\x01\x00\xce\x00\x01\x00\x00", want: `item:[23,255,256,65536]`},
	{name: "negative integers", cbor: "\x84\x20\x37\x38\xff\x39\xff\xff", pack: "\x94\xff\xe8\xd1\xff\x00\xd2\xff\xff\x00\x00", want: `item:[-1,-24,-256,-65536]`},
	{name: "signed integers", pack: "\x95\xd0\x80\xd1\x80\x00\xd2\x80\x00\x00\x00\xd3\x80\x00\x00\x00\x00\x00\x00\x00\xd0\x7f", want: `item:[-128,-32768,-2147483648,-9223372036854775808,127]`},
	{name: "edges of integers", cbor: "\xa3\x61a\x1b\x7f\xff\xff\xff\xff\xff\xff\xff\x61b\x1b\x80\x00\x00\x00\x00\x00\x00\x00\x61c\x3b\x7f\xff\xff\xff\xff\xff\xff\xff",
		pack: "\x83\xa1a\xcf\x7f\xff\xff\xff\xff\xff\xff\xff\xa1b\xcf\x80\x00\x00\x00\x00\x00\x00\x00\xa1c\xd3\x80\x00\x00\x00\x00\x00\x00\x00", want: `a:9223372036854775807 b:9223372036854775808 c:-9223372036854775808`},
	{name: "big integers", cbor: "\x84\xc2\x41\x05\xc2\x49\x00\xff\xff\xff\xff\xff\xff\xff\xff\xc3\x48\x7f\xff\xff\xff\xff\xff\xff\xff\xc2\x40", want: `item:[5,18446744073709551615,-9223372036854775808,0]`},
	{name: "floats", cbor: "\x83\xf9\x3e\x00\xfa\x3f\xc0\x00\x00\xfb\x3f\xf8\x00\x00\x00\x00\x00\x00", pack: "\x93\xca\x3f\xc0\x00\x00\xca\x3f\xc0\x00\x00\xcb\x3f\xf8\x00\x00\x00\x00\x00\x00", want: `item:[f3ff8000000000000,f3ff8000000000000,f3ff8000000000000]`},
	{name: "odd halves", cbor: "\x86\xf9\x00\x01\xf9\x83\xff\xf9\x7b\xff\xf9\xfc\x00\xf9\x7e\x00\xf9\x80\x00", want: `item:[f3e70000000000000,fbf0ff80000000000,f40effc0000000000,ffff0000000000000,nan,f8000000000000000]`},
	{name: "float field", cbor: "\xa1\x61x\xf9\x3e\x00", pack: "\x81\xa1x\xca\x3f\xc0\x00\x00", want: `x:f3ff8000000000000`},
	{name: "simple values", cbor: "\xa3\x61a\xf4\x61b\xf5\x61c\xf6", pack: "\x83\xa1a\xc2\xa1b\xc3\xa1c\xc0", want: `a:false b:true c:null`},
	{name: "nested", cbor: "\xa1\x61x\x83\x01\x43abc\xa2\x61y\x80\x01\xf6", pack: "\x81\xa1x\x93\x01\xc4\x03abc\x82\xa1y\x90\x01\xc0", want: `x:[1,b616263,{t79:[],1:null}]`},
	{name: "map without text", cbor: "\xa2\x61x\x43abc\x02\x03", pack: "\x82\xa1x\xc4\x03abc\x02\x03", want: `item:{t78:b616263,2:3}`},
	{name: "map without text, keyed", cbor: "\xa3\x67__key__\x61k\x02\x03\x61x\x42ab", pack: "\x83\xa7__key__\xa1k\x02\x03\xa1x\xc4\x02ab", want: `item:{t5f5f6b65795f5f:t6b,2:3,t78:b6162}`},
	{name: "lone bytes", cbor: "\x43abc", pack: "\xc4\x03abc", want: `item:b616263`, index: `item:3 bytes`},
	{name: "lone text", cbor: "\x63abc", pack: "\xa3abc", want: `item:t616263`},
	{name: "lone number", cbor: "\x18\x2a", pack: "\xd0\x2a", want: `item:42`},
	{name: "lone null", cbor: "\xf6", pack: "\xc0", want: `item:null`},
	{name: "open map", cbor: "\xbf\x67__key__\x61k\x61x\x42ab\x61y\x9f\x01\xff\xff", want: `"k" x:b6162 y:[1]`, index: `"k" x:2 bytes y:[1]`},
	{name: "open and empty", cbor: "\xa2\x61a\x9f\xff\x61b\xbf\xff", want: `a:[] b:{}`},
	{name: "open in open", cbor: "\x9f\xbf\x01\x9f\xff\xff\x02\x9f\x9f\xff\xff\xff", want: `item:[{1:[]},2,[[]]]`},
	{name: "chunks", cbor: "\xa3\x61a\x5f\x41a\x42bc\xff\x61b\x7f\x61d\x60\x61e\xff\x61c\x5f\xff", want: `a:b616263 b:t6465 c:b`},
	{name: "chunks inside", cbor: "\x82\x5f\x41a\xff\x7f\x61b\xff", want: `item:[b61,t62]`},
	{name: "tagged as CBOR", cbor: "\xd9\xd9\xf7\xa2\x67__key__\x61k\x61x\xd9\xd9\xf7\x41z", want: `"k" x:b7a`},
	{name: "tagged as CBOR, no map", cbor: "\xd9\xd9\xf7\xd9\xd9\xf7\x01", want: `item:1`},
	{name: "long heads", pack: "\xdf\x00\x00\x00\x01\xdb\x00\x00\x00\x01x\xdd\x00\x00\x00\x02\xc6\x00\x00\x00\x01a\xc5\x00\x01b", want: `x:[b61,b62]`},
	{name: "sixteen", pack: "\xde\x00\x01\xa1x\xdc\x00\x01\xda\x00\x01a", want: `x:[t61]`},
}

func (c content) String() string {
	words := c.fields
	if c.key != "" {
		words = append([]string{fmt.Sprintf("%q", c.key)}, words...)
	}
	return strings.Join(words, " ")
}

// What becomes of every kind of item, alone and between two others.
func TestKinds(t *testing.T) {
	t.Parallel()
	for _, row := range kinds {
		for _, pack := range []bool{false, true} {
			item := row.cbor
			if pack {
				item = row.pack
			}
			if item == "" {
				continue
			}
			t.Run(fmt.Sprintf("%s, MessagePack %t", row.name, pack), func(t *testing.T) {
				t.Parallel()
				index := row.index
				if index == "" {
					index = row.want
				}
				for _, around := range []string{"", "\x05"} {
					opts := Options{MessagePack: pack}
					data := []byte(around + item + around)
					at := len(around)
					shapes, err := indexed(t, memory(opts, data))
					if err != nil || len(shapes) != 1+2*at || shapes[at].String() != index {
						t.Fatalf("Index has %v, error %v; want %s", shapes, err, index)
					}
					opts.Load = func(field string) bool { return true }
					shapes, err = indexed(t, memory(opts, data))
					if err != nil || len(shapes) != 1+2*at || shapes[at].String() != row.want {
						t.Fatalf("Index that loads all has %v, error %v; want %s", shapes, err, row.want)
					}
					got, err := contents(t, memory(opts, data))
					if err != nil || len(got) != 1+2*at || got[at].String() != row.want {
						t.Fatalf("Read has %v, error %v; want %s", got, err, row.want)
					}
					opts.Items = true
					key := ""
					if strings.HasPrefix(row.want, `"`) || strings.Contains(row.name, "keyed") {
						key = "k"
					}
					got, err = contents(t, memory(opts, data))
					if err != nil || len(got) != 1+2*at || got[at].fields[0] != fmt.Sprintf("item:b%x", item) || strings.TrimRight(got[at].key, "1") != key {
						t.Errorf("Read of items has %q %v, error %v", got[at].key, got, err)
					}
				}
			})
		}
	}
}

// The kinds of values: numbers and strings are such, whatever item they are written as.
func TestValueKinds(t *testing.T) {
	t.Parallel()
	const data = "\xa8\x61a\x01\x61b\xf9\x3e\x00\x61c\x41x\x61d\x61x\x61e\x5f\x41x\xff\x61f\x7f\x61x\xff\x61g\xc2\x41\x01\x61h\xf5"
	want := []converters.Kind{converters.KindInt, converters.KindFloat, converters.KindBytes, converters.KindText,
		converters.KindBytes, converters.KindText, converters.KindInt, converters.KindNested}
	for span, err := range memory(Options{}, []byte(data)).Index(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range span.Shape.Fields {
			if f.Value.Kind() != want[i] {
				t.Errorf("%s: kind %d, want %d", f.Name, f.Value.Kind(), want[i])
			}
		}
	}
}

// A name may be where it was not, may be gone, and may come back: no field gets a wrong
// one, and the same one twice in an item is always found.
func TestNames(t *testing.T) {
	t.Parallel()
	item := func(names string) []byte {
		b := []byte{0xb8, byte(len(names))}
		for _, c := range []byte(names) {
			b = append(b, 0x61, c, 0x01)
		}
		return b
	}
	many := "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	for _, row := range []struct {
		items []string
		twice bool // in the last
	}{
		{[]string{"abc", "abc", "acb", "ab", "abc"}, false},
		{[]string{"abc", "ac", "acc"}, true},
		{[]string{"abc", "aba"}, true},
		{[]string{"abc", "abca"}, true},
		{[]string{"aa"}, true},
		{[]string{many, many, many[1:], many[:40] + many[41:], many}, false},
		{[]string{many, many + "a"}, true},
		{[]string{many, many[1:] + "Z"}, true},
		{[]string{many, "ab", many, many[:51] + "b"}, true},
	} {
		var data []byte
		for _, names := range row.items {
			data = append(data, item(names)...)
		}
		got, err := contents(t, memory(Options{}, data))
		if row.twice {
			if placed := wantPlaced(t, err); placed.Hint != hintRaw || !strings.Contains(err.Error(), "duplicate") || placed.Entry != fmt.Sprint("item ", len(row.items)-1) {
				t.Errorf("%q: %v", row.items, err)
			}
			continue
		}
		if err != nil || len(got) != len(row.items) {
			t.Fatalf("%q: %v", row.items, err)
		}
		for i, names := range row.items {
			if have := strings.ReplaceAll(strings.Join(got[i].fields, ""), ":1", ""); have != names {
				t.Errorf("%q: item %d has %q", row.items, i, have)
			}
		}
	}
}
