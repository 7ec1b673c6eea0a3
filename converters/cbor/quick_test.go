package cbor

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/heads"
	"github.com/ffconvert/ffconvert/internal/test/need"

	"github.com/ffconvert/ffconvert/converters"
)

// told is all that a source says of its only part, by Index and by Read.
func told(t *testing.T, src *source) (lines []string) {
	t.Helper()
	n := int64(0)
	for span, err := range src.Index(t.Context(), 0) {
		if err != nil {
			lines = append(lines, err.Error())
			break
		}
		lines = append(lines, fmt.Sprint(span.Off, span.Entries, span.Alike, contentOf(span.Shape)))
		n++
	}
	for sample, err := range src.Read(t.Context(), converters.Run{Count: n + 1}) { // one more: there is an end, or an error
		if err != nil {
			return append(lines, err.Error())
		}
		lines = append(lines, fmt.Sprint(sample.Off, contentOf(sample)))
	}
	t.Error("a run past the end has no error")
	return lines
}

// sameTold wants that the short cuts change nothing of what a source says.
func sameTold(t *testing.T, opts Options, data []byte) {
	t.Helper()
	slow := memory(opts, data)
	slow.slow = true
	want := told(t, slow)
	if got := told(t, memory(opts, data)); !slices.Equal(got, want) {
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] {
				t.Fatalf("%+v, % x: quick says\n%s\nthe walk\n%s", opts, data, got[i], want[i])
			}
		}
		t.Fatalf("%+v, % x: quick says %d lines, the walk %d", opts, data, len(got), len(want))
	}
}

// Items of any kind, most like one of the last, some of them damaged: they are accepted
// and refused as without short cuts, with the same words.
func TestQuick(t *testing.T) {
	t.Parallel()
	cases := 1_500
	if os.Getenv("FFCONVERT_FAULTS") != "" {
		cases = 100_000
	}
	all := func(string) bool { return true }
	for _, pack := range []bool{false, true} {
		t.Run(fmt.Sprintf("MessagePack %t", pack), func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(11, 0))
			kinds := someItems(t, pack)
			for range cases {
				var few [3][]byte
				for i := range few {
					few[i] = kinds[rnd.IntN(len(kinds))]
				}
				var data []byte
				for range 10 + rnd.IntN(30) {
					item := few[rnd.IntN(1+rnd.IntN(len(few)))]
					if rnd.IntN(6) == 0 {
						item = mutate(rnd, item)
					}
					data = append(data, item...)
				}
				data = append(data, make([]byte, rnd.IntN(20))...)
				opts := Options{MessagePack: pack, Items: true}
				switch rnd.IntN(6) {
				case 0:
					opts.Load = all
				case 1:
					opts.MaxDepth = 1 + rnd.IntN(4)
				case 2:
					opts.MaxItem = 20 + rnd.Int64N(40)
				case 3:
					opts.MaxName = 3 + rnd.Int64N(5)
				}
				sameTold(t, opts, data)
			}
		})
	}
}

// someItems are short items: flat maps mostly, all that is ordinary, and all that is not.
func someItems(t *testing.T, pack bool) (items [][]byte) {
	for _, row := range kinds {
		if item := map[bool]string{false: row.cbor, true: row.pack}[pack]; item != "" {
			items = append(items, []byte(item))
		}
	}
	items = append(items, map[bool][][]byte{
		false: {
			[]byte("\xa2\x67__key__\x61k\x67__key__\x61l"),                // two keys
			[]byte("\xa2\x67__key__\x61k\x67__key__\x01"),                 // a key and none
			[]byte("\xa2\x67__key__\x81\x61k\x61x\x61y"),                  // none: a list
			[]byte("\xa2\x81\x67__key__\x61k\x61x\x61y"),                  // a list is the name
			[]byte("\xa1\xa1\x67__key__\x61k\x61x"),                       // so is a map
			[]byte("\xa2\x01\x61k\x61x\xa1\x67__key__\x61k"),              // a key further in
			[]byte("\x82\x67__key__\x61k"),                                // a list
			[]byte("\xd9\xd9\xf7\xa1\x67__key__\x61k"),                    // a tag before it
			[]byte("\x81\xa1\x67__key__\x61k"),                            // in a list
			[]byte("\xa1\x67__key__\x64\xf0\x9f\x82\xa1"),                 // a rune of four bytes
			[]byte("\xa1\x67__key__\xbb\xff\xff\xff\xff\xff\xff\xff\xff"), // too many pairs
		},
		true: {
			[]byte("\x82\xa7__key__\xa1k\xa7__key__\xa1l"),
			[]byte("\x82\xa7__key__\xa1k\xa7__key__\x01"),
			[]byte("\x82\xa7__key__\x91\xa1k\xa1x\xa1y"),
			[]byte("\x82\x91\xa7__key__\xa1k\xa1x\xa1y"),
			[]byte("\x81\x81\xa7__key__\xa1k\xa1x"),
			[]byte("\x82\x01\xa1k\xa1x\x81\xa7__key__\xa1k"),
			[]byte("\x92\xa7__key__\xa1k"),
			[]byte("\x91\x81\xa7__key__\xa1k"),
			[]byte("\x81\xa7__key__\xa4\xf0\x9f\x82\xa1"),
		},
	}[pack]...)
	long := append(map[bool][]byte{false: {0x79, 1, 4}, true: {0xda, 1, 4}}[pack], strings.Repeat("t", patternSize+4)...)
	items = append(items, long, long, long)
	for seed := range uint64(60) {
		g := generator{Rand: rand.New(rand.NewPCG(seed, 12)), pack: pack, any: true}
		src := memory(Options{MessagePack: pack, Items: true}, g.sequence())
		src.slow = true
		for sample, err := range src.Read(t.Context(), converters.Run{Count: 20}) {
			if err != nil {
				break
			}
			if item := sample.Fields[0].Value.Data(); len(item) < 2*patternSize {
				items = append(items, bytes.Clone(item))
			}
		}
		for range 5 {
			n := g.IntN(5)
			key := g.IntN(2 * (n + 1))
			item, open := g.begin(nil, n+1, true)
			for i := range n + 1 {
				if i == key {
					item = g.text(g.text(item, "__key__", false), fmt.Sprint("key-", g.IntN(1000)), false)
					continue
				}
				item = g.text(item, strings.Repeat("n", 5+i), false) // one as long as "__key__"
				switch g.IntN(4) {
				case 0:
					item = g.text(item, g.words(), false)
				case 1:
					item = g.bytes(item, g.IntN(20))
				case 2:
					item = g.value(item, 3)
				default:
					item = g.number(item, g.Uint64()>>g.IntN(64))
				}
			}
			if open {
				item = append(item, 0xff)
			}
			items = append(items, item)
		}
	}
	return items
}

// The same over the edges of many windows.
func TestQuickEdges(t *testing.T) {
	t.Parallel()
	need.Time(t, "a cut at each byte")
	for _, pack := range []bool{false, true} {
		rnd := rand.New(rand.NewPCG(13, 0))
		kinds := slices.DeleteFunc(someItems(t, pack), func(item []byte) bool { return len(item) > 60 })
		for range 4 {
			var data []byte
			for len(data) < 5*indexWindow {
				item := kinds[rnd.IntN(len(kinds))]
				for range rnd.IntN(300) {
					data = append(data, item...)
				}
			}
			sameTold(t, Options{MessagePack: pack, Items: true}, data)
		}
	}
}

// What is like an item that was learned, and what is not. Where it is, a walk finds the
// same.
func TestPattern(t *testing.T) {
	t.Parallel()
	const float = "\xfb\x3f\xf8\x00\x00\x00\x00\x00\x00"
	for _, row := range []struct {
		name           string
		pack           bool
		learned, other string
		like           bool
	}{
		{"itself", false, "\xa0", "\xa0", true},
		{"another float", false, "\xa1\x61x" + float, "\xa1\x61x\xfb12345678", true},
		{"a float of less bytes", false, "\xa1\x61x" + float, "\xa1\x61x\xfa1234", false},
		{"another small number", false, "\x03", "\x0f", true},
		{"a number of more bytes", false, "\x03", "\x18\xff", false},
		{"another number of two bytes", false, "\x18\x20", "\x18\xff", true},
		{"another negative number", false, "\x20", "\x2f", true},
		{"text for a number", false, "\x20", "\x60", false},
		{"false for true", false, "\xf5", "\xf4", true},
		{"undefined for null", false, "\xf6", "\xf7", false},
		{"another key", false, "\xa1\x67__key__\x63abc", "\xa1\x67__key__\x63xyz", true},
		{"no key", false, "\xa1\x67__key__\x63abc", "\xa1\x67__kez__\x63abc", false},
		{"a key again", false, "\xa1\x67__kez__\x63abc", "\xa1\x67__key__\x63abc", false},
		{"a longer key", false, "\xa1\x67__key__\x63abc", "\xa1\x67__key__\x64abcd", false},
		{"a key of two bytes a letter", false, "\xa1\x67__key__\x62ab", "\xa1\x67__key__\x62\xc3\xbc", false},
		{"other text", false, "\x62ab", "\x62\x00\x7f", true},
		{"text that is none", false, "\x62ab", "\x62a\xff", false},
		{"the same letter", false, "\x64ab\xc3\xbc", "\x64ab\xc3\xbc", true},
		{"half a letter", false, "\x64ab\xc3\xbc", "\x64ab\xc3\xc3", false},
		{"other bytes", false, "\x43abc", "\x43\xff\xff\xff", true},
		{"other numbers in a list", false, "\x83\x01\x41a\x03", "\x83\x02\x41b\x04", true},
		{"a longer list", false, "\x83\x01\x02\x03", "\x84\x01\x02\x03\x04", false},
		{"a list for a number", false, "\x83\x01\x02\x80", "\x83\x01\x02\x01", false},
		{"the same simple value", false, "\xf8\x20", "\xf8\x20", true},
		{"one that is none", false, "\xf8\x20", "\xf8\x10", false},
		{"a tag", false, "\xd9\xd9\xf7\x01", "\xd9\xd9\xf7\x01", false},
		{"an open list", false, "\x9f\xff", "\x9f\xff", false},
		{"a number of MessagePack", true, "\x00", "\x7f", true},
		{"a negative one", true, "\xff", "\xe0", true},
		{"a map for a number", true, "\x7f", "\x80", false},
		{"other text of MessagePack", true, "\x92\xa1a\xd9\x01a", "\x92\xa1b\xd9\x01b", true},
		{"another extension", true, "\xd5\x01ab", "\xd5\x02ab", false},
		{"other bytes of one", true, "\xd5\x01ab", "\xd5\x01\xff\xff", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			src := memory(Options{MessagePack: row.pack, Items: true}, nil)
			var p patterns
			p.learn(src.forms, []byte(row.learned))
			fill := bytes.Repeat([]byte{0xf6}, 16)
			o, like := p.match(append([]byte(row.other), fill...))
			if like != row.like || like && o.size != len(row.other) {
				t.Fatalf("like: %t, of %d bytes", like, o.size)
			}
			sameTold(t, src.opts, cat([]byte(row.learned), []byte(row.other), fill))
		})
	}
}

// Where no items are alike, few are learned and few looked at. Where they become alike,
// one is learned soon, and another kind at once.
func TestPatternsDue(t *testing.T) {
	t.Parallel()
	var p patterns
	f := heads.CBOR
	learned, odd := 0, 0
	misses := func(items int, item string) (n int) {
		for range items {
			b := []byte(item)
			if item == "" {
				odd++
				b = fmt.Appendf(nil, "\xa1\x66%06d\x01", odd) // another name each time
			}
			if _, like := p.match(append(b, "12345678"...)); like {
				continue
			}
			n++
			if p.missed() {
				p.learn(f, b)
				learned++
			}
		}
		return n
	}
	if n := misses(10_000, ""); n != 10_000 || learned < 2 || learned > 2+10_000/idleItems {
		t.Errorf("%d of 10,000 do not match, %d were learned", n, learned)
	}
	if n := misses(10_000, "\x63abc"); n > idleItems+missesPerLearn {
		t.Errorf("then %d of 10,000 do not match", n)
	}
	if n := misses(10_000, "\x43abc"); n != 1 {
		t.Errorf("then %d of 10,000 do not match", n)
	}
	mixed := 0
	for range 1000 {
		mixed += misses(3, "\x43abc") + misses(1, "")
	}
	if mixed > 1000+500 {
		t.Errorf("of 4,000, a fourth of them odd, %d do not match", mixed)
	}
}

// A key outlives its sample, others of its block too, and no block is larger than others.
func TestKeys(t *testing.T) {
	t.Parallel()
	var k strings.Builder
	var want, got []string
	for i := range 3000 {
		key := strings.Repeat(fmt.Sprint(i, " "), i%1000)
		b := []byte(key)
		want, got = append(want, key), append(got, keep(&k, b))
		clear(b)
		if size := k.Cap(); size > keysBlock {
			t.Fatalf("a block of %d bytes", size)
		}
	}
	if !slices.Equal(got, want) {
		t.Error("the keys differ")
	}
}

// Small items cost no allocation each.
func TestQuickAllocations(t *testing.T) {
	var data []byte
	const n = 20_000
	for i := range n {
		data = smallItem(data, i)
	}
	src := memory(Options{Items: true}, data)
	per := testing.AllocsPerRun(3, func() {
		for range src.Index(context.Background(), 0) {
		}
		for range src.Read(context.Background(), converters.Run{Count: n}) {
		}
	})
	if per > n/100 {
		t.Errorf("%v allocations for %d items", per, n)
	}
}
