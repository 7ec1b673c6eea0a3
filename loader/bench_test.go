package loader_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/ffconvert/ffconvert/loader"
)

// BenchmarkBatches takes batches of 128 small samples that the page cache has, so that it shows what the loader itself takes: one
// operation is a batch.
func BenchmarkBatches(b *testing.B) {
	dir := made(b, "msgpack", 0, 12_800, 2)
	for _, f := range opened(b, loader.Options{}, dir).Files() { // written past the page cache
		if _, err := os.ReadFile(f.Path); err != nil {
			b.Fatal(err)
		}
	}
	for _, opts := range []loader.Options{{}, {Prefetch: 1, Readers: 1}, {Fields: []string{"bin", "cls"}}, {Keys: true}} {
		opts.Order = loader.Order{Batch: 128}
		b.Run(fmt.Sprintf("readers=%d fields=%d keys=%v", opts.Readers, len(opts.Fields), opts.Keys), func(b *testing.B) {
			l := opened(b, opts, dir)
			b.ReportAllocs()
			steps := 0
			for steps < b.N {
				for batch, err := range l.Batches(b.Context()) {
					if err != nil {
						b.Fatal(err)
					}
					b.SetBytes(int64(len(batch.Data)))
					if steps++; steps >= b.N {
						break
					}
				}
				if err := l.SetEpoch(l.Epoch() + 1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
