package aio

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
)

// A distant source notes what it is asked for. A read that fails says so.
type distant struct {
	data []byte
	fail func(off int64) error // nil: none fails

	mu    sync.Mutex
	asked [][2]int64 // offset and bytes of each read
}

func (d *distant) ReadAt(p []byte, off int64) (int, error) {
	d.mu.Lock()
	d.asked = append(d.asked, [2]int64{off, int64(len(p))})
	fail := d.fail
	d.mu.Unlock()
	if fail != nil {
		if err := fail(off); err != nil {
			return 0, err
		}
	}
	return bytes.NewReader(d.data).ReadAt(p, off)
}

// bytes returns how many bytes were read, and from how many on the last one ended.
func (d *distant) bytes() (n, end int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, r := range d.asked {
		n, end = n+r[1], max(end, r[0]+r[1])
	}
	return n, end
}

func newDistant(size int) *distant {
	d := &distant{data: make([]byte, size)}
	rand.NewChaCha8([32]byte{}).Read(d.data)
	return d
}

// An Ahead gives the bytes that are there, in whatever order they are read, and no read ahead goes beyond its limit.
func TestAhead(t *testing.T) {
	t.Parallel()
	const size = 20<<20 + 17
	d := newDistant(size)
	rng := rand.New(rand.NewPCG(7, 7))
	for range 4 {
		a := NewAhead(d, size)
		off := int64(0)
		for range 100 {
			switch rng.IntN(12) {
			case 0:
				off = rng.Int64N(size)
			case 1:
				off = max(0, off-rng.Int64N(1<<20))
			}
			p := make([]byte, rng.Int64N([]int64{100, 10_000, 300_000, 5 << 20}[rng.IntN(4)]))
			n, err := a.ReadAt(p, off)
			want := max(0, min(int64(len(p)), size-off))
			if int64(n) != want || !bytes.Equal(p[:n], d.data[min(off, size):min(off, size)+want]) || (err == nil) != (n == len(p)) {
				t.Fatalf("%d bytes at %d: %d, want %d, %v", len(p), off, n, want, err)
			}
			off = min(off+int64(n), size-1)
		}
		a.Close()
	}
}

// What is read in order takes few reads, several at once, which end at the limit. Elsewhere nothing more than wanted is read, and
// the same bytes are read as often as they are wanted.
func TestAheadReads(t *testing.T) {
	t.Parallel()
	const size, limit = 16 << 20, 9 << 20
	d := newDistant(size)
	a := NewAhead(d, size)
	a.Limit(limit)
	p := make([]byte, 40_000)
	for off := int64(100); off+int64(len(p)) <= limit; off += int64(len(p)) {
		if _, err := a.ReadAt(p, off); err != nil {
			t.Fatal(err)
		}
	}
	a.Close()
	if n, end := d.bytes(); end > limit || n > limit || len(d.asked) > 20 {
		t.Errorf("%d reads of %d bytes, up to %d", len(d.asked), n, end)
	}

	d.asked = nil
	a = NewAhead(d, size)
	for range 3 {
		for _, off := range []int64{5 << 20, 1 << 20, 3} {
			if _, err := a.ReadAt(p, off); err != nil {
				t.Fatal(err)
			}
		}
	}
	a.Close()
	if n, _ := d.bytes(); n != 9*int64(len(p)) || len(d.asked) != 9 {
		t.Errorf("%d reads of %d bytes", len(d.asked), n)
	}

	d.asked = nil
	a = NewAhead(d, size)
	wanted := int64(0)
	for off := int64(0); off < 1<<20; off += int64(len(p)) {
		if _, err := a.ReadAt(p, off); err != nil {
			t.Fatal(err)
		}
		wanted += int64(len(p))
		a.reading.Wait()
		if n, _ := d.bytes(); n > 2*wanted+aheadLeast {
			t.Errorf("%d bytes were wanted, %d read", wanted, n)
		}
	}
	a.Close()
}

// Several reads are in flight at once.
func TestAheadAtOnce(t *testing.T) {
	t.Parallel()
	const size = 32 << 20
	d := newDistant(size)
	a := NewAhead(d, size)
	for _, p := range [][]byte{make([]byte, 5<<20), make([]byte, 1)} { // from here on as many as may be
		if _, err := a.ReadAt(p, max(0, a.next)); err != nil {
			t.Fatal(err)
		}
	}
	a.reading.Wait()
	var entered sync.WaitGroup
	var n atomic.Int64
	entered.Add(aheadDepth)
	d.mu.Lock()
	d.fail = func(int64) error { // none of the next ones ends before all have begun
		if n.Add(1) <= aheadDepth {
			entered.Done()
			entered.Wait()
		}
		return nil
	}
	d.mu.Unlock()
	p := make([]byte, 8<<20) // the pieces that are there, and four that are not
	if _, err := a.ReadAt(p, a.next); err != nil || !bytes.Equal(p, d.data[5<<20+1:][:len(p)]) {
		t.Error(err)
	}
	d.mu.Lock()
	d.fail = nil
	d.mu.Unlock()
	a.Close()
}

// An error comes where its bytes are wanted, with those before it, and what is wanted after it is read again.
func TestAheadFails(t *testing.T) {
	t.Parallel()
	const size = 4 << 20
	wrong := errors.New("wrong")
	for at := int64(0); at < size; at += 900_001 {
		d := newDistant(size)
		failed := false
		d.fail = func(off int64) error {
			if d.mu.Lock(); !failed && off >= at {
				failed = true
				d.mu.Unlock()
				return wrong
			}
			d.mu.Unlock()
			return nil
		}
		a := NewAhead(d, size)
		var got []byte
		p := make([]byte, 70_000)
		errs := 0
		for int64(len(got)) < size {
			n, err := a.ReadAt(p[:min(len(p), size-len(got))], int64(len(got)))
			got = append(got, p[:n]...)
			if err != nil && !errors.Is(err, wrong) || n == 0 && err == nil {
				t.Fatal(n, err)
			}
			if err != nil {
				errs++
			}
		}
		a.Close()
		if errs > 1 || !bytes.Equal(got, d.data) {
			t.Errorf("after an error at %d: %d errors, other bytes: %v", at, errs, !bytes.Equal(got, d.data))
		}
	}
	d := newDistant(100)
	a := NewAhead(d, 200) // it is shorter than said
	p := make([]byte, 60)
	for _, want := range []error{nil, io.EOF, io.EOF} {
		if _, err := a.ReadAt(p, a.next); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
	a.Close()
}
