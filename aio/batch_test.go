package aio_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/ffconvert/ffconvert/aio"
)

func TestReadBatch(t *testing.T) {
	t.Parallel()
	data := noise(3<<20 + 777)
	path := writeFile(t, data)
	for _, backend := range backends(t) {
		for i, opts := range shapes {
			opts.Backend = backend
			t.Run(fmt.Sprintf("%v/%d", backend, i), func(t *testing.T) {
				t.Parallel()
				r, f := open(t, opts, path)
				rng := rand.New(rand.NewPCG(uint64(i), 5))
				for _, count := range []int{0, 1, 2, 33, 400} {
					reqs := make([]aio.Request, count)
					var want int64
					for j := range reqs {
						size := []int{0, 1, 100, 512, 4096, 5000, 70_000, 1<<20 + 3}[rng.IntN(8)]
						if count == 400 {
							size = min(size, 5000)
						}
						off := rng.IntN(len(data) - size + 1)
						switch rng.IntN(4) {
						case 0:
							off &^= 4095
						case 1:
							off = len(data) - size // the very end
						}
						reqs[j] = aio.Request{Off: int64(off), Buf: make([]byte, size), Err: io.EOF}
						want += int64(size)
					}
					before := r.Stats().Bytes
					if err := r.ReadBatch(t.Context(), f, reqs); err != nil {
						t.Fatal(err)
					}
					for _, q := range reqs {
						if q.Err != nil || !bytes.Equal(q.Buf, data[q.Off:][:len(q.Buf)]) {
							t.Fatalf("%d+%d: wrong bytes, error %v", q.Off, len(q.Buf), q.Err)
						}
					}
					if got := r.Stats().Bytes - before; got != want {
						t.Errorf("stats: %d bytes, want %d", got, want)
					}
				}
			})
		}
	}
}

func TestReadBatchErrors(t *testing.T) {
	t.Parallel()
	const size = 100_001
	data := noise(size)
	path := writeFile(t, data)
	for _, backend := range backends(t) {
		t.Run(backend.String(), func(t *testing.T) {
			t.Parallel()
			r, f := open(t, aio.Options{Backend: backend, Depth: 3, BlockSize: 4096}, path)
			tests := []struct {
				name string
				off  int64
				n    int
				eof  int64 // where; -1 for no error, -2 for another
			}{
				{"first byte", 0, 1, -1},
				{"last byte", size - 1, 1, -1},
				{"one beyond", size - 1, 2, size},
				{"at the end", size, 1, size},
				{"long, over the end", 10, 200_000, size},
				{"whole", 0, size, -1},
				{"nothing", 5, 0, -1},
				{"nothing at the end", size, 0, -1},
				{"negative", -1, 1, -2},
				{"overflow", 1<<63 - 1, 1, -2},
				{"good after bad", 4095, 9000, -1},
			}
			reqs := make([]aio.Request, len(tests))
			for i, tt := range tests {
				reqs[i] = aio.Request{Off: tt.off, Buf: make([]byte, tt.n)}
			}
			err := r.ReadBatch(t.Context(), f, reqs)
			for i, tt := range tests {
				q := reqs[i]
				switch {
				case tt.eof == -1:
					if q.Err != nil || !bytes.Equal(q.Buf, data[tt.off:][:tt.n]) {
						t.Errorf("%s: error %v", tt.name, q.Err)
					}
					continue
				case tt.eof >= 0:
					wantEOF(t, q.Err, path, tt.eof)
				case q.Err == nil:
					t.Errorf("%s: no error", tt.name)
				}
				if !errors.Is(err, q.Err) {
					t.Errorf("%s: %v is not in the batch's error", tt.name, q.Err)
				}
			}

			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			reqs = []aio.Request{{Buf: make([]byte, 10)}, {Buf: make([]byte, 20)}, {}}
			if err := r.ReadBatch(ctx, f, reqs); err == nil || err.Error() != context.Canceled.Error() {
				t.Errorf("cancelled: error %v", err)
			}
			if reqs[0].Err != context.Canceled || reqs[1].Err != context.Canceled || reqs[2].Err != nil {
				t.Errorf("cancelled: requests' errors %v, %v, %v", reqs[0].Err, reqs[1].Err, reqs[2].Err)
			}
		})
	}
}

// TestAllocations: a sweep and a batch that succeed leave nothing to the collector.
func TestAllocations(t *testing.T) {
	path := writeFile(t, noise(1<<20))
	for _, backend := range backends(t) {
		r, f := open(t, aio.Options{Backend: backend, Depth: 4, BlockSize: 4096}, path)
		ctx := context.Background()
		n := testing.AllocsPerRun(20, func() {
			for _, err := range r.Sweep(ctx, f, 0, f.Size()) { // 256 blocks
				if err != nil {
					t.Fatal(err)
				}
			}
		})
		if n > 8 {
			t.Errorf("%v: a sweep makes %v allocations", backend, n)
		}
		reqs := make([]aio.Request, 200)
		for i := range reqs {
			reqs[i] = aio.Request{Off: int64(i * 5000), Buf: make([]byte, 3000)}
		}
		n = testing.AllocsPerRun(20, func() {
			if err := r.ReadBatch(ctx, f, reqs); err != nil {
				t.Fatal(err)
			}
		})
		if n > 8 {
			t.Errorf("%v: a batch makes %v allocations", backend, n)
		}
	}
}
