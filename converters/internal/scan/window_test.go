package scan

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
)

// countingFile counts reads, and fails at read number fail.
type countingFile struct {
	io.ReaderAt
	reads, bytes, fail int
}

var errFile = errors.New("input/output error")

func (f *countingFile) ReadAt(b []byte, off int64) (int, error) {
	if f.reads++; f.reads == f.fail {
		return len(b) / 2, errFile
	}
	f.bytes += len(b)
	return f.ReaderAt.ReadAt(b, off)
}

func noise(n int) []byte {
	data := make([]byte, n)
	rnd := rand.New(rand.NewPCG(1, uint64(n)))
	for i := range data {
		data[i] = byte(rnd.Uint32())
	}
	return data
}

// Whatever the calls, the bytes are those of the part, and Pad zeros follow them.
func TestBytes(t *testing.T) {
	t.Parallel()
	data := noise(100_000)
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		sizes := Sizes{First: rnd.IntN(100), Usual: 1 + rnd.IntN(2000), Pad: rnd.IntN(40)}
		var w Window
		w.Reset(bytes.NewReader(data), int64(len(data)), 0, sizes)
		at := 0
		var kept [][]byte // what Kept must return
		held := -1        // where Held begins
		check := func(name string, got, want []byte) {
			t.Helper()
			if !bytes.Equal(got, want) {
				t.Fatalf("seed %d: %s at offset %d: %d bytes, %d wanted, or they differ", seed, name, at, len(got), len(want))
			}
		}
		for at < len(data) {
			n := min(rnd.IntN(1+rnd.IntN(5000)), len(data)-at)
			w.Last = rnd.IntN(50) == 0
			switch rnd.IntN(7) {
			case 0, 1:
				b, err := w.Peek(n)
				if err != nil {
					t.Fatal(err)
				}
				check("Peek", b, data[at:at+n])
			case 2:
				if held < 0 {
					w.Skip(int64(n))
					at += n
				}
			case 3:
				if held < 0 {
					if err := w.Keep(n); err != nil {
						t.Fatal(err)
					}
					kept = append(kept, data[at:at+n])
					at += n
				}
			case 4:
				if len(kept) == 0 {
					if w.Hold(); held < 0 {
						held = at
					}
					if err := w.Fill(n); err != nil {
						t.Fatal(err)
					}
					w.Pos += n
					at += n
				}
			case 5:
				if held < 0 && len(kept) == 0 {
					at = max(0, at-rnd.IntN(50))
					w.SeekBack(int64(at))
				}
			case 6:
				w.Relax()
				kept, held = nil, -1
			}
			if w.Offset() != int64(at) {
				t.Fatalf("seed %d: the offset is %d, %d wanted", seed, w.Offset(), at)
			}
			for i, want := range kept {
				check("Kept", w.Kept(i), want)
			}
			if b, ok := w.Since(int64(max(0, at-10))); ok {
				check("Since", b, data[max(0, at-10):at])
			}
			if held >= 0 {
				check("Held", w.Held(), data[held:at])
			}
			check("unread", w.Buf[w.Pos:], data[at:at+w.Unread()])
			check("pad", w.Buf[len(w.Buf):len(w.Buf)+sizes.Pad], make([]byte, sizes.Pad))
			if w.Complete() != (at+w.Unread() == len(data)) {
				t.Fatalf("seed %d: Complete at offset %d", seed, at)
			}
		}
	}
}

// Reads double up to the buffer's size, begin small behind a jump, and hardly pass the last
// sample. Without First they are as large as what is asked for.
func TestReads(t *testing.T) {
	t.Parallel()
	data := noise(1 << 20)
	for _, row := range []struct {
		name         string
		sizes        Sizes
		calls        func(w *Window)
		reads, bytes int
	}{
		{"all, a byte at a time", Sizes{First: 4 << 10, Usual: 64 << 10}, func(w *Window) {
			for range data {
				w.Peek(1)
				w.Skip(1)
			}
		}, 4 + 16, 1 << 20},
		{"a byte after each jump", Sizes{First: 4 << 10, Usual: 64 << 10}, func(w *Window) {
			for range 10 {
				w.Peek(1)
				w.Skip(100_000)
			}
		}, 10, 10 * 4 << 10},
		{"headers far apart", Sizes{Usual: 64 << 10}, func(w *Window) {
			for range 10 {
				w.Peek(512)
				w.Skip(512)
				w.Skip(100_000)
			}
		}, 10, 10 * 512},
		{"headers near each other", Sizes{Usual: 64 << 10}, func(w *Window) {
			for range 512 {
				w.Peek(512)
				w.Skip(512)
				w.Skip(1024)
			}
		}, 8 + 14, 1 << 20},
		{"the last sample", Sizes{First: 1 << 10, Usual: 64 << 10}, func(w *Window) {
			w.Last = true
			w.Peek(512)
			w.Peek(30_000)
		}, 2, 30_000 + slack},
	} {
		f := &countingFile{ReaderAt: bytes.NewReader(data)}
		var w Window
		w.Reset(f, int64(len(data)), 0, row.sizes)
		if row.calls(&w); f.reads > row.reads || f.bytes > row.bytes {
			t.Errorf("%s: %d reads of %d bytes, at most %d of %d wanted", row.name, f.reads, f.bytes, row.reads, row.bytes)
		}
	}
}

// A buffer that has grown serves the next large sample, and is given back after small ones.
func TestGrown(t *testing.T) {
	t.Parallel()
	data := noise(1 << 20)
	var w Window
	w.Reset(bytes.NewReader(data), int64(len(data)), 0, Sizes{First: 1 << 10, Usual: 4 << 10})
	for _, n := range []int{100_000, 90_000} {
		if err := w.Keep(n); err != nil {
			t.Fatal(err)
		}
		w.Relax()
	}
	if got := cap(w.Buf); got < 100_000 || got > 130_000 {
		t.Errorf("a buffer of %d bytes for samples of 100,000", got)
	}
	for range 2*patience + 100 {
		w.Keep(100)
		w.Relax()
	}
	if got := cap(w.Buf); got != 4<<10 {
		t.Errorf("a buffer of %d bytes for samples of 100", got)
	}
}

// A part that has become shorter is ErrChanged, any other error of a read is returned as it is.
func TestErrors(t *testing.T) {
	t.Parallel()
	data := noise(10_000)
	all := func(f io.ReaderAt) error {
		var w Window
		w.Reset(f, int64(len(data)), 0, Sizes{First: 100, Usual: 1000})
		for w.Offset() < w.Size {
			if _, err := w.Peek(50); err != nil {
				return err
			}
			w.Skip(50)
		}
		return nil
	}
	for n := range len(data) {
		if err := all(bytes.NewReader(data[:n])); !errors.Is(err, converters.ErrChanged) {
			t.Fatalf("%d of %d bytes: %v", n, len(data), err)
		}
	}
	for fail := 1; ; fail++ {
		f := &countingFile{ReaderAt: bytes.NewReader(data), fail: fail}
		err := all(f)
		if f.reads < fail {
			if err != nil || fail < 10 {
				t.Fatalf("%d reads, error %v", f.reads, err)
			}
			return
		}
		if !errors.Is(err, errFile) {
			t.Fatalf("read %d: %v", fail, err)
		}
	}
}

// A buffer that grew for a large sample is not kept with an idle reader; another is.
func TestEnd(t *testing.T) {
	t.Parallel()
	data := make([]byte, mostIdle+1)
	for _, size := range []int{1000, len(data)} {
		var w Window
		w.Reset(bytes.NewReader(data), int64(len(data)), 0, Sizes{First: 100, Usual: 1000})
		if _, err := w.Peek(size); err != nil {
			t.Fatal(err)
		}
		if w.End(); w.File != nil || (w.Buf == nil) != (size > mostIdle) {
			t.Errorf("%d bytes: %d are kept", size, cap(w.Buf))
		}
	}
}
