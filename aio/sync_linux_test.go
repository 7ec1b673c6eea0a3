package aio

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

// instant is a kernel that reads inside submit, as Linux does where it cannot wait.
type instant struct {
	events []event
	eintr  bool // every other event
}

func (k *instant) setup(int, []byte) error { return nil }
func (k *instant) destroy() error          { return nil }

func (k *instant) submit(reqs []request) (int, error) {
	for _, r := range reqs {
		n, err := pread(r.file, r.buf, r.off)
		if k.eintr && r.tag>>32&1 == 1 { // an odd generation: the first try, if the next one succeeds
			n, err = 0, syscall.EINTR
		}
		k.events = append(k.events, event{tag: r.tag, n: max(n, 0), err: err})
	}
	return len(reqs), nil
}

func (k *instant) getevents(min int, events []event) (int, error) {
	n := copy(events, k.events)
	k.events = k.events[n:]
	return n, nil
}

// slow is a kernel that is never done when asked at once.
type slow struct{ instant }

func (k *slow) getevents(min int, events []event) (int, error) {
	if min == 0 {
		return 0, nil
	}
	return k.instant.getevents(min, events)
}

// busy is a kernel on a machine with other things to do: the thread loses its processor inside
// submit as often as share says, and the reads are done by the time it has it back.
type busy struct {
	instant
	rng   *rand.Rand
	share float64
	done  bool
}

func (k *busy) submit(reqs []request) (int, error) {
	k.done = k.rng.Float64() < k.share
	for _, r := range reqs { // nothing is read
		k.events = append(k.events, event{tag: r.tag, n: len(r.buf)})
	}
	return len(reqs), nil
}

func (k *busy) getevents(min int, events []event) (int, error) {
	if min == 0 && !k.done {
		return 0, nil
	}
	return k.instant.getevents(min, events)
}

// On a busy machine submissions that are done on return say nothing of the file system, if there are
// others that are not.
func TestBusyMachine(t *testing.T) {
	t.Parallel()
	need.Time(t, "200 schedules of a kernel")
	path, _ := testFile(t, 4<<20)
	const seeds = 200
	wrong := 0
	for seed := range uint64(seeds) {
		r, err := newReader(Options{Depth: 4, BlockSize: 64 << 10}, &busy{rng: rand.New(rand.NewPCG(seed, 15)), share: 0.3})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := readAll(t, r, path); err != nil {
			t.Fatal(err)
		}
		if r.Stats().Fallback == whySync {
			wrong++
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if wrong > 0 {
		t.Errorf("%d of %d asynchronous file systems were called synchronous", wrong, seeds)
	}
}

func TestSynchronousFileSystem(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		kernel kernel
		opts   Options
		size   int
		want   Backend
	}{
		{"synchronous", &instant{}, Options{Depth: 4, BlockSize: 64 << 10}, 2 << 20, Pread},
		{"synchronous, interrupted", &instant{eintr: true}, Options{Depth: 1, BlockSize: 64 << 10}, 2 << 20, Pread},
		{"synchronous, forced", &instant{}, Options{Depth: 4, BlockSize: 64 << 10, Backend: AIO}, 2 << 20, AIO},
		{"asynchronous", &slow{}, Options{Depth: 4, BlockSize: 64 << 10}, 2 << 20, AIO},
		{"small file", &instant{}, Options{Depth: 4, BlockSize: 64 << 10}, 128 << 10, AIO},
		{"small blocks", &instant{}, Options{Depth: 4, BlockSize: 4096}, 2 << 20, AIO},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path, data := testFile(t, tt.size)
			r, err := newReader(tt.opts, tt.kernel)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			f, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if !f.direct() {
				need.Missing(t, "no O_DIRECT here: the pool reads from the start")
			}
			var got []byte
			for block, err := range r.Sweep(t.Context(), f, 0, f.Size()) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, block...)
			}
			if !bytes.Equal(got, data) {
				t.Error("wrong bytes")
			}
			st := r.Stats()
			if st.Backend != tt.want || (st.Fallback == whySync) != (tt.want == Pread) || !st.Direct {
				t.Errorf("stats %+v", st)
			}
		})
	}
}

// TestTmpfs reads a file system that, where it takes O_DIRECT at all, is synchronous.
func TestTmpfs(t *testing.T) {
	t.Parallel()
	var st unix.Statfs_t
	if err := unix.Statfs("/dev/shm", &st); err != nil || st.Type != unix.TMPFS_MAGIC {
		need.Missing(t, "no tmpfs at /dev/shm")
	}
	dir, err := os.MkdirTemp("/dev/shm", "aio")
	if err != nil {
		need.Missing(t, err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	_, data := testFile(t, 5<<20+3)
	path := filepath.Join(dir, "data")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		need.Missing(t, err)
	}
	for _, backend := range []Backend{Auto, AIO, Pread} {
		r, err := NewReader(Options{Backend: backend, Depth: 8, BlockSize: 128 << 10})
		if err != nil {
			need.Missing(t, err)
		}
		for range 2 {
			got, err := readAll(t, r, path)
			if err != nil || !bytes.Equal(got, data) {
				t.Errorf("%v: %d bytes, error %v", backend, len(got), err)
			}
		}
		st := r.Stats()
		t.Logf("%v: %+v", backend, st)
		if want := map[Backend]Backend{Auto: Pread, AIO: AIO, Pread: Pread}[backend]; st.Backend != want {
			t.Errorf("%v: stats %+v", backend, st)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestBufferedFile: without O_DIRECT the pool reads, and AIO only when forced.
func TestBufferedFile(t *testing.T) {
	t.Parallel()
	path, data := testFile(t, 1<<20+5)
	for _, backend := range []Backend{Auto, AIO, Pread} {
		r, err := NewReader(Options{Backend: backend, Depth: 8, BlockSize: 64 << 10})
		if err != nil {
			need.Missing(t, err)
		}
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.os.Close(); err != nil {
			t.Fatal(err)
		}
		// As Open leaves it where O_DIRECT is refused.
		if f.os, err = os.Open(path); err != nil {
			t.Fatal(err)
		}
		f.fd, f.align, f.why = int(f.os.Fd()), 1, "O_DIRECT was refused"
		var got []byte
		for block, err := range r.Sweep(t.Context(), f, 1, f.Size()-1) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, block...)
		}
		if !bytes.Equal(got, data[1:]) {
			t.Errorf("%v: wrong bytes", backend)
		}
		st := r.Stats()
		if st.Direct || (st.Backend == AIO) != (backend == AIO) || backend == Auto && st.Fallback != f.why {
			t.Errorf("%v: stats %+v", backend, st)
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestRefusesDirect reads a file system that refuses O_DIRECT at open.
func TestRefusesDirect(t *testing.T) {
	t.Parallel()
	const path = "/proc/version"
	want, err := os.ReadFile(path)
	if err != nil {
		need.Missing(t, err)
	}
	r, err := NewReader(Options{Depth: 3, BlockSize: pageSize})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got := make([]byte, len(want))
	if err := r.ReadBatch(t.Context(), of(f, []Request{{Buf: got}})); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%q, error %v", got, err)
	}
	if st := r.Stats(); f.direct() || st.Direct || st.Backend != Pread || st.Fallback == "" {
		t.Errorf("direct %t, stats %+v", f.direct(), st)
	}
}

// TestMisaligned: the kernel completes what it does not like with EINVAL, which
// is an error of that request and no other.
func TestMisaligned(t *testing.T) {
	t.Parallel()
	path, data := testFile(t, 100_000)
	for _, backend := range []Backend{Auto, Pread} {
		r, err := NewReader(Options{Backend: backend, Depth: 3, BlockSize: pageSize})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if f.align < 2 {
			need.Missing(t, "a file system that wants aligned reads")
		}
		f.align = 1
		reqs := []Request{{Buf: make([]byte, pageSize)}, {Off: 1, Buf: make([]byte, 10)}}
		err = r.ReadBatch(t.Context(), of(f, reqs))
		if reqs[0].Err != nil || !bytes.Equal(reqs[0].Buf, data[:pageSize]) {
			t.Errorf("%v: the good one: error %v", backend, reqs[0].Err)
		}
		if err == nil && bytes.Equal(reqs[1].Buf, data[1:11]) {
			continue // some file systems do not mind
		}
		if want := (&ReadError{path, 1, syscall.EINVAL}).Error(); err == nil || err.Error() != want {
			t.Errorf("%v: error %v, want %s", backend, err, want)
		}
	}
}

func TestCheckAlign(t *testing.T) {
	t.Parallel()
	tests := []struct {
		mem, off uint32
		want     int
		why      string
	}{
		{512, 512, 512, ""},
		{4, 512, 512, ""},
		{4096, 512, 4096, ""},
		{1, 1, 1, ""},
		{0, 0, 0, "does not support"},
		{512, 0, 0, "does not support"},
		{512, 8192, 0, "alignment of 8192"},
		{512, 520, 0, "alignment of 520"},
	}
	for _, tt := range tests {
		got, why := checkAlign(tt.mem, tt.off)
		if got != tt.want || tt.why == "" != (why == "") || !strings.Contains(why, tt.why) {
			t.Errorf("%d, %d: %d, %q", tt.mem, tt.off, got, why)
		}
	}
}

// TestOpenFIFO: opening a FIFO waits for its writer; it must not be tried.
func TestOpenFIFO(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		need.Missing(t, err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := Open(path)
		done <- err
	}()
	select {
	case err := <-done:
		if err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("error %v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("open hangs")
	}
}
