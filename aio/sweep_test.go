package aio_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"testing"

	"github.com/ffconvert/ffconvert/aio"
)

// backends returns those that this machine has, by name.
func backends(t testing.TB) []aio.Backend {
	t.Helper()
	all := []aio.Backend{aio.Auto, aio.Pread}
	if r, err := aio.NewReader(aio.Options{Backend: aio.AIO, Depth: 1}); err == nil {
		all = append(all, aio.AIO)
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	return all
}

// sizes are where reads go wrong: around sectors, pages, blocks.
var sizes = []int{0, 1, 511, 512, 513, 4095, 4096, 4097, 65535, 65536, 65537, 1<<20 - 1, 1 << 20, 1<<20 + 1, 5 << 20}

var shapes = []aio.Options{
	{},
	{Depth: 1, BlockSize: 64 << 10},
	{Depth: 3, BlockSize: 64 << 10},
	{Depth: 7, BlockSize: 4096},
	{Depth: 1024, BlockSize: 4096},
}

func sweep(t testing.TB, r *aio.Reader, f *aio.File, off, size int64) ([]byte, error) {
	t.Helper()
	got := make([]byte, 0, max(0, min(size, f.Size())))
	for block, err := range r.Sweep(context.Background(), f, off, size) {
		if err != nil {
			if block != nil {
				t.Errorf("a block came with error %v", err)
			}
			return got, err
		}
		if len(block) == 0 || len(block) > 1<<20 {
			t.Errorf("a block of %d bytes", len(block))
		}
		got = append(got, block...)
		clear(block)
	}
	return got, nil
}

func TestSweep(t *testing.T) {
	t.Parallel()
	data := noise(sizes[len(sizes)-1])
	paths := make(map[int]string)
	for _, size := range sizes {
		paths[size] = writeFile(t, data[:size])
	}
	for _, backend := range backends(t) {
		for i, opts := range shapes {
			opts.Backend = backend
			t.Run(fmt.Sprintf("%v/%d", backend, i), func(t *testing.T) {
				t.Parallel()
				r := newReader(t, opts)
				for _, size := range sizes {
					f, err := aio.Open(paths[size])
					if err != nil {
						t.Fatal(err)
					}
					if f.Size() != int64(size) {
						t.Errorf("size %d, want %d", f.Size(), size)
					}
					for _, off := range []int{0, 1, 511, 512, 4097, size / 2, size - 1, size} {
						if off < 0 || off > size || size > 1<<17 && off != 0 && off != 511 {
							continue
						}
						for _, n := range []int{size - off, (size - off) / 3, min(1, size-off)} {
							got, err := sweep(t, r, f, int64(off), int64(n))
							if err != nil {
								t.Errorf("%d+%d of %d: %v", off, n, size, err)
							} else if !bytes.Equal(got, data[off:off+n]) {
								t.Errorf("%d+%d of %d: wrong bytes", off, n, size)
							}
						}
					}
					if err := f.Close(); err != nil {
						t.Error(err)
					}
				}
				st := r.Stats()
				if st.Backend == aio.Auto || (st.Backend == aio.AIO) != (st.Fallback == "") {
					t.Errorf("stats %+v", st)
				}
				if backend != aio.Auto && st.Backend != backend {
					t.Errorf("asked for %v: stats %+v", backend, st)
				}
				if opts.Depth != 0 && st.Depth != opts.Depth {
					t.Errorf("depth %d, want %d", st.Depth, opts.Depth)
				}
			})
		}
	}
}

func TestSweepEOF(t *testing.T) {
	t.Parallel()
	for _, backend := range backends(t) {
		for _, size := range []int{0, 1, 512, 4096, 5000, 65536, 100_000} {
			t.Run(fmt.Sprintf("%v/%d", backend, size), func(t *testing.T) {
				t.Parallel()
				data := noise(size)
				path := writeFile(t, data)
				r, f := open(t, aio.Options{Backend: backend, Depth: 4, BlockSize: 4096}, path)
				for _, more := range []int64{1, 512, 4096, 1 << 40} {
					got, err := sweep(t, r, f, 0, int64(size)+more)
					wantEOF(t, err, path, int64(size))
					if want := data[:size/4096*4096]; !bytes.Equal(got, want) {
						t.Errorf("%d bytes before the error, want the %d of whole blocks", len(got), len(want))
					}
				}
				_, err := sweep(t, r, f, int64(size)+10_000, 1)
				if !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Errorf("beyond the end: error %v", err)
				}
				// The reader is as good as new.
				if got, err := sweep(t, r, f, 0, int64(size)); err != nil || !bytes.Equal(got, data) {
					t.Errorf("afterwards: %d bytes, error %v", len(got), err)
				}
			})
		}
	}
}

func wantEOF(t *testing.T, err error, path string, off int64) {
	t.Helper()
	var re *aio.ReadError
	if !errors.As(err, &re) || !errors.Is(err, io.ErrUnexpectedEOF) || re.Path != path || re.Off != off {
		t.Errorf("error %v, want unexpected EOF of %q at %d", err, path, off)
		return
	}
	if want := fmt.Sprintf("read %q at byte %d: unexpected EOF", path, off); err.Error() != want {
		t.Errorf("message %q, want %q", err, want)
	}
}

// TestSweepTruncated cuts the file before the sweep and in the middle of it.
func TestSweepTruncated(t *testing.T) {
	t.Parallel()
	const size, cut = 2 << 20, 1<<20 + 100
	for _, backend := range backends(t) {
		for _, at := range []int{0, 1, 3} { // blocks that are yielded first
			t.Run(fmt.Sprintf("%v/%d", backend, at), func(t *testing.T) {
				t.Parallel()
				data := noise(size)
				path := writeFile(t, data)
				r, f := open(t, aio.Options{Backend: backend, Depth: 2, BlockSize: 64 << 10}, path)
				truncate := func() {
					if err := os.Truncate(path, cut); err != nil {
						t.Fatal(err)
					}
				}
				if at == 0 {
					truncate()
				}
				var got []byte
				var last error
				blocks := 0
				for block, err := range r.Sweep(t.Context(), f, 0, size) {
					last = err
					got = append(got, block...)
					if blocks++; blocks == at {
						truncate()
					}
				}
				wantEOF(t, last, path, cut)
				if !bytes.Equal(got, data[:1<<20]) {
					t.Errorf("%d bytes before the error", len(got))
				}
			})
		}
	}
}

func TestSweepStops(t *testing.T) {
	t.Parallel()
	data := noise(1 << 20)
	path := writeFile(t, data)
	for _, backend := range backends(t) {
		t.Run(backend.String(), func(t *testing.T) {
			t.Parallel()
			r, f := open(t, aio.Options{Backend: backend, Depth: 8, BlockSize: 16 << 10}, path)
			for stop := range 20 {
				var got []byte
				for block, err := range r.Sweep(t.Context(), f, 0, f.Size()) {
					if err != nil {
						t.Fatal(err)
					}
					if got = append(got, block...); len(got)/(16<<10) > stop {
						break
					}
				}
				if !bytes.Equal(got, data[:(stop+1)*16<<10]) {
					t.Fatalf("break after %d: wrong bytes", stop)
				}
				ctx, cancel := context.WithCancel(t.Context())
				n := 0
				var last error
				for _, err := range r.Sweep(ctx, f, 0, f.Size()) {
					if last = err; err == nil {
						if n++; n > stop {
							cancel()
						}
					}
				}
				cancel()
				if last != context.Canceled || n != stop+1 {
					t.Fatalf("cancel after %d: %d blocks, error %v", stop, n, last)
				}
				func() {
					defer func() { recover() }()
					for range r.Sweep(t.Context(), f, 0, f.Size()) {
						panic("in the loop")
					}
				}()
			}
			seq := r.Sweep(t.Context(), f, 3, f.Size()-3)
			for range 2 { // a sequence reads again
				var got []byte
				for block, err := range seq {
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, block...)
				}
				if !bytes.Equal(got, data[3:]) {
					t.Error("wrong bytes after all that")
				}
			}
		})
	}
}

// TestPull: a sweep that another loop drives, on a goroutine of its own.
func TestPull(t *testing.T) {
	t.Parallel()
	data := noise(300_000)
	path := writeFile(t, data)
	for _, backend := range backends(t) {
		r, f := open(t, aio.Options{Backend: backend, Depth: 4, BlockSize: 16 << 10}, path)
		for _, blocks := range []int{0, 1, 5, 1000} {
			next, stop := iter.Pull2(r.Sweep(t.Context(), f, 0, f.Size()))
			var got []byte
			for range blocks {
				block, err, ok := next()
				if err != nil {
					t.Fatal(err)
				}
				if !ok {
					break
				}
				got = append(got, block...)
			}
			stop()
			if want := data[:min(len(data), blocks*16<<10)]; !bytes.Equal(got, want) {
				t.Errorf("%v: %d blocks: %d bytes, want %d", backend, blocks, len(got), len(want))
			}
		}
	}
}

// TestMisuse: what the contracts forbid is an error, not a wrong read.
func TestMisuse(t *testing.T) {
	t.Parallel()
	path := writeFile(t, noise(100_000))
	opts := aio.Options{Depth: 2, BlockSize: 4096}
	r, f := open(t, opts, path)
	other, _ := open(t, opts, path)
	for _, err := range r.Sweep(t.Context(), f, 0, f.Size()) {
		if err != nil {
			t.Fatal(err)
		}
		if _, err := sweep(t, r, f, 0, 10); err == nil {
			t.Error("a sweep in a sweep")
		}
		reqs := []aio.Request{{Buf: make([]byte, 1)}}
		if err := r.ReadBatch(t.Context(), of(f, reqs)); err == nil || reqs[0].Err == nil {
			t.Error("a batch in a sweep")
		}
		if r.Close() == nil {
			t.Error("close in a sweep")
		}
		if f.Close() == nil {
			t.Error("close of the file in a sweep")
		}
		if f2, err := aio.Open(path); err != nil { // this is allowed
			t.Error(err)
		} else if err := f2.Close(); err != nil {
			t.Error(err)
		}
	}
	if got, err := sweep(t, other, f, 0, f.Size()); err != nil || len(got) != 100_000 {
		t.Errorf("file that another reader has opened: %d bytes, error %v", len(got), err)
	}
	for _, rng := range [][2]int64{{-1, 1}, {0, -1}, {1, 1<<63 - 1}} {
		if _, err := sweep(t, r, f, rng[0], rng[1]); err == nil {
			t.Errorf("range %d", rng)
		}
	}
	if got, err := sweep(t, r, f, 0, f.Size()); err != nil || len(got) != 100_000 {
		t.Errorf("afterwards: %d bytes, error %v", len(got), err)
	}
	for range 2 {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := sweep(t, r, f, 0, 10); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("closed file: error %v", err)
	}
	reqs := []aio.Request{{File: f}, {Buf: make([]byte, 1)}}
	if err := r.ReadBatch(t.Context(), reqs); !errors.Is(reqs[0].Err, fs.ErrClosed) || !errors.Is(reqs[1].Err, fs.ErrInvalid) || !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("closed file, and none: error %v", err)
	}
	for range 2 {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := sweep(t, r, f, 0, 10); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("closed reader: error %v", err)
	}
}
