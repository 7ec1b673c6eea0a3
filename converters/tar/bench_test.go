package tar

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
)

// few is how many of n samples there are: with -short a tenth.
func few(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}

// benchTar writes a tar of samples with one field of size bytes, and a class.
func benchTar(b *testing.B, samples, size int) *source {
	b.Helper()
	path := filepath.Join(b.TempDir(), "bench.tar")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	data := make([]byte, size)
	for i := range samples {
		w.Write(entry(typeRegular, fmt.Sprintf("%08d.jpg", i), data))
		w.Write(regular(fmt.Sprintf("%08d.cls", i), "7"))
	}
	w.Write(make([]byte, 1024))
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	return openFiles(b, Options{}, path)
}

var benchSizes = []struct {
	name          string
	samples, size int
}{
	{"200B", 100_000, 200},
	{"100KB", 4_000, 100_000},
	{"3MB", 120, 3_000_000},
}

func BenchmarkIndex(b *testing.B) {
	for _, c := range benchSizes {
		b.Run(c.name, func(b *testing.B) {
			src := benchTar(b, few(c.samples), c.size)
			b.ReportAllocs()
			members := 0
			for b.Loop() {
				for span, err := range src.Index(b.Context(), 0) {
					if err != nil {
						b.Fatal(err)
					}
					members += span.Entries
				}
			}
			b.ReportMetric(float64(members)/b.Elapsed().Seconds(), "members/s")
		})
	}
}

func BenchmarkRead(b *testing.B) {
	for _, c := range benchSizes {
		b.Run(c.name, func(b *testing.B) {
			src := benchTar(b, few(c.samples), c.size)
			b.SetBytes(src.Parts()[0].Size)
			b.ReportAllocs()
			for b.Loop() {
				for _, err := range src.Read(b.Context(), converters.Run{Count: int64(few(c.samples))}) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// BenchmarkReadOne is what a shuffled plan does: runs of one sample.
func BenchmarkReadOne(b *testing.B) {
	for _, c := range benchSizes {
		b.Run(c.name, func(b *testing.B) {
			src := benchTar(b, few(c.samples), c.size)
			step := (src.Parts()[0].Size - 1024) / int64(few(c.samples))
			b.SetBytes(step)
			b.ReportAllocs()
			i := int64(0)
			for b.Loop() {
				i = (i*5 + 3) % int64(few(c.samples))
				for _, err := range src.Read(b.Context(), converters.Run{Off: i * step, Count: 1}) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
