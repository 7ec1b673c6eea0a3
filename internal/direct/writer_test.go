package direct

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
)

// A memoryFile is an io.WriterAt. If fail is not 0, write number fail and later ones fail.
type memoryFile struct {
	mu     sync.Mutex
	data   []byte
	writes int
	fail   int
}

var errFull = errors.New("full")

func (m *memoryFile) WriteAt(p []byte, off int64) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.writes++
	if m.fail > 0 && m.writes >= m.fail {
		return 0, errFull
	}
	if end := int(off) + len(p); end > len(m.data) {
		m.data = append(m.data, make([]byte, end-len(m.data))...)
	}
	return copy(m.data[off:], p), nil
}

// writerOf returns a Writer with small buffers.
func writerOf(w io.WriterAt) *writer {
	buffers := make([][]byte, 3)
	for i := range buffers {
		buffers[i] = make([]byte, 0, 4096)
	}
	return newWriter(w, buffers)
}

// All bytes are written, by SwapAt and by WriteAt, although the caller uses its memory again.
func TestWriter(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	var want []byte
	file := &memoryFile{}
	s := writerOf(file)
	buf, err := s.SwapAt(nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for range 300 {
		off := int64(len(want))
		if rnd.IntN(2) == 0 {
			p := bytes.Repeat([]byte{byte(rnd.Uint32())}, rnd.IntN(4096))
			want = append(want, p...)
			if n, err := s.WriteAt(p, off); n != len(p) || err != nil {
				t.Fatal(n, err)
			}
			clear(p)
			continue
		}
		buf = append(buf, bytes.Repeat([]byte{byte(rnd.Uint32())}, 1+rnd.IntN(4095))...)
		want = append(want, buf...)
		next, err := s.SwapAt(buf, off)
		if err != nil || len(next) != 0 || cap(next) != 4096 {
			t.Fatalf("a buffer of %d of %d, error %v", len(next), cap(next), err)
		}
		buf = next
	}
	want = append([]byte("head"), want[4:]...)
	if _, err := s.WriteAt([]byte("head"), 0); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(file.data, want) {
		t.Error("the file has other bytes than were written")
	}
}

// After a write that failed there are no others, and Close returns the error.
func TestWriterFails(t *testing.T) {
	t.Parallel()
	for fail := 1; fail <= 10; fail++ {
		file := &memoryFile{fail: fail}
		s := writerOf(file)
		var early error
		for i := range 10 {
			if _, err := s.WriteAt([]byte("block"), int64(5*i)); err != nil {
				early = err
			}
		}
		if err := s.Close(); !errors.Is(err, errFull) {
			t.Errorf("write %d fails: close says %v", fail, err)
		}
		if early != nil && !errors.Is(early, errFull) {
			t.Errorf("write %d fails: a write says %v", fail, early)
		}
		if file.writes != fail {
			t.Errorf("write %d fails: %d writes", fail, file.writes)
		}
	}
}

// A heldFile holds each write until the test releases it.
type heldFile struct {
	begun   chan int64 // offsets
	release chan error
}

func (h *heldFile) WriteAt(p []byte, off int64) (int, error) {
	h.begun <- off
	return len(p), <-h.release
}

// Aligned blocks are written at the same time. The head waits for all of them, and is not written if one
// has failed.
func TestWriterTogether(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		fail int // which of the writes; 0: none
		want int // writes in all
	}{
		{"sound", 0, 4}, {"first fails", 1, 3}, {"last fails", 3, 3},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &heldFile{begun: make(chan int64, 10), release: make(chan error)}
				buffers := make([][]byte, 5)
				for i := range buffers {
					buffers[i] = make([]byte, 0, 4096)
				}
				s := newWriter(h, buffers)
				b, _ := s.SwapAt(nil, 0)
				for i := range 3 {
					b, _ = s.SwapAt(b[:4096], int64(4096*(i+1)))
				}
				ended := make(chan error)
				go func() {
					_, err := s.WriteAt([]byte("head"), 0)
					ended <- errors.Join(err, s.Close())
				}()
				for i := range 3 {
					synctest.Wait()
					if n := len(h.begun); n != 3 {
						t.Fatalf("%d writes have begun, %d have ended", n, i)
					}
					if i+1 == row.fail {
						h.release <- errFull
					} else {
						h.release <- nil
					}
				}
				if row.fail == 0 {
					h.release <- nil
				}
				if err := <-ended; errors.Is(err, errFull) != (row.fail > 0) {
					t.Error(err)
				}
				if n := len(h.begun); n != row.want {
					t.Errorf("%d writes, want %d", n, row.want)
				}
			})
		})
	}
}
