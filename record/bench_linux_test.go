package record

import (
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// BenchmarkReadBatch reads batches of 128 samples at random, from a file that the page cache has, or
// half of it, or nothing; with ReadBatch and, as the reference, with a pread for each sample.
func BenchmarkReadBatch(b *testing.B) {
	for _, size := range []int{300, 100_000} {
		samples := make([][]byte, (256<<20)/size)
		p := noise(1, size)
		for i := range samples {
			samples[i] = p
		}
		path := onDisk(b, "a.ffr", shardOf(b, samples...))
		clear(samples)
		r, err := Open(path, Options{})
		if err != nil {
			b.Fatal(err)
		}
		defer r.Close()
		for _, cached := range []string{"warm", "half", "cold"} {
			for _, way := range []string{"pread", "batch"} {
				for _, jobs := range []int{1, 2, 4} {
					b.Run(fmt.Sprintf("%dB/%s/%s/jobs=%d", size, cached, way, jobs), func(b *testing.B) {
						benchBatches(b, r, way == "batch", jobs, func() { setCached(b, path, payloadOff(int64(len(samples))), cached) })
					})
				}
			}
		}
	}
}

// benchBatches reads a batch in each of the goroutines per iteration.
func benchBatches(b *testing.B, r *Reader, batch bool, jobs int, prepare func()) {
	indices := make([][]int, jobs)
	outs := make([][][]byte, jobs)
	for g := range jobs {
		indices[g], outs[g] = make([]int, 128), make([][]byte, 128)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	read := func(indices []int, out [][]byte) (err error) {
		if batch {
			_, err = r.ReadBatch(b.Context(), indices, out)
			return err
		}
		for k, i := range indices {
			if out[k], err = r.Read(i, out[k]); err != nil {
				return err
			}
		}
		return nil
	}
	b.ReportAllocs()
	_, e, err := r.Extent(0)
	if err != nil {
		b.Fatal(err)
	}
	for _, out := range outs {
		for k := range out {
			out[k] = make([]byte, e.Size)
		}
	}
	n := 0
	for b.Loop() {
		if n%64 == 0 {
			b.StopTimer()
			prepare()
			b.StartTimer()
		}
		n++
		var wg sync.WaitGroup
		for g := range jobs {
			for k := range indices[g] {
				indices[g][k] = rng.IntN(r.Len())
			}
			wg.Go(func() {
				if err := read(indices[g], outs[g]); err != nil {
					b.Error(err)
				}
			})
		}
		wg.Wait()
	}
	b.ReportMetric(float64(n*jobs*128)/b.Elapsed().Seconds(), "samples/s")
}

// setCached fills the page cache with all samples of a file, which begin at first, with each second 64 KiB of them, or with
// none. The header stays there.
func setCached(b *testing.B, path string, first int64, cached string) {
	b.Helper()
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		b.Fatal(err)
	}
	block := make([]byte, 64<<10)
	step, advice := int64(len(block)), unix.FADV_SEQUENTIAL
	if cached != "warm" {
		step, advice = 2*step, unix.FADV_RANDOM // no read-ahead
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
		if err := unix.Fadvise(int(f.Fd()), first, 0, unix.FADV_DONTNEED); err != nil {
			b.Fatal(err)
		}
	}
	if cached == "cold" {
		return
	}
	if err := unix.Fadvise(int(f.Fd()), 0, 0, advice); err != nil {
		b.Fatal(err)
	}
	for off := first; off < st.Size(); off += step {
		f.ReadAt(block, off)
	}
}
