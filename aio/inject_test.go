package aio

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ffconvert/ffconvert/internal/test/need"
)

// injector passes calls on and answers the k-th of one kind with an errno.
type injector struct {
	kernel
	call  string // "setup", "submit" or "getevents"
	k     int    // counts down
	errno syscall.Errno
	every bool // this call and all after it
	hit   bool
}

func (j *injector) fail(call string) bool {
	if call != j.call || j.hit && !j.every {
		return false
	}
	j.k--
	j.hit = j.k < 0
	return j.hit
}

func (j *injector) setup(depth int, mem []byte) error {
	if j.fail("setup") {
		return j.errno
	}
	return j.kernel.setup(depth, mem)
}

func (j *injector) submit(reqs []request) (int, error) {
	if j.fail("submit") {
		return 0, j.errno
	}
	return j.kernel.submit(reqs)
}

func (j *injector) getevents(min int, events []event) (int, error) {
	if j.fail("getevents") {
		return 0, j.errno
	}
	return j.kernel.getevents(min, events)
}

func (j *injector) destroy() error {
	if p, ok := j.kernel.(*pool); ok && p.jobs == nil {
		return nil
	}
	return j.kernel.destroy()
}

func testFile(t *testing.T, size int) (path string, data []byte) {
	t.Helper()
	data = make([]byte, size)
	for i := range data {
		data[i] = byte(i>>9 ^ i)
	}
	path = filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path, data
}

func readAll(t *testing.T, r *Reader, path string) (got []byte, err error) {
	t.Helper()
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	got = make([]byte, 0, f.Size())
	for block, err := range r.Sweep(t.Context(), f, 0, f.Size()) {
		if err != nil {
			return got, errors.Join(err, f.Close())
		}
		got = append(got, block...)
	}
	return got, f.Close()
}

// TestRefused is fault row C4: io_setup refused takes the pool, which reads the
// same, unless AIO was asked for by name.
func TestRefused(t *testing.T) {
	t.Parallel()
	path, data := testFile(t, 300_001)
	for _, errno := range []syscall.Errno{syscall.ENOSYS, syscall.EPERM, syscall.EAGAIN, syscall.ENOMEM, syscall.EINVAL} {
		for _, depth := range []int{1, 3, 32, 1024} {
			j := &injector{kernel: newPool(), call: "setup", errno: errno}
			r, err := newReader(Options{Depth: depth, BlockSize: pageSize}, j)
			if err != nil {
				t.Fatalf("%v: %v", errno, err)
			}
			got, err := readAll(t, r, path)
			if err != nil || !bytes.Equal(got, data) {
				t.Errorf("%v: %d bytes, error %v", errno, len(got), err)
			}
			st := r.Stats()
			if st.Backend != Pread || !strings.Contains(st.Fallback, errno.Error()) || st.Bytes != int64(len(data)) {
				t.Errorf("%v: stats %+v", errno, st)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
			j = &injector{kernel: newPool(), call: "setup", errno: errno}
			if _, err = newReader(Options{Depth: depth, Backend: AIO}, j); !errors.Is(err, errno) {
				t.Errorf("forced: error %v, want %v", err, errno)
			}
		}
	}
}

// TestErrnoAtEveryCall is the aio part of fault row C1: an errno at the k-th
// call, for every k of a run. EINTR and EAGAIN are absorbed, others reported.
func TestErrnoAtEveryCall(t *testing.T) {
	t.Parallel()
	need.Time(t, "each errno at each call")
	path, data := testFile(t, 100_001)
	for _, call := range []string{"submit", "getevents"} {
		for _, errno := range []syscall.Errno{syscall.EIO, syscall.ENOSPC, syscall.EINTR, syscall.EAGAIN, syscall.ENOMEM, syscall.EINVAL} {
			k := 0
			for ; ; k++ {
				j := &injector{kernel: newPool(), call: call, k: k, errno: errno}
				r, err := newReader(Options{Backend: AIO, Depth: 5, BlockSize: pageSize}, j)
				if err != nil {
					t.Fatal(err)
				}
				got, err := readAll(t, r, path)
				if cerr := r.Close(); cerr != nil {
					t.Error(cerr)
				}
				if !bytes.HasPrefix(data, got) {
					t.Fatalf("%v at %s %d: wrong bytes", errno, call, k)
				}
				absorbed := !j.hit || isRetry(errno)
				if absorbed && (err != nil || len(got) != len(data)) {
					t.Fatalf("%v at %s %d: %d bytes, error %v", errno, call, k, len(got), err)
				}
				if !absorbed && !errors.Is(err, errno) {
					t.Fatalf("%v at %s %d: not reported: %v", errno, call, k, err)
				}
				if !j.hit {
					break
				}
			}
			if k < 5 {
				t.Errorf("%s: only %d calls", call, k)
			}
		}
	}
}

// TestSubmitRefused: a filter may let io_setup pass and stop io_submit.
func TestSubmitRefused(t *testing.T) {
	t.Parallel()
	need.Time(t, "each errno of io_submit")
	path, data := testFile(t, 100_001)
	for _, errno := range []syscall.Errno{syscall.ENOSYS, syscall.EPERM, syscall.EAGAIN} {
		for _, backend := range []Backend{Auto, AIO} {
			j := &injector{kernel: newPool(), call: "submit", errno: errno, every: true}
			r, err := newReader(Options{Backend: backend, Depth: 5, BlockSize: pageSize}, j)
			if err != nil {
				t.Fatal(err)
			}
			got, err := readAll(t, r, path)
			st := r.Stats()
			if cerr := r.Close(); cerr != nil {
				t.Error(cerr)
			}
			if backend == AIO {
				if !errors.Is(err, errno) || st.Bytes != 0 {
					t.Errorf("%v, forced: error %v, stats %+v", errno, err, st)
				}
				continue
			}
			if err != nil || !bytes.Equal(got, data) || st.Backend != Pread || st.Fallback == "" {
				t.Errorf("%v: %d bytes, error %v, stats %+v", errno, len(got), err, st)
			}
		}
	}
}

// TestPoolErrno: an errno of the k-th pread is reported with its place; EINTR
// and EAGAIN are absorbed.
func TestPoolErrno(t *testing.T) {
	t.Parallel()
	path, data := testFile(t, 50_001)
	for _, errno := range []syscall.Errno{syscall.EIO, syscall.EINTR, syscall.EAGAIN} {
		for k := range 13 {
			r, err := newReader(Options{Backend: Pread, Depth: 1, BlockSize: pageSize}, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.usePool("")
			calls := 0
			r.pool.(*pool).read = func(f *File, buf []byte, off int64) (int, error) {
				// EINTR comes any number of times, the others once.
				if calls++; calls == k+1 || errno == syscall.EINTR && calls > k && calls < k+500 {
					return -1, errno
				}
				return pread(f, buf, off)
			}
			got, err := readAll(t, r, path)
			if errno == syscall.EIO {
				var re *ReadError
				if !errors.As(err, &re) || re.Path != path || re.Off != int64(k*pageSize) || re.Err != errno || len(got) != k*pageSize {
					t.Errorf("%v at %d: %d bytes, error %v", errno, k, len(got), err)
				}
			} else if err != nil || !bytes.Equal(got, data) {
				t.Errorf("%v at %d: %d bytes, error %v", errno, k, len(got), err)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// restless is a kernel that is interrupted many times for every event.
type restless struct {
	kernel
	n int
}

func (k *restless) getevents(min int, events []event) (int, error) {
	if k.n++; k.n%500 > 0 {
		return 0, syscall.EINTR
	}
	return k.kernel.getevents(min, events)
}

// TestInterruptedForLong: there is no number of signals that is an error.
func TestInterruptedForLong(t *testing.T) {
	t.Parallel()
	path, data := testFile(t, 100_001)
	r, err := newReader(Options{Backend: AIO, Depth: 5, BlockSize: pageSize}, &restless{kernel: newPool()})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := readAll(t, r, path); err != nil || !bytes.Equal(got, data) {
		t.Errorf("%d bytes, error %v", len(got), err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// of makes f the file of every request.
func of(f *File, reqs []Request) []Request {
	for i := range reqs {
		reqs[i].File = f
	}
	return reqs
}
