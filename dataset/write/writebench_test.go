package write_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/ffconvert/ffconvert/dataset"
	"github.com/ffconvert/ffconvert/dataset/write"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/test/memsource"
	"github.com/ffconvert/ffconvert/internal/test/shardtest"
	"github.com/ffconvert/ffconvert/shard/plan"
)

// BenchmarkWrite converts 100,000 samples of about 100 bytes, a shard a worker.
func BenchmarkWrite(b *testing.B) {
	src := memsource.New(1, 2, 50_000, 200)
	plan := shardtest.NewPlan(b, src, encode.Options{}, plan.Options{Sizes: plan.Sizes{Shards: 2}})
	dir := b.TempDir()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		out, err := dataset.Open(filepath.Join(dir, fmt.Sprint(i)))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := write.All(context.Background(), write.Local(src), plan, out, write.Options{NoVerify: true}); err != nil {
			b.Fatal(err)
		}
		if err := out.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100_000, "ns/sample")
}
