package aio

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"syscall"
	"testing"
)

// batchesFrom reads random requests of a file in 40 batches. The page cache answers with has and read;
// nil is what the system has. It returns the statistics.
func batchesFrom(t *testing.T, backend Backend, has func(*os.File, int64, int64) bool, read func(*File, []byte, int64) (int, error)) Stats {
	t.Helper()
	path, data := testFile(t, 400_001)
	r, f := openCached(t, path, Options{Backend: backend, Depth: 5, BlockSize: 4 * pageSize})
	if has != nil {
		r.cacheHas = has
	}
	if read != nil {
		r.cacheRead = read
	}
	rng := rand.New(rand.NewPCG(4, 4))
	for range 40 {
		reqs := make([]Request, rng.IntN(50))
		for i := range reqs {
			size := []int{0, 1, 300, 4096, 5000, 70_000}[rng.IntN(6)]
			off := rng.IntN(len(data) - size + 1)
			if rng.IntN(8) == 0 {
				off = len(data) - size
			}
			reqs[i] = Request{File: f, Off: int64(off), Buf: bytes.Repeat([]byte{0xAA}, size)}
		}
		if err := r.ReadBatch(t.Context(), reqs); err != nil {
			t.Fatal(err)
		}
		for _, q := range reqs {
			if q.Err != nil || !bytes.Equal(q.Buf, data[q.Off:q.end()]) {
				t.Fatalf("%d+%d: wrong bytes, or error %v", q.Off, len(q.Buf), q.Err)
			}
		}
	}
	return r.Stats()
}

// openCached opens a file for both ways of reading it.
func openCached(t *testing.T, path string, opts Options) (*Reader, *File) {
	t.Helper()
	r, err := NewReader(opts)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	buffered, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	f.UsePageCache(buffered)
	t.Cleanup(func() {
		if err := errors.Join(r.Close(), f.Close(), buffered.Close()); err != nil {
			t.Error(err)
		}
	})
	return r, f
}

// Whatever the page cache answers, and however its reads fail, the bytes are right, and Cached counts
// exactly what it gave.
func TestPageCache(t *testing.T) {
	t.Parallel()
	yes := func(*os.File, int64, int64) bool { return true }
	no := func(*os.File, int64, int64) bool { return false }
	each := func(pages int64) func(*os.File, int64, int64) bool {
		return func(_ *os.File, off, size int64) bool { return off/pageSize%pages == (off+size-1)/pageSize%pages }
	}
	fails := func(n int, err error) func(*File, []byte, int64) (int, error) {
		return func(_ *File, buf []byte, _ int64) (int, error) { return min(n, len(buf)), err }
	}
	half := 0
	for _, row := range []struct {
		name  string
		has   func(*os.File, int64, int64) bool
		read  func(*File, []byte, int64) (int, error)
		share int // of the bytes from the page cache: 0 none, 1 some, 2 all
	}{
		{"all", yes, nil, 2},
		{"none", no, nil, 0},
		{"some", each(2), nil, 1},
		{"EIO", yes, fails(-1, syscall.EIO), 0},
		{"EINTR", yes, fails(-1, syscall.EINTR), 0},
		{"end of file", yes, fails(0, io.EOF), 0},
		{"nothing", yes, fails(0, nil), 0},
		{"short", yes, func(f *File, buf []byte, off int64) (int, error) {
			if len(buf) > 1 {
				return pread(f, buf[:len(buf)/2], off)
			}
			return 0, nil
		}, 0},
		{"each second EIO", yes, func(f *File, buf []byte, off int64) (int, error) {
			if half++; half%2 == 0 {
				return -1, syscall.EIO
			}
			return pread(f, buf, off)
		}, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			for _, backend := range []Backend{Auto, Pread} {
				s := batchesFrom(t, backend, row.has, row.read)
				share := 0
				if s.Cached > 0 {
					share++
				}
				if s.Cached == s.Bytes {
					share++
				}
				if share != row.share || (s.Reads == 0) != (share == 2) {
					t.Errorf("%v: %+v", backend, s)
				}
			}
		})
	}
	if r, err := NewReader(Options{Backend: AIO}); err == nil {
		if s := batchesFrom(t, AIO, yes, fails(-1, syscall.EIO)); s.Cached != 0 || s.Backend != AIO {
			t.Errorf("the backend AIO: %+v", s)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A file that is cut after the page cache said yes ends there, with an error at the right place.
func TestPageCacheCut(t *testing.T) {
	t.Parallel()
	path, data := testFile(t, 100_001)
	r, f := openCached(t, path, Options{Depth: 3})
	r.cacheHas = func(*os.File, int64, int64) bool { return true }
	if err := os.Truncate(path, 50_000); err != nil {
		t.Fatal(err)
	}
	reqs := []Request{{Off: 49_000, Buf: make([]byte, 1000)}, {Off: 49_500, Buf: make([]byte, 1000)}, {Off: 90_000, Buf: make([]byte, 10)}}
	if err := r.ReadBatch(t.Context(), of(f, reqs)); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error %v", err)
	}
	if reqs[0].Err != nil || !bytes.Equal(reqs[0].Buf, data[49_000:50_000]) {
		t.Errorf("before the end: error %v", reqs[0].Err)
	}
	for _, q := range reqs[1:] {
		var re *ReadError
		if !errors.As(q.Err, &re) || re.Err != io.ErrUnexpectedEOF || re.Off < 50_000 {
			t.Errorf("%d: error %v", q.Off, q.Err)
		}
	}
}

// When neither the page cache nor the device has the bytes the error of the device is reported.
func TestPageCacheBothFail(t *testing.T) {
	t.Parallel()
	path, _ := testFile(t, 50_000)
	r, f := openCached(t, path, Options{Backend: Pread, Depth: 2})
	r.cacheHas = func(*os.File, int64, int64) bool { return true }
	r.cacheRead = func(*File, []byte, int64) (int, error) { return -1, syscall.ENOMEM }
	r.usePool("")
	r.pool.(*pool).read = func(*File, []byte, int64) (int, error) { return -1, syscall.EIO }
	reqs := []Request{{Off: 5000, Buf: make([]byte, 300)}}
	var re *ReadError
	if err := r.ReadBatch(t.Context(), of(f, reqs)); !errors.As(err, &re) || re.Err != syscall.EIO || reqs[0].Err == nil {
		t.Errorf("error %v", err)
	}
	if s := r.Stats(); s.Bytes != 0 || s.Cached != 0 {
		t.Errorf("%+v", s)
	}
}

// Nothing more is taken from the page cache after ctx is cancelled.
func TestPageCacheCancel(t *testing.T) {
	t.Parallel()
	path, _ := testFile(t, 50_000)
	r, f := openCached(t, path, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	r.cacheHas = func(*os.File, int64, int64) bool { return true }
	reads := 0
	r.cacheRead = func(f *File, buf []byte, off int64) (int, error) {
		if reads++; reads == 2 {
			cancel()
		}
		return pread(f, buf, off)
	}
	reqs := make([]Request, 5)
	for i := range reqs {
		reqs[i] = Request{Off: int64(i * 9000), Buf: make([]byte, 100)}
	}
	if err := r.ReadBatch(ctx, of(f, reqs)); !errors.Is(err, context.Canceled) || reads != 2 {
		t.Errorf("error %v after %d reads", err, reads)
	}
	for i, q := range reqs {
		if (q.Err == nil) != (i < 2) {
			t.Errorf("request %d: error %v", i, q.Err)
		}
	}
}

// A Sweep does not read from the page cache.
func TestPageCacheSweep(t *testing.T) {
	t.Parallel()
	path, data := testFile(t, 300_001)
	r, f := openCached(t, path, Options{})
	r.cacheHas = func(*os.File, int64, int64) bool { t.Error("a sweep asks the page cache"); return true }
	var got []byte
	for block, err := range r.Sweep(t.Context(), f, 0, f.Size()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, block...)
	}
	if s := r.Stats(); !bytes.Equal(got, data) || s.Cached != 0 || s.Reads == 0 {
		t.Errorf("%d bytes, %+v", len(got), s)
	}
}

// The page cache is asked seldom while it gives the same answer, and a new answer is soon noticed.
func TestPageCacheAsks(t *testing.T) {
	t.Parallel()
	path, _ := testFile(t, 50_000)
	r, f := openCached(t, path, Options{})
	cached, asked := false, 0
	r.cacheHas = func(*os.File, int64, int64) bool { asked++; return cached }
	read := func(n int) (taken int64) {
		t.Helper()
		before := r.Stats().Cached
		asked = 0
		for range n {
			if err := r.ReadBatch(t.Context(), []Request{{File: f, Off: 5, Buf: make([]byte, 1)}}); err != nil {
				t.Fatal(err)
			}
		}
		return r.Stats().Cached - before
	}
	if taken := read(1600); taken > 0 || asked < 64+90 || asked > 64+110 {
		t.Errorf("never cached: %d taken, asked %d times", taken, asked)
	}
	cached = true
	if taken := read(5000); taken < 5000-askEvery || asked < 1024+240 || asked > 1024+260 {
		t.Errorf("then cached: %d taken, asked %d times", taken, asked)
	}
	cached = false
	if taken := read(100); taken > askEvery || asked < 64 {
		t.Errorf("then not: %d taken, asked %d times", taken, asked)
	}
}
