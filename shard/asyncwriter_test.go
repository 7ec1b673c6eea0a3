package shard

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
)

// A memoryFile is an io.WriterAt that fails from its fail-th write on, where fail is not 0.
type memoryFile struct {
	data   []byte
	writes int
	fail   int
}

var errFull = errors.New("full")

func (m *memoryFile) WriteAt(p []byte, off int64) (int, error) {
	m.writes++
	if m.fail > 0 && m.writes >= m.fail {
		return 0, errFull
	}
	if end := int(off) + len(p); end > len(m.data) {
		m.data = append(m.data, make([]byte, end-len(m.data))...)
	}
	return copy(m.data[off:], p), nil
}

// asyncWriterOf makes an asyncWriter of small buffers.
func asyncWriterOf(w io.WriterAt) *asyncWriter {
	buffers := make([][]byte, 3)
	for i := range buffers {
		buffers[i] = make([]byte, 0, 4096)
	}
	return newAsyncWriter(w, buffers)
}

// What goes through an asyncWriter arrives whole, in order, whether it was copied or given away,
// and although the givers go on with their own memory.
func TestSpool(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	var want []byte
	file := &memoryFile{}
	s := asyncWriterOf(file)
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
	if err := errors.Join(s.close(), s.close()); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(file.data, want) {
		t.Error("what arrived is not what was written")
	}
}

// After a write that failed there is no other, and the error is told at the end at the
// latest.
func TestSpoolFails(t *testing.T) {
	t.Parallel()
	for fail := 1; fail <= 10; fail++ {
		file := &memoryFile{fail: fail}
		s := asyncWriterOf(file)
		var told error
		for i := range 10 {
			if _, err := s.WriteAt([]byte("block"), int64(5*i)); err != nil {
				told = err
			}
		}
		if err := s.close(); !errors.Is(err, errFull) {
			t.Errorf("write %d fails: close says %v", fail, err)
		}
		if told != nil && !errors.Is(told, errFull) {
			t.Errorf("write %d fails: a write says %v", fail, told)
		}
		if file.writes != fail {
			t.Errorf("write %d fails: %d writes", fail, file.writes)
		}
	}
}
