package aio

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"syscall"
	"testing"
	"time"
)

// badKernel returns a simulated kernel with a file of random bytes and random misbehaviour, and a reader.
func badKernel(rng *rand.Rand) (*sim, *Reader, *File, error) {
	k := &sim{rng: rng, data: make([]byte, rng.IntN(96<<10))}
	for i := range k.data {
		k.data[i] = byte(rng.Uint32())
	}
	odds := func() float64 { return max(0, rng.Float64()-0.5) * 0.6 }
	k.odds.short, k.odds.eintr, k.odds.eagain = odds(), odds(), odds()/3
	k.odds.partial, k.odds.full, k.odds.waitEINTR, k.odds.waitEAGAIN = odds()*3, odds()/3, odds(), odds()/3
	if rng.IntN(3) == 0 {
		k.odds.hard = 0.02
	}
	r, f, err := simReader(Options{Depth: 1 + rng.IntN(9), BlockSize: pageSize * (2 + rng.IntN(4)), Backend: AIO}, k, []int{512, 4096, 4}[rng.IntN(3)])
	return k, r, f, err
}

// listOf returns a list with one Reader, which stays open.
func listOf(r *Reader) *readerList {
	l := &readerList{idle: []*Reader{r}, last: time.NewTimer(time.Hour)}
	l.open = func() (*Reader, error) { return nil, errTooMany }
	return l
}

// readsRight compares one read with the file.
func readsRight(read func([]byte, int64) (int, error), k *sim, off int64, size int) error {
	b := make([]byte, size)
	n, err := read(b, off)
	want := k.data[min(off, int64(len(k.data))):]
	want = want[:min(size, len(want))]
	switch {
	case !bytes.HasPrefix(want, b[:n]):
		return fmt.Errorf("read %d+%d: wrong bytes", off, size)
	case errors.Is(err, syscall.EIO) && k.odds.hard > 0 && n < size:
	case n != len(want):
		return fmt.Errorf("read %d+%d: %d bytes, want %d, error %w", off, size, n, len(want), err)
	case n < size && err != io.EOF, n == size && err != nil:
		return fmt.Errorf("read %d+%d: %d bytes, error %w", off, size, n, err)
	}
	return nil
}

// Whatever the kernel does, a stream returns the bytes of the file, or an error: read in order, with gaps,
// and after jumps.
func TestStreamSimulated(t *testing.T) {
	t.Parallel()
	seeds := uint64(150)
	if os.Getenv("FFCONVERT_FAULTS") != "" {
		seeds = 2000
	}
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 21))
		k, r, f, err := badKernel(rng)
		if err != nil {
			t.Fatal(err)
		}
		s := &Stream{readers: listOf(r), direct: f, hint: rng.Int64N(50_000)}
		off := int64(0)
		for range 200 {
			switch rng.IntN(20) {
			case 0:
				off = rng.Int64N(int64(len(k.data)) + 100)
			case 1, 2, 3:
				off += rng.Int64N(9000)
			}
			size := 1 + rng.IntN(1+rng.IntN(30_000))
			if err := readsRight(s.ReadAt, k, off, size); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if off += int64(size); off > int64(len(k.data)) {
				off = 0
			}
		}
		if err := errors.Join(s.stop(), r.idle(), r.Close()); err != nil || k.misses > 0 {
			t.Fatalf("seed %d: %v, %d misaligned requests", seed, err, k.misses)
		}
	}
	t.Logf("D1 [streams] cases=%d undetected=0 lost=0", seeds)
}
