package aio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

// TestSimulatedKernel is fault row D1: whatever the kernel does, bytes that are
// handed out are right, and bytes that are missing are reported. A hang is
// found by the simulation, which panics rather than wait for nothing.
func TestSimulatedKernel(t *testing.T) {
	t.Parallel()
	need.Time(t, "many schedules of a kernel")
	seeds := uint64(300)
	if os.Getenv("FFCONVERT_FAULTS") != "" {
		seeds = 10_000
	}
	undetected := 0
	for seed := range seeds {
		if err := simulate(seed); err != nil {
			undetected++
			t.Errorf("seed %d: %v", seed, err)
		}
	}
	t.Logf("D1 cases=%d undetected=%d lost=0", seeds, undetected)
}

func simulate(seed uint64) (err error) {
	rng := rand.New(rand.NewPCG(seed, 11))
	k := &sim{rng: rng, data: make([]byte, rng.IntN(96<<10))}
	for i := range k.data {
		k.data[i] = byte(rng.Uint32())
	}
	odds := func() float64 { return max(0, rng.Float64()-0.5) * 0.6 } // never in half the runs, else up to 0.3
	k.odds.short, k.odds.eintr, k.odds.eagain = odds(), odds(), odds()/3
	k.odds.partial, k.odds.full, k.odds.waitEINTR, k.odds.waitEAGAIN = odds()*3, odds()/3, odds(), odds()/3
	if rng.IntN(3) == 0 {
		k.odds.hard = 0.02
	}
	opts := Options{Depth: 1 + rng.IntN(9), BlockSize: pageSize * (1 + rng.IntN(4))}
	align := []int{512, 4096, 4, 1}[rng.IntN(4)]
	if align == 1 {
		opts.Backend = AIO // Auto would take the pool
	}
	r, f, err := simReader(opts, k, align)
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, r.Close())
		if err == nil && !k.destroyed {
			err = errors.New("close did not destroy the queue")
		}
	}()
	for range 3 {
		k.hard = 0
		if rng.IntN(2) == 0 {
			err = simSweep(r, f, k)
		} else {
			err = simBatch(r, f, k)
		}
		if err == nil {
			err = r.idle()
		}
		if err == nil && len(k.inflight) > 0 {
			err = fmt.Errorf("the kernel still owns %d buffers", len(k.inflight))
		}
		if err == nil && k.misses > 0 {
			err = fmt.Errorf("%d misaligned requests", k.misses)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// simSweep sweeps a random range and perhaps stops in the middle.
func simSweep(r *Reader, f *File, k *sim) error {
	off := k.rng.Int64N(f.size + 2)
	size := k.rng.Int64N(f.size - min(off, f.size) + 1)
	beyond := k.rng.IntN(8) == 0
	if beyond {
		size = max(0, f.size-off) + 1 + k.rng.Int64N(9000)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stop, stopped := k.rng.IntN(60), ""
	var got []byte
	var err error
	for block, e := range r.Sweep(ctx, f, off, size) {
		if e != nil {
			err = e
			break
		}
		got = append(got, block...)
		clear(block) // the block is ours
		if stop--; stop == 0 {
			if stopped = "break"; k.rng.IntN(2) == 0 {
				stopped = "cancel"
				cancel()
				continue
			}
			break
		}
	}
	var want []byte
	if off < f.size {
		want = k.data[off:min(off+size, f.size)]
	}
	switch {
	case !bytes.HasPrefix(want, got):
		return fmt.Errorf("sweep %d+%d: wrong bytes", off, size)
	case errors.Is(err, syscall.EIO) && k.hard > 0:
	case errors.Is(err, io.ErrUnexpectedEOF) && beyond:
	case errors.Is(err, context.Canceled) && stopped == "cancel":
	case err != nil:
		return fmt.Errorf("sweep %d+%d: unasked for: %w", off, size, err)
	case stopped == "break":
	case k.hard > 0, beyond:
		return fmt.Errorf("sweep %d+%d: %d faults not reported", off, size, k.hard)
	case len(got) != len(want):
		return fmt.Errorf("sweep %d+%d: %d bytes", off, size, len(got))
	}
	return nil
}

// simBatch reads random requests of two files. Some lie side by side, some are the same. The
// other file may be one for the pool, or closed. Sometimes one page cannot be read, however often:
// then those that need it fail, and no other does.
func simBatch(r *Reader, f *File, k *sim) error {
	rng := k.rng
	g := &File{path: "sim2", fd: 1, align: f.align, why: f.why}
	k.more = k.data[:rng.IntN(len(k.data)+1)]
	g.size = int64(len(k.more))
	closed := rng.IntN(8) == 0
	switch {
	case closed:
		g.closed = true
	case rng.IntN(4) == 0:
		g.why = "simulated"
		r.usePool("")
		r.pool.(*pool).read = func(f *File, buf []byte, off int64) (int, error) {
			data := k.more[min(off, g.size):]
			return copy(buf[:max(f.align, len(buf)/2&^(f.align-1))], data), nil
		}
	}
	odds := k.odds
	defer func() { k.odds, k.bad, k.asked = odds, 0, nil }()
	if k.bad = rng.Int64N(64) - 40; k.bad > 0 {
		k.odds.hard = 0
	}
	f.buffered = nil
	if rng.IntN(2) == 0 {
		f.buffered, g.buffered = &File{fd: 0}, &File{fd: 1}
	}
	r.cacheHas = func(*os.File, int64, int64) bool { return rng.IntN(3) > 0 }
	r.cacheRead = func(file *File, buf []byte, off int64) (int, error) {
		first, last := off/pageSize, (off+int64(len(buf))-1)/pageSize
		switch {
		case first <= k.bad && k.bad <= last, k.chance(0.1):
			return -1, syscall.EIO
		case k.chance(0.1):
			buf = buf[:rng.IntN(len(buf))]
		}
		data := k.content(file)
		return copy(buf, data[min(off, int64(len(data))):]), nil
	}

	reqs := make([]Request, rng.IntN(40))
	for i := range reqs {
		size := rng.IntN(3 * pageSize)
		if rng.IntN(5) == 0 {
			size = rng.IntN(40 << 10)
		}
		file := f
		if rng.IntN(3) == 0 {
			file = g
		}
		off := rng.Int64N(file.size + 1)
		if i > 0 && rng.IntN(2) == 0 {
			file = reqs[i-1].File
			off = min(file.size, []int64{reqs[i-1].Off, reqs[i-1].end(), reqs[i-1].end() + rng.Int64N(2*mergeGap)}[rng.IntN(3)])
		}
		reqs[i] = Request{File: file, Off: off, Buf: bytes.Repeat([]byte{0xAA}, size)}
	}
	k.asked, k.company = reqs, 0
	err := r.ReadBatch(context.Background(), reqs)
	failed := 0
	for i, q := range reqs {
		pooled := q.File == g && g.why == "simulated" && r.opts.Backend != AIO
		beyond := len(q.Buf) > 0 && q.end() > q.File.size
		gone := closed && q.File == g
		bad := k.bad > 0 && len(q.Buf) > 0 && !pooled && q.Off/pageSize <= k.bad && (q.end()-1)/pageSize >= k.bad
		switch {
		case q.Err == nil && (beyond || gone || bad):
			return fmt.Errorf("request %d: beyond %t, closed %t, bad %t, and not reported", i, beyond, gone, bad)
		case q.Err == nil:
			if !bytes.Equal(q.Buf, k.content(q.File)[q.Off:q.end()]) {
				return fmt.Errorf("request %d: wrong bytes", i)
			}
			continue
		case errors.Is(q.Err, os.ErrClosed) && gone:
		case errors.Is(q.Err, syscall.EIO) && (k.hard > 0 || bad):
		case errors.Is(q.Err, io.ErrUnexpectedEOF) && beyond:
		default:
			return fmt.Errorf("request %d: unasked for: %w", i, q.Err)
		}
		failed++
		if !errors.Is(err, q.Err) {
			return fmt.Errorf("request %d: its error is not in the batch's", i)
		}
	}
	// What fails in company is read again by itself, and may succeed.
	if (failed > 0) != (err != nil) || k.hard > 0 && k.company == 0 && failed == 0 {
		return fmt.Errorf("%d faults, %d requests failed, error %v", k.hard, failed, err)
	}
	return nil
}

// liar is a kernel whose events are not to be believed.
type liar struct {
	kernel
	lie  func(events []event, n int) (int, error)
	mute bool // events stay with the kernel
	gone bool
}

func (k *liar) getevents(min int, events []event) (int, error) {
	n := 0
	if !k.mute {
		var err error
		if n, err = k.kernel.getevents(min, events); err != nil || n == 0 {
			return n, err
		}
	}
	return k.lie(events, n)
}

func (k *liar) destroy() error { k.gone = true; return k.kernel.destroy() }

// TestLyingKernel: what cannot be explained ends the Reader, at once and for good.
func TestLyingKernel(t *testing.T) {
	t.Parallel()
	need.Time(t, "a kernel that is waited for")
	tests := []struct {
		name  string
		mute  bool
		lie   func(events []event, n int) (int, error)
		block int    // pages of a block
		want  string // in the error
	}{
		{"unknown slot", false, func(e []event, n int) (int, error) { e[0].tag |= 0xFFFF; return n, nil }, 1, "unknown request"},
		{"slot beyond int32", false, func(e []event, n int) (int, error) { e[0].tag |= 1 << 31; return n, nil }, 1, "unknown request"},
		{"unknown generation", false, func(e []event, n int) (int, error) { e[0].tag += 1 << 32; return n, nil }, 1, "unknown request"},
		{"twice the same", false, func(e []event, n int) (int, error) { e[1] = e[0]; return 2, nil }, 1, "unknown request"},
		{"more than asked", false, func(e []event, n int) (int, error) { e[0].n += 512; return n, nil }, 16, "for a request of 40960"},
		{"negative count", false, func(e []event, n int) (int, error) { e[0].n = -1; return n, nil }, 1, "-1 bytes"},
		{"getevents EIO", true, func([]event, int) (int, error) { return 0, syscall.EIO }, 1, "input/output error"},
		{"getevents EAGAIN for ever", true, func([]event, int) (int, error) { return 0, syscall.EAGAIN }, 1, "temporarily unavailable"},
		{"nothing for ever", true, func([]event, int) (int, error) { return 0, nil }, 1, "temporarily unavailable"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			k := &sim{rng: rand.New(rand.NewPCG(1, 1)), data: make([]byte, 10*pageSize)}
			l := &liar{kernel: k, lie: tt.lie, mute: tt.mute}
			r, err := newReader(Options{Depth: 4, BlockSize: tt.block * pageSize}, l)
			if err != nil {
				t.Fatal(err)
			}
			f := &File{path: "sim", size: int64(len(k.data)), align: 512}
			var first error
			blocks := 0
			for _, err := range r.Sweep(t.Context(), f, 0, f.size) {
				blocks++
				first = err
			}
			if first == nil || blocks > 4 {
				t.Fatalf("after %d blocks: error %v, want one at once", blocks, first)
			}
			if first != nil && !strings.Contains(first.Error(), tt.want) {
				t.Errorf("error %q, want %q in it", first, tt.want)
			}
			if !l.gone {
				t.Error("the queue was not destroyed: the kernel may own buffers")
			}
			if err := r.ReadBatch(t.Context(), of(f, make([]Request, 1))); err != first {
				t.Errorf("read after that: %v, want %v", err, first)
			}
			if err := r.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		})
	}
}
