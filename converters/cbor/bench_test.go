package cbor

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
)

var benchCases = []struct {
	name  string
	items int
	opts  Options
	make  func(b []byte, i int) []byte
}{
	{"small", 500_000, Options{Items: true}, smallItem},
	{"small/fields", 500_000, Options{}, smallItem},
	{"small/keyless", 500_000, Options{Items: true}, smallKeyless},
	{"small/msgpack", 500_000, Options{Items: true, MessagePack: true}, smallMessagePack},
	{"small/varied", 500_000, Options{Items: true}, variedItem},
	{"100KB", 1_000, Options{Items: true}, image},
	{"100KB/fields", 1_000, Options{}, image},
}

// smallItem is {"__key__": "000123", "x": 1.5, "label": 3}, 34 bytes.
func smallItem(b []byte, i int) []byte {
	b = fmt.Appendf(b, "\xa3\x67__key__\x66%06d\x61x\xfb", i)
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(1.5))
	return append(b, "\x65label\x03"...)
}

func smallKeyless(b []byte, i int) []byte {
	b = fmt.Appendf(b, "\xa3\x62id\x66%06d\x61x\xfb", i)
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(1.5))
	return append(b, "\x65label\x03"...)
}

func smallMessagePack(b []byte, i int) []byte {
	b = fmt.Appendf(b, "\x83\xa7__key__\xa6%06d\xa1x\xcb", i)
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(1.5))
	return append(b, "\xa5label\x03"...)
}

// variedItem is like smallItem, made in 84 ways, all of 52 bytes.
func variedItem(b []byte, i int) []byte {
	from := len(b)
	b = fmt.Appendf(b, "\xa4\x67__key__%c%0*d", 0x66+byte(i%7), 6+i%7, i)
	b = append(b, [...]string{"\x61x\x03", "\x61x\xf9ab", "\x61x\xfaabcd", "\x61x\xfbabcdefgh"}[i*5%11%4]...)
	b = append(b, [...]string{"\x65label\x03", "\x65label\x18\xff", "\x65label\x19\xff\xff"}[i*11%13%3]...)
	n := 52 - len("\x61w\x60") - (len(b) - from)
	b = append(b, "\x61w"...)
	return append(append(b, 0x60|byte(n)), "abcdefghijklmnopqrstuvwxyz"[:n]...)
}

// image is {"__key__": "000123", "jpg": 100,000 bytes}.
func image(b []byte, i int) []byte {
	b = fmt.Appendf(b, "\xa2\x67__key__\x66%06d\x63jpg\x5a", i)
	b = binary.BigEndian.AppendUint32(b, 100_000)
	return append(b, make([]byte, 100_000)...)
}

// few is how many of n items there are: with -short a tenth.
func few(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}

// benchPart writes the items of a case, all of one size.
func benchPart(b *testing.B, items int, make func([]byte, int) []byte, opts Options) (*source, int64) {
	b.Helper()
	path := filepath.Join(b.TempDir(), "bench.cbor")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	var item []byte
	for i := range items {
		item = make(item[:0], i)
		w.Write(item)
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	return openFiles(b, opts, path), int64(len(item))
}

func perItem(b *testing.B, items int) {
	n := float64(b.N) * float64(items)
	b.ReportMetric(b.Elapsed().Seconds()*1e9/n, "ns/item")
	b.ReportMetric(n/b.Elapsed().Seconds(), "items/s")
}

func BenchmarkIndex(b *testing.B) {
	for _, c := range benchCases {
		b.Run(c.name, func(b *testing.B) {
			src, _ := benchPart(b, few(c.items), c.make, c.opts)
			b.SetBytes(src.Parts()[0].Size)
			b.ReportAllocs()
			for b.Loop() {
				for _, err := range src.Index(b.Context(), 0) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
			perItem(b, few(c.items))
		})
	}
}

func BenchmarkRead(b *testing.B) {
	for _, c := range benchCases {
		b.Run(c.name, func(b *testing.B) {
			src, _ := benchPart(b, few(c.items), c.make, c.opts)
			b.SetBytes(src.Parts()[0].Size)
			b.ReportAllocs()
			for b.Loop() {
				for _, err := range src.Read(b.Context(), converters.Run{Count: int64(few(c.items))}) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
			perItem(b, few(c.items))
		})
	}
}

// BenchmarkReadOne is what a shuffled plan does: runs of one sample.
func BenchmarkReadOne(b *testing.B) {
	for _, c := range benchCases {
		b.Run(c.name, func(b *testing.B) {
			src, size := benchPart(b, few(c.items), c.make, c.opts)
			b.SetBytes(size)
			b.ReportAllocs()
			i := int64(0)
			for b.Loop() {
				i = (i*5 + 3) % int64(few(c.items))
				for _, err := range src.Read(b.Context(), converters.Run{First: i, Off: i * size, Count: 1}) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
