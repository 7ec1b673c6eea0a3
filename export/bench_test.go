package export_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/export"
)

// BenchmarkTars exports small samples of one field, and large ones.
func BenchmarkTars(b *testing.B) {
	for _, row := range []struct {
		name       string
		size, many int
	}{{"300B", 300, 50_000}, {"100KB", 100_000, 500}} {
		b.Run(row.name, func(b *testing.B) {
			parts := make([][]converters.Sample, 1)
			data := bytes.Repeat([]byte("0123456789"), row.size/10)
			for i := range row.many {
				parts[0] = append(parts[0], converters.Sample{Key: fmt.Sprintf("%08d", i), Fields: []converters.Field{{Name: "bin", Value: converters.Bytes(data)}}})
			}
			dir := shards(b, parts, encode.Options{}, 1)
			out := filepath.Join(b.TempDir(), "out")
			b.SetBytes(int64(row.size * row.many))
			b.ReportAllocs()
			for b.Loop() {
				if err := os.RemoveAll(out); err != nil {
					b.Fatal(err)
				}
				err := with(b.Context(), func(s *export.Source) error {
					_, err := export.Tars(b.Context(), s, filepath.Join(out, "x-%03d.tar"), export.Options{})
					return err
				}, dir)
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
