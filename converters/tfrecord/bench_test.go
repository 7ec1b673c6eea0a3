package tfrecord

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
)

// BenchmarkSource: 100 KiB pictures with labels, rows of some numbers, and lists of 1,000 floats.
func BenchmarkSource(b *testing.B) {
	row := example(entry("id", ints(12345)), entry("x", floats(1)), entry("y", floats(2)), entry("name", bytesList("abcdefgh")))
	for name, data := range map[string][]byte{
		"pictures": pictures(0, 200),
		"rows":     bytes.Repeat(framed(row), 20_000),
		"floats":   bytes.Repeat(framed(example(entry("embedding", floats(make([]float32, 1000)...)))), 1000),
	} {
		for _, opts := range []Options{{}, {Whole: true}} {
			src := memory(b, opts, data)
			b.Run(fmt.Sprintf("%s/whole=%t/index", name, opts.Whole), func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(data)))
				for b.Loop() {
					for _, err := range src.Index(b.Context(), 0) {
						if err != nil {
							b.Fatal(err)
						}
					}
				}
			})
			b.Run(fmt.Sprintf("%s/whole=%t/read", name, opts.Whole), func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(data)))
				for b.Loop() {
					n := 0
					for _, err := range src.Read(b.Context(), converters.Run{Count: math.MaxInt64}) {
						if err != nil {
							break // the end
						}
						n++
					}
					if n == 0 {
						b.Fatal("no samples")
					}
				}
			})
		}
	}
}
