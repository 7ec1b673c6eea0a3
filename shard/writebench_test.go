package shard

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/ffconvert/ffconvert/encode"
)

// BenchmarkWrite converts 100,000 samples of about 100 bytes, a shard a worker.
func BenchmarkWrite(b *testing.B) {
	src := newFixture(1, 2, 50_000, 200)
	plan := newPlan(b, src, encode.Options{}, Options{Sizes: Sizes{Shards: 2}})
	dir := b.TempDir()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		out, err := OpenOutput(filepath.Join(dir, fmt.Sprint(i)))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := Write(context.Background(), src, plan, out, WriteOptions{NoVerify: true}); err != nil {
			b.Fatal(err)
		}
		if err := out.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100_000, "ns/sample")
}
