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
					if err := r.ReadBatch(context.Background(), of(f, reqs)); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkReadBatchMerge reads samples of 300 bytes so far apart. The time of one jumps where
// they are no longer read together.
func BenchmarkReadBatchMerge(b *testing.B) {
	path := benchFile(b)
	for _, apart := range []int64{300, 4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10} {
		b.Run(fmt.Sprintf("apart=%d", apart), func(b *testing.B) {
			r, f := open(b, aio.Options{BlockSize: 256 << 10}, path)
			reqs := make([]aio.Request, 256)
			rng := rand.New(rand.NewPCG(1, 2))
			b.SetBytes(int64(len(reqs)) * 300)
			b.ReportAllocs()
			for b.Loop() {
				start := rng.Int64N(f.Size() - int64(len(reqs))*apart)
				for i := range reqs {
					reqs[i] = aio.Request{File: f, Off: start + int64(i)*apart, Buf: reqs[i].Buf}
					if reqs[i].Buf == nil {
						reqs[i].Buf = make([]byte, 300)
					}
				}
				if err := r.ReadBatch(context.Background(), reqs); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
