package aio

import (
	"bytes"
	"context"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

// held is what a process may fail to give back.
type held struct{ goroutines, files, rings int }

func measure(t *testing.T) held {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		need.Missing(t, err)
	}
	// The kernel maps each AIO context's completions into the process.
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		need.Missing(t, err)
	}
	return held{runtime.NumGoroutine(), len(fds), bytes.Count(maps, []byte("/[aio]"))}
}

// within reports whether nothing is held that was not before. What an earlier test has left may have gone meanwhile.
func (h held) within(before held) bool {
	return h.goroutines <= before.goroutines && h.files <= before.files && h.rings <= before.rings
}

// aioNr is the number of AIO requests that the whole host has reserved.
func aioNr(t *testing.T) int {
	t.Helper()
	b, err := os.ReadFile("/proc/sys/fs/aio-nr")
	if err != nil {
		need.Missing(t, err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// waitFor polls: a context that ends is given back a little after io_destroy,
// a goroutine a little after it was waited for.
func waitFor(ok func() bool) bool {
	for range 2000 {
		if ok() {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

// TestCancelLeavesNothing is fault row D4. Not parallel: it counts.
func TestCancelLeavesNothing(t *testing.T) {
	need.Time(t, "reads for seconds")
	path, data := testFile(t, 4<<20)
	before := measure(t)
	nr := aioNr(t)
	runs := 60
	if os.Getenv("FFCONVERT_FAULTS") != "" {
		runs = 200
	}
	for i := range runs {
		backend := []Backend{Auto, Pread}[i%2]
		r, err := NewReader(Options{Backend: backend, Depth: 1 + i%40, BlockSize: 16 << 10})
		if err != nil {
			t.Fatal(err)
		}
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rand.IntN(4000))*time.Microsecond)
		var got []byte
		var last error
		if i%3 > 0 {
			for block, err := range r.Sweep(ctx, f, 0, f.Size()) {
				got, last = append(got, block...), err
			}
		} else {
			got = make([]byte, len(data))
			reqs := make([]Request, 256)
			for j := range reqs {
				reqs[j] = Request{Off: int64(j) << 14, Buf: got[j<<14:][:16<<10]}
			}
			last = r.ReadBatch(ctx, of(f, reqs))
			for j, q := range reqs {
				if q.Err != nil {
					copy(q.Buf, data[q.Off:])
				} else if !bytes.Equal(q.Buf, data[q.Off:][:len(q.Buf)]) {
					t.Errorf("request %d: wrong bytes", j)
				}
			}
		}
		cancel()
		if !bytes.HasPrefix(data, got) || last == nil && len(got) != len(data) || last != nil && !strings.Contains(last.Error(), context.DeadlineExceeded.Error()) {
			t.Fatalf("run %d: %d bytes, error %v", i, len(got), last)
		}
		if err := r.idle(); err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if !waitFor(func() bool { return measure(t).within(before) }) {
		t.Errorf("held %+v, before %+v", measure(t), before)
	}
	// aio-nr belongs to the host, and other processes move it.
	if os.Getenv("FFCONVERT_FAULTS") != "" && !waitFor(func() bool { return aioNr(t) <= nr }) {
		t.Errorf("aio-nr %d, before %d", aioNr(t), nr)
	}
	if !t.Failed() {
		t.Logf("D4 [reader] cases=%d undetected=0 lost=0", runs)
	}
}

// TestAIOUsedUp is fault row C4: when the host's aio-max-nr is used up, readers
// take the pool. With FFCONVERT_FAULTS the kernel refuses, because readers have used it up, which
// disturbs whatever else uses AIO on the host; else io_setup is made to answer as the kernel would.
func TestAIOUsedUp(t *testing.T) {
	newReader := func(opts Options) (*Reader, error) {
		return newReader(opts, &injector{kernel: newRing(), call: "setup", errno: syscall.EAGAIN})
	}
	if os.Getenv("FFCONVERT_FAULTS") != "" {
		newReader = NewReader
	}
	path, data := testFile(t, 300_001)
	nr := aioNr(t)
	pools := 0
	func() {
		for range 2000 {
			r, err := newReader(Options{Depth: maxDepth, BlockSize: pageSize, Backend: AIO})
			if err == nil {
				defer r.Close()
				continue
			}
			if !errors.Is(err, syscall.EAGAIN) {
				t.Fatal(err)
			}
			if r, err = newReader(Options{Depth: maxDepth, BlockSize: pageSize}); err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			for range fewBytes/len(data) + 2 { // it asks for a queue after so many bytes
				if got, err := readAll(t, r, path); err != nil || !bytes.Equal(got, data) {
					t.Fatalf("%d bytes, error %v", len(got), err)
				}
			}
			if st := r.Stats(); st.Backend != Pread || !strings.Contains(st.Fallback, syscall.EAGAIN.Error()) {
				t.Errorf("stats %+v", st)
			}
			if pools++; pools == 20 {
				return
			}
		}
		need.Missing(t, "aio-max-nr is out of reach")
	}()
	// aio-nr belongs to the host, and other processes move it.
	if os.Getenv("FFCONVERT_FAULTS") != "" && !waitFor(func() bool { return aioNr(t) <= nr }) {
		t.Errorf("aio-nr %d, before %d", aioNr(t), nr)
	}
	if !t.Failed() {
		t.Logf("C4 [reader] cases=%d undetected=0 lost=0", pools)
	}
}

// TestReaderHoldsItsRing shows that what TestCancelLeavesNothing counts is there to be counted.
func TestReaderHoldsItsRing(t *testing.T) {
	before := measure(t)
	r, err := NewReader(Options{Backend: AIO, Depth: 7, BlockSize: pageSize})
	if err != nil {
		need.Missing(t, err)
	}
	if n := measure(t).rings - before.rings; n != 1 {
		t.Errorf("%d rings", n)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if n := measure(t).rings - before.rings; n != 0 {
		t.Errorf("%d rings after close", n)
	}
}

// TestCloseFreesMemory: Free refuses what is not mapped.
func TestCloseFreesMemory(t *testing.T) {
	t.Parallel()
	for _, backend := range []Backend{Auto, Pread} {
		r, err := NewReader(Options{Backend: backend, Depth: 2, BlockSize: pageSize})
		if err != nil {
			t.Fatal(err)
		}
		mem := r.mem
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if err := Free(mem); err == nil {
			t.Errorf("%v: close left the buffers mapped", backend)
		}
	}
}

// TestThread: a goroutine that ends while it is locked takes its thread with it. So one that
// has used a Reader, in whatever way, must leave its thread, and one that ends with the
// Reader's lock must not.
func TestThread(t *testing.T) {
	t.Parallel()
	need.Time(t, "reads for seconds")
	path, _ := testFile(t, 100_000)
	sweep := func(t *testing.T, r *Reader, f *File, body func(blocks int) bool) {
		blocks := 0
		for _, err := range r.Sweep(t.Context(), f, 0, f.Size()) {
			if blocks++; err != nil || !body(blocks) {
				break
			}
		}
	}
	keepLock := func(r *Reader) *Reader { // its unlock has nothing to do
		r.ring = &spy{kernel: r.ring, see: func() { r.locked = false }}
		return r
	}
	tests := []struct {
		name string
		gone bool
		use  func(t *testing.T, r *Reader, f *File)
	}{
		{"unused", false, func(*testing.T, *Reader, *File) {}},
		{"sweep", false, func(t *testing.T, r *Reader, f *File) { sweep(t, r, f, func(int) bool { return true }) }},
		{"break", false, func(t *testing.T, r *Reader, f *File) { sweep(t, r, f, func(n int) bool { return n < 2 }) }},
		{"end in the loop", false, func(t *testing.T, r *Reader, f *File) {
			sweep(t, r, f, func(int) bool { runtime.Goexit(); return true })
		}},
		{"panic in the loop", false, func(t *testing.T, r *Reader, f *File) {
			defer func() { recover() }()
			sweep(t, r, f, func(int) bool { panic("in the loop") })
		}},
		{"batch", false, func(t *testing.T, r *Reader, f *File) {
			r.ReadBatch(t.Context(), of(f, []Request{{Buf: make([]byte, 50_000)}}))
		}},
		{"batch that fails", false, func(t *testing.T, r *Reader, f *File) {
			r.ring = &injector{kernel: r.ring, call: "getevents", errno: syscall.EIO}
			r.ReadBatch(t.Context(), of(f, []Request{{Buf: make([]byte, 50_000)}}))
		}},
		{"inside a sweep", true, func(t *testing.T, r *Reader, f *File) {
			sweep(t, keepLock(r), f, func(int) bool { return false })
		}},
		{"inside a batch", true, func(t *testing.T, r *Reader, f *File) {
			keepLock(r).ReadBatch(t.Context(), of(f, []Request{{Buf: make([]byte, 50_000)}}))
		}},
	}
	for _, tt := range tests { // one after another: some end threads that others might get
		t.Run(tt.name, func(t *testing.T) {
			id := readerThread(t, path, tt.use)
			for id == unix.Getpid() { // the main thread, which never ends: another one
				id = readerThread(t, path, tt.use)
			}
			task := "/proc/self/task/" + strconv.Itoa(id)
			gone := func() bool { _, err := os.Stat(task); return err != nil }
			if tt.gone {
				if !waitFor(gone) {
					t.Error("the goroutine was not locked to its thread")
				}
				return
			}
			time.Sleep(100 * time.Millisecond)
			if gone() {
				t.Error("the thread was left locked")
			}
		})
	}
}

// A spy is told of every wait for events.
type spy struct {
	kernel
	see func()
}

func (k *spy) getevents(min int, events []event) (int, error) {
	k.see()
	return k.kernel.getevents(min, events)
}

// readerThread returns the thread of a goroutine that used a Reader of path, and then ended. The
// Reader was made by another, which closes it.
func readerThread(t *testing.T, path string, use func(t *testing.T, r *Reader, f *File)) int {
	r, err := NewReader(Options{Backend: AIO, Depth: 2, BlockSize: pageSize})
	if err != nil {
		need.Missing(t, err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	id := 0
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // keeps this thread from the next goroutine
		defer runtime.UnlockOSThread()
		ready := make(chan struct{})
		go func() {
			defer close(ready)
			defer func() { id = unix.Gettid() }()
			use(t, r, f)
		}()
		<-ready
	}()
	<-done
	if err := errors.Join(f.Close(), r.Close()); err != nil {
		t.Error(err)
	}
	return id
}

// interrupted counts the EINTRs of a kernel.
type interrupted struct {
	kernel
	n int
}

func (k *interrupted) getevents(min int, events []event) (int, error) {
	n, err := k.kernel.getevents(min, events)
	if err == syscall.EINTR {
		k.n++
	}
	return n, err
}

// TestSignalStorm is fault row D2: SIGURG, Go's preemption signal, to the
// thread that waits for events. Not parallel: it hurts.
func TestSignalStorm(t *testing.T) {
	need.Time(t, "reads for seconds")
	length := 300 * time.Millisecond
	if os.Getenv("FFCONVERT_FAULTS") != "" {
		length = 10 * time.Second
	}
	path, data := testFile(t, 8<<20)
	want := crc32.ChecksumIEEE(data)
	for _, backend := range []Backend{Auto, Pread} {
		k := &interrupted{kernel: newRing()}
		r, err := newReader(Options{Backend: backend, Depth: 4, BlockSize: 256 << 10}, k)
		if err != nil {
			t.Fatal(err)
		}
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		stop, sent := make(chan struct{}), make(chan int)
		runtime.LockOSThread()
		pid, tid := unix.Getpid(), unix.Gettid()
		go func() {
			n := 0
			for last := time.Now(); ; n++ { // 10 kHz, which no ticker keeps
				for time.Since(last) < 100*time.Microsecond {
					runtime.Gosched()
				}
				last = time.Now()
				select {
				case <-stop:
					sent <- n
					return
				default:
					unix.Tgkill(pid, tid, unix.SIGURG)
					unix.Kill(pid, unix.SIGURG)
				}
			}
		}()
		sweeps := 0
		for start := time.Now(); time.Since(start) < length; sweeps++ {
			crc := uint32(0)
			for block, err := range r.Sweep(t.Context(), f, 0, f.Size()) {
				if err != nil {
					t.Fatal(err)
				}
				crc = crc32.Update(crc, crc32.IEEETable, block)
			}
			if crc != want {
				t.Fatalf("sweep %d: digest %08x, want %08x", sweeps, crc, want)
			}
		}
		close(stop)
		runtime.UnlockOSThread()
		t.Logf("D2 [reader] cases=%d undetected=0 lost=0 asked_for=%v signals=%d eintr=%d # %+v", sweeps, backend, 2*<-sent, k.n, r.Stats())
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}
