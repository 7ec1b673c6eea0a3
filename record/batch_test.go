package record

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ffconvert/ffconvert/internal/test/need"

	"github.com/ffconvert/ffconvert/aio"
)

// batchOptions are ways to read batches. The blocks are smaller than some samples. The backend AIO
// does not read from the page cache, where the system has AIO.
var batchOptions = []aio.Options{
	{},
	{Backend: aioBackend()},
	{BlockSize: 4096, Depth: 3, Backend: aioBackend()},
	{BlockSize: 8192, Backend: aio.Pread},
}

func aioBackend() aio.Backend {
	r, err := aio.NewReader(aio.Options{Backend: aio.AIO})
	if err != nil {
		return aio.Auto
	}
	r.Close()
	return aio.AIO
}

// shardDir is a directory of shards of tiny, empty, usual and large samples.
func shardDir(t testing.TB) (dir string, samples [][]byte) {
	t.Helper()
	dir = t.TempDir()
	for k, sizes := range [][]int{{0, 1, 0, 70_000, 300, 301, 302}, {}, {5000}, {0, 0, 0}, {100_000, 4096, 7, 0, 300_000, 12}} {
		var shard [][]byte
		for i, size := range sizes {
			shard = append(shard, noise(uint64(100*k+i), size))
		}
		if err := os.WriteFile(filepath.Join(dir, Name(k, 5)), shardOf(t, shard...), 0o644); err != nil {
			t.Fatal(err)
		}
		samples = append(samples, shard...)
	}
	return dir, samples
}

func openBatches(t testing.TB, path string, o aio.Options) *Reader {
	t.Helper()
	r, err := Open(path, Options{AIO: o})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// randomBatch reads one and compares it with what was written.
func randomBatch(ctx context.Context, r *Reader, samples [][]byte, rng *rand.Rand) error {
	indices := make([]int, rng.IntN(60))
	bufs := make([][]byte, rng.IntN(70))
	for k := range indices {
		indices[k] = rng.IntN(len(samples))
		if k > 0 && rng.IntN(3) == 0 { // a neighbour, or the same
			indices[k] = min(len(samples)-1, indices[k-1]+rng.IntN(2))
		}
		if k < len(bufs) && rng.IntN(2) == 0 {
			bufs[k] = bytes.Repeat([]byte{0xAA}, rng.IntN(10_000))
		}
	}
	out, err := r.ReadBatch(ctx, indices, bufs)
	if err != nil || len(out) != len(indices) {
		return fmt.Errorf("%d samples of %d: %v", len(out), len(indices), err)
	}
	for k, i := range indices {
		if out[k] == nil || !bytes.Equal(out[k], samples[i]) {
			return fmt.Errorf("sample %d: other bytes, nil %t", i, out[k] == nil)
		}
		if k < len(bufs) && len(out[k]) > 0 && cap(bufs[k]) >= len(out[k]) && &out[k][0] != &bufs[k][:1][0] {
			return fmt.Errorf("sample %d: not in the given memory", i)
		}
	}
	return nil
}

func TestReadBatch(t *testing.T) {
	t.Parallel()
	dir, samples := shardDir(t)
	for n, o := range batchOptions {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			r := openBatches(t, dir, o)
			rng := rand.New(rand.NewPCG(uint64(n), 3))
			for range 60 {
				if err := randomBatch(t.Context(), r, samples, rng); err != nil {
					t.Fatal(err)
				}
			}
			all := make([]int, len(samples))
			for i := range all {
				all[i] = i
			}
			before := r.BatchStats().Bytes
			if _, err := r.ReadBatch(t.Context(), all, nil); err != nil {
				t.Fatal(err)
			}
			size := int64(0)
			for _, s := range samples {
				size += int64(len(s))
			}
			s := r.BatchStats()
			if s.Bytes-before != size || s.Reads == 0 && s.Cached == 0 || o.Backend == aio.AIO && s.Cached > 0 || (o.Backend == aio.Pread) != (s.Fallback == "pread was asked for") || o.Depth > 0 && s.Depth != o.Depth {
				t.Errorf("all are %d bytes: %+v", size, s)
			}
		})
	}
}

// What is wrong with a file is told in the words of Read, and spoils no other sample.
func TestReadBatchDamage(t *testing.T) {
	t.Parallel()
	flip := func(off int64) func(t *testing.T, r *Reader, path string) {
		return func(t *testing.T, _ *Reader, path string) {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			b[off] ^= 1
			if err := os.WriteFile(path, b, 0o644); err != nil { // the same file, not another of its name
				t.Fatal(err)
			}
		}
	}
	cut := func(size int64) func(t *testing.T, r *Reader, path string) {
		return func(t *testing.T, _ *Reader, path string) {
			if err := os.Truncate(path, size); err != nil {
				t.Fatal(err)
			}
		}
	}
	payload := payloadOff(6)
	tests := []struct {
		name   string
		damage func(t *testing.T, r *Reader, path string)
		bad    []int
		want   error
	}{
		{"sound", func(*testing.T, *Reader, string) {}, nil, nil},
		{"first byte of the first", flip(payload), []int{0}, ErrChecksum},
		{"last byte of a large one", flip(payload + 99_999), []int{0}, ErrChecksum},
		{"a small one among others", flip(payload + 104_096 + 3), []int{2}, ErrChecksum},
		{"the last", flip(payload + 404_103 + 11), []int{5}, ErrChecksum},
		{"the CRC of an empty one", flip(headSize + 3*sumSize), []int{3}, ErrChecksum},
		{"a byte less", cut(payload + 404_114), []int{5}, io.ErrUnexpectedEOF},
		{"cut in a large one", cut(payload + 104_103 + 5000), []int{4, 5}, io.ErrUnexpectedEOF},
		{"cut at its start", cut(payload + 104_103), []int{4, 5}, io.ErrUnexpectedEOF},
		{"the header left", cut(payload), []int{0, 1, 2, 4, 5}, io.ErrUnexpectedEOF},
	}
	dir, samples := shardDir(t)
	good, err := os.ReadFile(filepath.Join(dir, Name(4, 5)))
	if err != nil {
		t.Fatal(err)
	}
	samples = samples[len(samples)-6:]
	for _, tt := range tests {
		for n, o := range batchOptions {
			t.Run(fmt.Sprintf("%s/%d", tt.name, n), func(t *testing.T) {
				t.Parallel()
				path := onDisk(t, "a.ffr", good)
				r := openBatches(t, path, o)
				if _, _, err := r.Extent(0); err != nil { // the header was sound
					t.Fatal(err)
				}
				tt.damage(t, r, path)
				for range 2 {
					compareWithRead(t, r, samples, tt.bad, tt.want)
				}
			})
		}
	}
}

func compareWithRead(t *testing.T, r *Reader, samples [][]byte, bad []int, want error) {
	t.Helper()
	indices := []int{5, 2, 0, 3, 4, 1}
	out, err := r.ReadBatch(t.Context(), indices, nil)
	if len(out) != len(indices) {
		t.Fatalf("%d samples, %v", len(out), err)
	}
	var texts []error
	failed := 0
	for k, i := range indices {
		alone, rerr := r.Read(i, nil)
		if rerr == nil {
			if out[k] == nil || !bytes.Equal(out[k], alone) || !bytes.Equal(alone, samples[i]) {
				t.Errorf("sample %d: other bytes than Read's", i)
			}
			continue
		}
		texts = append(texts, rerr)
		failed++
		if out[k] != nil {
			t.Errorf("sample %d was returned, and Read says %v", i, rerr)
		}
	}
	if failed != len(bad) || !errors.Is(err, want) {
		t.Errorf("%d bad samples, want %d; %v", failed, len(bad), err)
	}
	twice, err2 := r.ReadBatch(t.Context(), append(indices, indices...), nil)
	if len(twice) != 2*len(out) || fmt.Sprint(err2) != fmt.Sprint(err) {
		t.Errorf("all of them twice: %d samples, and an error is told twice: %v", len(twice), err2)
	}
	if fmt.Sprint(err) != fmt.Sprint(errors.Join(texts...)) {
		t.Errorf("a batch says\n%v, and Read\n%v", err, errors.Join(texts...))
	}
}

// A place in the error is that of the sample, not of the read that had others with it.
func TestReadBatchIOError(t *testing.T) {
	t.Parallel()
	f := &file{table: table{path: "a.ffr", size: 10_000}}
	p := location{f, 7, Extent{Off: 5000, Size: 300}}
	for _, tt := range []struct {
		err  error
		off  int64
		want error
	}{
		{&aio.ReadError{Path: "a.ffr", Off: 4096, Err: syscall.EIO}, 5000, syscall.EIO},
		{&aio.ReadError{Path: "a.ffr", Off: 5120, Err: syscall.EIO}, 5120, syscall.EIO},
		{&aio.ReadError{Path: "a.ffr", Off: 4500, Err: io.ErrUnexpectedEOF}, 5000, ErrTruncated},
		{errors.New("the queue is gone"), 5000, nil},
	} {
		err := f.arrived(p, &aio.Request{Err: tt.err})
		var fe *FormatError
		if !errors.As(err, &fe) || fe.Path != "a.ffr" || fe.Sample != 7 || fe.Off != tt.off || tt.want != nil && !errors.Is(err, tt.want) {
			t.Errorf("%v became %#v", tt.err, err)
		}
		if errors.Is(err, ErrCorrupt) != (tt.want == error(ErrTruncated)) {
			t.Errorf("%v: corrupt %t", err, errors.Is(err, ErrCorrupt))
		}
	}
}

func TestReadBatchRefuses(t *testing.T) {
	t.Parallel()
	dir, samples := shardDir(t)
	r := openBatches(t, dir, aio.Options{})
	for _, i := range []int{-1, len(samples), 1 << 62} {
		if out, err := r.ReadBatch(t.Context(), []int{0, i, 1}, nil); !errors.Is(err, errRange) || out != nil {
			t.Errorf("%d: %d samples, %v", i, len(out), err)
		}
	}
	if s := r.BatchStats(); s != (aio.Stats{}) {
		t.Errorf("something was read: %+v", s)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if out, err := r.ReadBatch(ctx, []int{3, 4}, nil); err != context.Canceled || out != nil {
		t.Errorf("cancelled: %d samples, %v", len(out), err)
	}
	if err := randomBatch(t.Context(), r, samples, rand.New(rand.NewPCG(1, 1))); err != nil {
		t.Errorf("after that: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if _, err := r.ReadBatch(t.Context(), []int{0}, nil); !errors.Is(err, os.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
	if r := openBatches(t, dir, aio.Options{Depth: -1}); r.Len() > 0 {
		if _, err := r.ReadBatch(t.Context(), []int{0}, nil); err == nil {
			t.Error("a negative depth is accepted")
		}
	}
}

// A batch opens the files again, by name: another file there is no damage to the one that was open.
func TestReadBatchReplaced(t *testing.T) {
	t.Parallel()
	b, samples := example(t)
	path := onDisk(t, "a.ffr", b)
	for _, during := range []struct {
		name   string
		change func() error
		want   error
	}{
		{"replaced", func() error {
			return errors.Join(os.WriteFile(path+".new", b, 0o644), os.Rename(path+".new", path))
		}, ErrReplaced},
		{"removed", func() error { return os.Remove(path) }, os.ErrNotExist},
	} {
		r := openBatches(t, path, aio.Options{})
		early := openBatches(t, path, aio.Options{})
		if _, err := early.ReadBatch(t.Context(), []int{0}, nil); err != nil {
			t.Fatal(err)
		}
		if err := during.change(); err != nil {
			t.Fatal(err)
		}
		var fe *FormatError
		out, err := r.ReadBatch(t.Context(), []int{2, 0}, nil)
		if !errors.Is(err, during.want) || errors.Is(err, ErrCorrupt) || !errors.As(err, &fe) || fe.Path != path || out != nil {
			t.Errorf("%s: %v", during.name, err)
		}
		if err := randomBatch(t.Context(), early, samples, rand.New(rand.NewPCG(1, 2))); err != nil {
			t.Errorf("%s, a file that was open: %v", during.name, err)
		}
	}
}

// Not parallel: it counts what the process holds.
func TestReadBatchConcurrent(t *testing.T) {
	need.Time(t, "many readers for seconds")
	dir, samples := shardDir(t)
	goroutines := runtime.NumGoroutine()
	descriptors := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			return 0 // another system
		}
		return len(entries)
	}
	before := descriptors()
	for n, o := range batchOptions {
		r, err := Open(dir, Options{AIO: o})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Go(func() {
				rng := rand.New(rand.NewPCG(uint64(n), uint64(g)))
				for range 8 {
					if err := randomBatch(t.Context(), r, samples, rng); err != nil {
						t.Error(err)
					}
				}
				cancel()
				for range 5 {
					if _, err := r.ReadBatch(ctx, []int{3, 1, 2}, nil); err != context.Canceled {
						t.Errorf("cancelled: %v", err)
					}
				}
			})
		}
		wg.Wait()
		cancel()
		if k := len(r.queues.idle); k > 8 {
			t.Errorf("%d queues for 8 callers", k)
		}
		if k := descriptors() - before; k > 2*5 {
			t.Errorf("%d descriptors for 5 files", k)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if k := descriptors(); k > before { // what earlier tests have left may be closed meanwhile
		t.Errorf("%d descriptors, and %d before", k, before)
	}
	for range 6000 { // a goroutine ends a little after it was waited for
		if runtime.NumGoroutine() <= goroutines {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines, and %d before", runtime.NumGoroutine(), goroutines)
}
