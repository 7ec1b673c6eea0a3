package aio_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/ffconvert/ffconvert/aio"
)

// benchFile is the file that FFCONVERT_BENCH_FILE names, else one of 64 MiB.
func benchFile(b *testing.B) string {
	b.Helper()
	if path := os.Getenv("FFCONVERT_BENCH_FILE"); path != "" {
		return path
	}
	return writeFile(b, noise(64<<20))
}

func BenchmarkSweep(b *testing.B) {
	path := benchFile(b)
	for _, backend := range []aio.Backend{aio.Auto, aio.Pread} {
		for _, depth := range []int{1, 4, 32} {
			b.Run(fmt.Sprintf("%v/depth=%d", backend, depth), func(b *testing.B) {
				r, f := open(b, aio.Options{Backend: backend, Depth: depth}, path)
				b.SetBytes(f.Size())
				b.ReportAllocs()
				for b.Loop() {
					for _, err := range r.Sweep(context.Background(), f, 0, f.Size()) {
						if err != nil {
							b.Fatal(err)
						}
					}
				}
			})
		}
	}
}

func BenchmarkReadBatch(b *testing.B) {
	path := benchFile(b)
	for _, backend := range []aio.Backend{aio.Auto, aio.Pread} {
		for _, size := range []int{4 << 10, 110 << 10} {
			b.Run(fmt.Sprintf("%v/size=%d", backend, size), func(b *testing.B) {
				r, f := open(b, aio.Options{Backend: backend, BlockSize: 128 << 10}, path)
				reqs := make([]aio.Request, 256)
				rng := rand.New(rand.NewPCG(1, 2))
				for i := range reqs {
					reqs[i] = aio.Request{Off: rng.Int64N(f.Size() - int64(size)), Buf: make([]byte, size)}
				}
				b.SetBytes(int64(len(reqs) * size))
				b.ReportAllocs()
				for b.Loop() {
					if err := r.ReadBatch(context.Background(), f, reqs); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
