package folder

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
)

var benchSizes = []struct {
	name        string
	files, size int
}{
	{"200B", 10_000, 200},
	{"100KB", 2_000, 100_000},
	{"3MB", 60, 3_000_000},
}

// few is how many of n files there are: with -short a tenth.
func few(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}

// benchFolder writes an image folder of one class.
func benchFolder(b *testing.B, files, size int) (root string, src *source) {
	b.Helper()
	root = b.TempDir()
	if err := os.Mkdir(filepath.Join(root, "n01"), 0o755); err != nil {
		b.Fatal(err)
	}
	data := make([]byte, size)
	for i := range files {
		if err := os.WriteFile(benchFile(root, i), data, 0o644); err != nil {
			b.Fatal(err)
		}
	}
	return root, mustOpen(b, Options{}, root)
}

func benchFile(root string, i int) string {
	return filepath.Join(root, "n01", fmt.Sprintf("n01_%08d.jpg", i))
}

func BenchmarkIndex(b *testing.B) {
	root, _ := benchFolder(b, few(20_000), 0)
	b.ReportAllocs()
	files := 0
	for b.Loop() {
		src := mustOpen(b, Options{}, root)
		for span, err := range src.Index(b.Context(), 0) {
			if err != nil {
				b.Fatal(err)
			}
			files += span.Entries
		}
	}
	b.ReportMetric(float64(files)/b.Elapsed().Seconds(), "files/s")
}

func BenchmarkRead(b *testing.B) {
	for _, c := range benchSizes {
		b.Run(c.name, func(b *testing.B) {
			_, src := benchFolder(b, few(c.files), c.size)
			run := runOf(b, src, 0)
			b.SetBytes(int64(few(c.files) * c.size))
			b.ReportAllocs()
			for b.Loop() {
				for _, err := range src.Read(b.Context(), run) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// BenchmarkReadFile is the plain loop that Read is compared with.
func BenchmarkReadFile(b *testing.B) {
	for _, c := range benchSizes {
		b.Run(c.name, func(b *testing.B) {
			root, _ := benchFolder(b, few(c.files), c.size)
			b.SetBytes(int64(few(c.files) * c.size))
			b.ReportAllocs()
			for b.Loop() {
				for i := range few(c.files) {
					if _, err := os.ReadFile(benchFile(root, i)); err != nil {
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
			_, src := benchFolder(b, few(c.files), c.size)
			b.SetBytes(int64(c.size))
			b.ReportAllocs()
			i := int64(0)
			for b.Loop() {
				i = (i*5 + 3) % int64(few(c.files))
				for _, err := range src.Read(b.Context(), converters.Run{First: i, Off: i * int64(c.size), Count: 1}) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
