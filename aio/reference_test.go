//go:build linux

package aio

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

// The tests named TestReference… carry the names of faults that the reference implementation,
// HFAiLab/ffrecord 1.4.0, is known to have. docs/reliability.md lists them.

// underTest are the two kernels that a Reader of a file is made on: the simulated one, which
// delays what it likes, and this machine's. wrap puts a fault between it and the Reader.
var underTest = []struct {
	name string
	open func(t *testing.T, rng *rand.Rand, wrap func(kernel) kernel) (*Reader, *File, []byte)
}{
	{"simulated", func(t *testing.T, rng *rand.Rand, wrap func(kernel) kernel) (*Reader, *File, []byte) {
		k := &sim{rng: rng, data: randomBytes(60*pageSize + 100)}
		r, err := newReader(Options{Backend: AIO, Depth: 4, BlockSize: pageSize}, wrap(k))
		if err != nil {
			t.Fatal(err)
		}
		return r, &File{path: "sim", size: int64(len(k.data)), align: 512}, k.data
	}},
	{"this machine's", func(t *testing.T, _ *rand.Rand, wrap func(kernel) kernel) (*Reader, *File, []byte) {
		path, data := testFile(t, 60*pageSize+100)
		r, err := newReader(Options{Backend: AIO, Depth: 4, BlockSize: pageSize}, wrap(newRing()))
		if err != nil {
			need.Missing(t, err)
		}
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return r, f, data
	}},
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{7}).Read(b)
	return b
}

// twoBatches reads other samples the second time, with the buffers of the first, and compares
// every byte of both.
func twoBatches(t *testing.T, r *Reader, f *File, data []byte) error {
	reqs := make([]Request, 12)
	for batch := range 2 {
		for i := range reqs {
			off := (batch*len(reqs) + i) * 2 * pageSize
			reqs[i] = Request{Off: int64(off + i), Buf: make([]byte, pageSize+100*i)}
		}
		if err := r.ReadBatch(t.Context(), of(f, reqs)); err != nil {
			return fmt.Errorf("batch %d: %w", batch, err)
		}
		for i, q := range reqs {
			if !bytes.Equal(q.Buf, data[q.Off:][:len(q.Buf)]) {
				return fmt.Errorf("batch %d, request %d: wrong bytes", batch, i)
			}
		}
	}
	return r.idle()
}

// The reference adds what io_getevents returns to the number of reads that are done, be it -EINTR,
// and it keeps one context for all batches, with what is in flight when one of them ends early. What
// the next batch reaps is then not its own: it returns buffers that nothing was read into, as
// checked. Here a batch would give other bytes than the file has, or never end.
func TestReferenceEINTRInGetevents(t *testing.T) {
	t.Parallel()
	need.Time(t, "the defects of another reader, in full size")
	for _, under := range underTest {
		t.Run(under.name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(4, 4))
			calls := 0
			for hit := true; hit; calls++ { // the first call, the second…
				j := &injector{call: "getevents", k: calls, errno: syscall.EINTR}
				r, f, data := under.open(t, rng, func(k kernel) kernel { j.kernel = k; return j })
				if err := twoBatches(t, r, f, data); err != nil {
					t.Errorf("io_getevents was interrupted at call %d: %v", calls, err)
				}
				if err := r.Close(); err != nil {
					t.Error(err)
				}
				hit = j.hit
			}
			if calls < 4 {
				t.Errorf("io_getevents was called %d times", calls-1)
			}
			s := &stutter{rng: rng}
			r, f, data := under.open(t, rng, func(k kernel) kernel { s.kernel = k; return s })
			for range 20 { // every other call, of one Reader
				if err := twoBatches(t, r, f, data); err != nil {
					t.Errorf("io_getevents was interrupted %d times: %v", s.n, err)
				}
			}
			if err := r.Close(); err != nil || s.n < 20 {
				t.Errorf("io_getevents was interrupted %d times; close: %v", s.n, err)
			}
		})
	}
	t.Run("after reads that ended early", func(t *testing.T) {
		t.Parallel()
		failed := 0
		for seed := range uint64(200) {
			k := &sim{rng: rand.New(rand.NewPCG(seed, 5)), data: randomBytes(60 * pageSize)}
			k.odds.waitEINTR, k.odds.hard = 0.3, 0.1
			r, f, err := simReader(Options{Depth: 4, BlockSize: pageSize}, k, 512)
			if err != nil {
				t.Fatal(err)
			}
			blocks := 0
			for _, err = range r.Sweep(t.Context(), f, 0, f.size) {
				if blocks++; err != nil || blocks == 5 {
					break // with three blocks in flight
				}
			}
			if err != nil {
				failed++
			}
			k.odds.hard = 0
			if next := twoBatches(t, r, f, k.data); next != nil {
				t.Errorf("seed %d: after %d blocks and %v: %v", seed, blocks, err, next)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
		if failed < 20 || failed > 180 {
			t.Errorf("%d of 200 sweeps have failed", failed)
		}
	})
}

// stutter is a kernel that is interrupted every other time.
type stutter struct {
	kernel
	rng *rand.Rand
	n   int
}

func (k *stutter) getevents(min int, events []event) (int, error) {
	if k.rng.IntN(2) == 0 {
		k.n++
		return 0, syscall.EINTR
	}
	return k.kernel.getevents(min, events)
}

// witness is this machine's kernel, and notes what is asked of it.
type witness struct {
	kernel
	depth    int // of io_setup
	requests int
	buffered int // of those, on a descriptor without O_DIRECT
	askew    int // or not aligned as the file wants it
}

func (k *witness) setup(depth int, mem []byte) error {
	k.depth = depth
	return k.kernel.setup(depth, mem)
}

func (k *witness) submit(reqs []request) (int, error) {
	n, err := k.kernel.submit(reqs)
	for _, q := range reqs[:n] {
		k.requests++
		if flags, err := unix.FcntlInt(uintptr(q.file.fd), unix.F_GETFL, 0); err != nil || flags&unix.O_DIRECT == 0 {
			k.buffered++
		}
		align := int64(q.file.align)
		if addr := int64(uintptr(unsafe.Pointer(unsafe.SliceData(q.buf)))); (q.off|int64(len(q.buf))|addr)%align != 0 || align < 512 {
			k.askew++
		}
	}
	return n, err
}

// The reference asks io_setup for 4,096 slots a reader, of the 65,536 that a host has by default,
// and does not look at the answer: the reads of the 17th reader fail. Here io_setup would be asked
// for more than the depth, or one of the readers would have no ring.
func TestReference4096SlotsAReader(t *testing.T) {
	t.Parallel()
	need.Time(t, "the defects of another reader, in full size")
	path, data := testFile(t, 20_000)
	for i := range 20 {
		depth := i % 3 // 0: the default
		k := &witness{kernel: newRing()}
		opts := Options{Depth: depth, BlockSize: pageSize, Backend: AIO}
		r, err := newReader(opts, k)
		for try := 0; err != nil && try < 50; try++ { // another package's test may have used it up
			time.Sleep(100 * time.Millisecond)
			r, err = newReader(opts, k)
		}
		if i == 0 && err != nil {
			need.Missing(t, err)
		} else if err != nil {
			t.Fatalf("reader %d: %v", i, err)
		}
		defer r.Close() // all of them are open at once
		if k.depth != cmp.Or(depth, defaultDepth) {
			t.Errorf("io_setup was asked for %d slots, for a depth of %d", k.depth, depth)
		}
		if got, err := readAll(t, r, path); err != nil || !bytes.Equal(got, data) || r.Stats().Backend != AIO {
			t.Errorf("reader %d: %d bytes, %v, %+v", i, len(got), err, r.Stats())
		}
	}
}

// The reference opens with O_DIRECT only where an ioctl that one file system has says so. Linux AIO
// without it is synchronous: io_submit returns with the reads done, one after the other, through
// the page cache. Here a request would reach io_submit on such a descriptor.
func TestReferenceSynchronousAIO(t *testing.T) {
	t.Parallel()
	need.Time(t, "the defects of another reader, in full size")
	path, data := testFile(t, 300_001)
	k := &witness{kernel: newRing()}
	r, err := newReader(Options{Depth: 4, BlockSize: 64 << 10}, k)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.Stats().Fallback != "" {
		need.Missing(t, r.Stats().Fallback)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	direct := f.direct()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if !direct {
		need.Missing(t, "the temporary directory has no O_DIRECT")
	}
	if got, err := readAll(t, r, path); err != nil || !bytes.Equal(got, data) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if k.requests == 0 || k.buffered > 0 || k.askew > 0 || !r.Stats().Direct {
		t.Errorf("%d requests, %d of them through the page cache, %d not aligned; %+v", k.requests, k.buffered, k.askew, r.Stats())
	}

	// Where the file system refuses it, the pool reads, and says why.
	before := k.requests
	if f, err = Open(path); err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.why = "refused"
	buffer := make([]byte, len(data))
	if err := r.ReadBatch(t.Context(), of(f, []Request{{Buf: buffer}})); err != nil || !bytes.Equal(buffer, data) {
		t.Error(err)
	}
	if s := r.Stats(); k.requests != before || s.Backend != Pread || s.Direct || s.Fallback != "refused" {
		t.Errorf("%d requests reached io_submit; %+v", k.requests-before, s)
	}
}
