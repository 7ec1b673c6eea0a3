package aio

import (
	"errors"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"
)

// fatalReader returns a Reader whose kernel breaks at the k-th io_getevents, and its file.
func fatalReader(t *testing.T, k int) (*sim, *Reader, *File) {
	t.Helper()
	s := &sim{rng: rand.New(rand.NewPCG(uint64(k), 1)), data: make([]byte, 1<<20)}
	r, err := newReader(Options{Depth: 8, BlockSize: 2 * pageSize, Backend: AIO}, &injector{kernel: s, call: "getevents", k: k, errno: syscall.EIO, every: true})
	if err != nil {
		t.Fatal(err)
	}
	return s, r, &File{path: "sim", size: int64(len(s.data)), align: 512}
}

// When the kernel's queue breaks, every read returns its error, at once and later, and the Reader is not lent
// again.
func TestInputsBroken(t *testing.T) {
	t.Parallel()
	for k := range 30 {
		_, r, f := fatalReader(t, k)
		list := listOf(r)
		s := &Stream{readers: list, direct: f}
		var err error
		for off := int64(0); err == nil && off < f.size; off += 100 {
			_, err = s.ReadAt(make([]byte, 100), off)
		}
		if _, again := s.ReadAt(make([]byte, 100), 0); !errors.Is(err, syscall.EIO) || !errors.Is(again, syscall.EIO) {
			t.Errorf("call %d: errors %v and %v", k, err, again)
		}
		if err := s.stop(); err != nil || len(list.idle) > 0 || !r.closed {
			t.Errorf("call %d: %v, closed %t", k, err, r.closed)
		}
	}
}

// Readers are lent again, up to a limit, and closed when they have been idle.
func TestReaderList(t *testing.T) {
	t.Parallel()
	opened := 0
	l := &readerList{open: func() (*Reader, error) {
		opened++
		return NewReader(Options{Depth: 1, BlockSize: pageSize})
	}}
	var lent []*Reader
	for range mostInputs {
		r, err := l.get()
		if err != nil {
			t.Fatal(err)
		}
		lent = append(lent, r)
	}
	if _, err := l.get(); !errors.Is(err, errTooMany) {
		t.Errorf("one more: %v", err)
	}
	for _, r := range lent {
		if err := l.put(r); err != nil {
			t.Fatal(err)
		}
	}
	r, err := l.get()
	if err != nil || opened != mostInputs {
		t.Fatalf("%d opened, %v", opened, err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		l.mu.Lock()
		n := len(l.idle)
		l.mu.Unlock()
		if n == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d Readers are idle after a minute", n)
		}
	}
	if err := errors.Join(l.put(r), r.idle()); err != nil {
		t.Fatal(err)
	}
	l.closeIdle()
	if !r.closed {
		t.Error("an idle Reader was not closed")
	}
}
