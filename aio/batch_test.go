package aio_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"

	"golang.org/x/sync/errgroup"

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
					if err := r.ReadBatch(t.Context(), of(f, reqs)); err != nil {
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
			err := r.ReadBatch(t.Context(), of(f, reqs))
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
			if err := r.ReadBatch(ctx, of(f, reqs)); err == nil || err.Error() != context.Canceled.Error() {
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
	need.Time(t, "thousands of batches")
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
			if err := r.ReadBatch(ctx, of(f, reqs)); err != nil {
				t.Fatal(err)
			}
		})
		if n > 8 {
			t.Errorf("%v: a batch makes %v allocations", backend, n)
		}
	}
}

// TestReadBatchFiles reads files side by side, and everything that a merge of requests can meet:
// neighbours, gaps of all sizes, overlaps, the same twice, and some that fail among them.
func TestReadBatchFiles(t *testing.T) {
	t.Parallel()
	data := make([][]byte, 5)
	paths := make([]string, len(data))
	for i, size := range []int{400_000, 0, 1, 70_000, 1<<20 + 13} {
		data[i] = noise(size + i)[i:]
		paths[i] = writeFile(t, data[i])
	}
	for _, backend := range backends(t) {
		for i, opts := range shapes {
			opts.Backend = backend
			t.Run(fmt.Sprintf("%v/%d", backend, i), func(t *testing.T) {
				t.Parallel()
				r := newReader(t, opts)
				files := make([]*aio.File, len(paths))
				for i, path := range paths {
					var err error
					if files[i], err = aio.Open(path); err != nil {
						t.Fatal(err)
					}
					defer files[i].Close()
				}
				rng := rand.New(rand.NewPCG(uint64(i), 9))
				for range 30 {
					reqs := make([]aio.Request, rng.IntN(100))
					from := make([]int, len(reqs))
					for j := range reqs {
						from[j] = rng.IntN(len(files))
						off := rng.IntN(len(data[from[j]]) + 1)
						if j > 0 && rng.IntN(4) > 0 {
							from[j] = from[j-1]
							off = int(reqs[j-1].Off) + []int{0, 1, len(reqs[j-1].Buf), len(reqs[j-1].Buf) + rng.IntN(50_000)}[rng.IntN(4)]
						}
						size := []int{0, 1, 300, 4096, 20_000, 150_000}[rng.IntN(6)]
						reqs[j] = aio.Request{File: files[from[j]], Off: int64(off), Buf: make([]byte, size)}
					}
					err := r.ReadBatch(t.Context(), reqs)
					failed := false
					for j, q := range reqs {
						content := data[from[j]]
						end := int(q.Off) + len(q.Buf)
						if beyond := end > len(content) && len(q.Buf) > 0; beyond {
							failed = true
							if !errors.Is(q.Err, io.ErrUnexpectedEOF) || !errors.Is(err, q.Err) {
								t.Fatalf("file %d, %d+%d: error %v", from[j], q.Off, len(q.Buf), q.Err)
							}
						} else if q.Err != nil || len(q.Buf) > 0 && !bytes.Equal(q.Buf, content[q.Off:end]) {
							t.Fatalf("file %d, %d+%d: wrong bytes, or error %v", from[j], q.Off, len(q.Buf), q.Err)
						}
					}
					if failed != (err != nil) {
						t.Fatalf("error %v", err)
					}
				}
			})
		}
	}
}

// TestReadBatchMerges counts what reaches the device.
func TestReadBatchMerges(t *testing.T) {
	t.Parallel()
	need.Time(t, "thousands of batches")
	path := writeFile(t, noise(1<<20))
	tests := []struct {
		name        string
		size, apart int64
		reads       int64
	}{
		{"side by side", 1000, 1000, 4}, // 250 of them, of each of two files
		{"the same", 1000, 0, 1},
		{"overlapping", 5000, 1000, 4},
		{"a small gap", 100, 4000, 15},
		{"a large gap", 100, 40_000, 27},
		{"larger than a block", 100_000, 100_000, 16},
	}
	for _, backend := range backends(t) {
		for _, tt := range tests {
			r, f := open(t, aio.Options{Backend: backend, Depth: 8, BlockSize: 64 << 10}, path)
			_, f2 := open(t, aio.Options{Depth: 1}, path)
			var reqs []aio.Request
			for off := int64(0); off+tt.size <= f.Size() && len(reqs) < 500; off += tt.apart {
				for _, file := range []*aio.File{f, f2} {
					reqs = append(reqs, aio.Request{File: file, Off: off, Buf: make([]byte, tt.size)})
				}
			}
			rand.Shuffle(len(reqs), func(i, j int) { reqs[i], reqs[j] = reqs[j], reqs[i] })
			if err := r.ReadBatch(t.Context(), reqs); err != nil {
				t.Fatal(err)
			}
			if n := r.Stats().Reads; n != 2*tt.reads {
				t.Errorf("%v: %s: %d requests of two files made %d reads, want %d", backend, tt.name, len(reqs), n, 2*tt.reads)
			}
		}
	}
}

// TestSharedFile: Readers read one file at once, and it cannot be closed under them.
func TestSharedFile(t *testing.T) {
	t.Parallel()
	need.Time(t, "thousands of batches")
	data := noise(300_000)
	path := writeFile(t, data)
	_, f := open(t, aio.Options{Depth: 1, BlockSize: 4096}, path)
	var g errgroup.Group
	for i := range 6 {
		g.Go(func() error {
			r, err := aio.NewReader(aio.Options{Depth: 4, BlockSize: 4096, Backend: []aio.Backend{aio.Auto, aio.Pread}[i%2]})
			if err != nil {
				return err
			}
			for range 20 {
				buf := make([]byte, len(data))
				err = errors.Join(err, r.ReadBatch(t.Context(), []aio.Request{{File: f, Buf: buf}}))
				var got []byte
				for block, e := range r.Sweep(t.Context(), f, 0, f.Size()) {
					got, err = append(got, block...), errors.Join(err, e)
					if f.Close() == nil {
						return errors.New("the file was closed under a sweep")
					}
				}
				if !bytes.Equal(buf, data) || !bytes.Equal(got, data) {
					return errors.New("wrong bytes")
				}
			}
			return errors.Join(err, r.Close())
		})
	}
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
}
