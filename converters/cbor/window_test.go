package cbor

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/convertertest"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
)

// entryOf is a map of one or more fields of bytes, or of texts.
func entryOf(pieces ...[]byte) []byte {
	b := []byte{0xa0 | byte(len(pieces))}
	for i, p := range pieces {
		b = append(b, 0x61, 'a'+byte(i))
		b = append(b, p...)
	}
	return b
}

// What was written into a part comes out of it, whatever the sizes.
func TestReadSizes(t *testing.T) {
	t.Parallel()
	const kib, mib = 1 << 10, 1 << 20
	rnd := rand.New(rand.NewPCG(5, 0))
	noise := make([]byte, 3*mib)
	for i := 0; i < len(noise); i += 8 {
		binary.LittleEndian.PutUint64(noise[i:], rnd.Uint64())
	}
	for name, sizes := range map[string][]int{
		"small":              {0, 1, 2, 100, 511},
		"around the reads":   {smallRead - 20, smallRead - 19, smallRead - 1, smallRead, smallRead + 1, 2 * smallRead, firstSweep - 20, firstSweep, firstSweep + 1},
		"around the window":  {mib - 23, mib - 20, mib - 1, mib, mib + 1},
		"large among small":  append([]int{10, 5 * mib / 2, 10, 20, 3 * mib / 2}, slices.Repeat([]int{30 * kib}, 20)...),
		"all large":          {mib, 3 * mib / 2, 2 * mib, mib + 1},
		"medium":             slices.Repeat([]int{100 * kib, 1, 77 * kib}, 8),
		"large, then a lull": append([]int{2 * mib}, slices.Repeat([]int{100}, 64)...),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var data []byte
			var want [][3][]byte
			for i, n := range sizes {
				w := [3][]byte{noise[i : i+n], fmt.Appendf(nil, "%x", noise[i:i+n/2]), noise[:n/3]} // no two alike
				data = append(data, entryOf(blob(w[0]), textItem(string(w[1])), blob(w[2]))...)
				want = append(want, w)
			}
			for _, load := range []bool{false, true} {
				src := memory(Options{Load: func(field string) bool { return load && field != "a" }}, data)
				i := 0
				for span, err := range src.Index(t.Context(), 0) {
					if err != nil {
						t.Fatal(err)
					}
					for k, f := range span.Shape.Fields {
						if read := k == 1 || k == 2 && load; f.Value.Len() != int64(len(want[i][k])) || read && !bytes.Equal(f.Value.Data(), want[i][k]) {
							t.Fatalf("Index: sample %d, field %d of %d bytes, or its bytes differ", i, k, f.Value.Len())
						}
					}
					i++
				}
				if i != len(want) {
					t.Fatalf("Index: %d samples", i)
				}
				i = 0
				for sample, err := range src.Read(t.Context(), converters.Run{Count: int64(len(want))}) {
					if err != nil {
						t.Fatal(err)
					}
					for k, f := range sample.Fields {
						if !bytes.Equal(f.Value.Data(), want[i][k]) {
							t.Fatalf("Read: sample %d, field %d: its bytes differ", i, k)
						}
					}
					i++
				}
				if i != len(want) {
					t.Fatalf("Read: %d samples", i)
				}
			}
		})
	}
}

// Index jumps over large byte strings, reads small items once in few reads, and Read of
// one sample costs little more than its bytes.
func TestReadLittle(t *testing.T) {
	t.Parallel()
	small, big := make([]byte, 30), make([]byte, 200_000)
	images, rows := bytes.Repeat(entryOf(blob(big), textItem("label")), 50), bytes.Repeat(entryOf(blob(small)), 20_000)
	medium := bytes.Repeat(entryOf(blob(make([]byte, 3000))), 1000)
	nested := bytes.Repeat(entryOf(append([]byte{0x81}, blob(big)...)), 5)
	for _, row := range []struct {
		name        string
		opts        Options
		data        []byte
		bytes, most int64 // that Index reads, and in how many reads
	}{
		{"large strings", Options{}, images, int64(51 * smallRead), 51},
		{"large strings of items", Options{Items: true}, images, int64(51 * smallRead), 51},
		{"large strings, loaded", Options{Load: func(string) bool { return true }}, images, int64(len(images)), 1000},
		{"large strings in lists", Options{}, nested, int64(len(nested)), 100},
		{"large strings in lists in items", Options{Items: true}, nested, int64(6 * smallRead), 6},
		{"small items", Options{}, rows, int64(len(rows)), int64(len(rows)/indexWindow) + 10},
		{"medium items", Options{}, medium, int64(len(medium)), int64(len(medium)/indexWindow)*5/4 + 10},
		{"one text", Options{Items: true}, textItem(strings.Repeat("t", 1<<20)), 1<<20 + 9, int64(1<<20/indexWindow) + 10},
	} {
		src, use := counted(memory(row.opts, row.data))
		for _, err := range src.Index(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
		}
		if got, reads := use.Read.Load(), use.Reads.Load(); got > row.bytes || reads > row.most {
			t.Errorf("%s: Index read %d bytes of %d in %d reads; at most %d in %d", row.name, got, len(row.data), reads, row.bytes, row.most)
		}
	}
	for _, row := range []struct {
		name string
		data []byte
		size int
	}{{"small", rows, len(rows) / 20_000}, {"large", images, len(images) / 50}} {
		src, use := counted(memory(Options{}, row.data))
		for i := range 10 {
			before := use.Read.Load()
			for _, err := range src.Read(t.Context(), converters.Run{First: int64(i), Off: int64(i * row.size), Count: 1}) {
				if err != nil {
					t.Fatal(err)
				}
			}
			if got := use.Read.Load() - before; got > int64(row.size+2*smallRead) {
				t.Errorf("%s: %d bytes read for an item of %d", row.name, got, row.size)
			}
		}
	}
}

// A grown buffer serves items of its size, is given back, and never holds more than an
// item needs.
func TestWindowShrinks(t *testing.T) {
	t.Parallel()
	data := cat(bytes.Repeat(entryOf(blob(make([]byte, 4<<20))), 3), bytes.Repeat(entryOf(blob([]byte("small"))), 1000))
	src := memory(Options{}, data)
	sc := src.scanner()
	pass := scan.Pass{Run: converters.Run{Count: 2}, Part: src.Parts()[0], File: convertertest.Memory(data)}
	if err := sc.Begin(t.Context(), &pass); err != nil {
		t.Fatal(err)
	}
	peak, grown := 0, 0
	for last := cap(sc.Buf); ; {
		spans, err := sc.Next(t.Context(), 2)
		if err != nil {
			t.Fatal(err)
		}
		if len(spans) == 0 {
			break
		}
		peak = max(peak, cap(sc.Buf))
		if cap(sc.Buf) > last {
			grown++
		}
		last = cap(sc.Buf)
	}
	if peak > 6<<20 || grown != 1 || cap(sc.Buf) != readWindow {
		t.Errorf("the buffer had %d bytes, grew %d times, in the end it has %d", peak, grown, cap(sc.Buf))
	}
}

// Text is checked in pieces: no rune is lost between two of them, none is made up.
func TestTextInPieces(t *testing.T) {
	t.Parallel()
	for _, runes := range []string{"ü", "漢", "🂡", "aü漢🂡"} {
		for shift := range 5 {
			data := []byte(strings.Repeat("a", shift) + strings.Repeat(runes, 20_000))
			src := memory(Options{Items: true}, textItem(string(data)))
			if n, err := count(t, src); n != 1 || err != nil {
				t.Errorf("%s, shifted by %d: %v", runes, shift, err)
			}
			data[len(data)/2+shift] = 0xff
			src = memory(Options{Items: true}, textItem(string(data)))
			if n, err := count(t, src); n != 0 || err == nil || !strings.Contains(err.Error(), "UTF-8") {
				t.Errorf("%s, shifted by %d, damaged: %v", runes, shift, err)
			}
		}
	}
}

// manyReads are items of many sizes.
func manyReads() []byte {
	return cat(entryOf(blob(make([]byte, 200_000)), textItem(strings.Repeat("t", 100_000))), []byte("\xa1\x61x\x82\x01"), blob(make([]byte, 300_000)), bytes.Repeat([]byte{0x05}, 10_000))
}

// A file that becomes shorter while it is read is found out.
func TestReadShrinking(t *testing.T) {
	t.Parallel()
	data := manyReads()
	for _, items := range []bool{false, true} {
		for n := 0; n < len(data); n += 19_997 {
			src := memory(Options{Items: items}, data)
			src.open = func(converters.Part, converters.Access) (converters.File, error) {
				return convertertest.Memory(data[:n]), nil
			}
			if got, err := count(t, src.with(src.Parts())); err == nil {
				t.Errorf("at %d bytes: %d samples", n, got)
			}
		}
	}
}

// An error of any read is reported.
func TestReadFaults(t *testing.T) {
	t.Parallel()
	data := manyReads()
	for _, items := range []bool{false, true} {
		convertertest.FailReads(t, 6, func(wrap func(convertertest.Opener) convertertest.Opener) error {
			src := memory(Options{Items: items}, data)
			src.open = wrap(src.open)
			_, err := count(t, src.with(src.Parts()))
			return err
		})
	}
}

// What an item costs is its key, and nothing without one. It is not parallel:
// allocations are counted.
func TestAllocs(t *testing.T) {
	const n = 1000
	var keyed, keyless, wide []byte
	for i := range n {
		keyed, keyless = smallItem(keyed, i), smallKeyless(keyless, i)
		wide = append(wide, entryOf(blob([]byte("bytes")), textItem("text"), []byte{0x18, 0x2a}, []byte{0xf9, 0x3c, 0x00}, []byte{0xf5})...)
	}
	for _, row := range []struct {
		name string
		opts Options
		data []byte
		most float64
	}{
		{"items with a key", Options{Items: true}, keyed, n},
		{"items without", Options{Items: true}, keyless, 0},
		{"fields with a key", Options{}, keyed, n},
		{"fields without", Options{}, keyless, 0},
		{"fields of all kinds", Options{}, wide, 0},
	} {
		src := memory(row.opts, row.data)
		index := testing.AllocsPerRun(10, func() {
			for _, err := range src.Index(t.Context(), 0) {
				if err != nil {
					t.Fatal(err)
				}
			}
		})
		read := testing.AllocsPerRun(10, func() {
			for _, err := range src.Read(t.Context(), converters.Run{Count: n}) {
				if err != nil {
					t.Fatal(err)
				}
			}
		})
		const once = 40 // what a call costs, whatever it reads
		if index > row.most+once || read > row.most+once {
			t.Errorf("%s: %v allocations by Index, %v by Read, for %d items", row.name, index, read, n)
		}
	}
}
