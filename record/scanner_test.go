package record

import (
	"encoding/binary"
	"errors"
	"testing"
)

// Several faults of one file are all reported, each at its place, and the rest is still checked.
func TestScannerManyProblems(t *testing.T) {
	t.Parallel()
	var samples [][]byte
	for i := range 100 {
		samples = append(samples, noise(uint64(i), i))
	}
	b := shardOf(t, samples...)
	want := []int64{-1, 0, 3, 50, 99}
	b[0] ^= 1     // the header CRC
	b[headSize]++ // the CRC of the empty first sample
	for _, i := range want[2:] {
		off := binary.LittleEndian.Uint64(b[offsetsOff(100)+8*i:])
		b[off] ^= 0x80
	}
	for _, block := range []int{1, 7, 4096, len(b)} {
		sum, problems, err := scan(b, block, Options{})
		if len(problems) != len(want) || sum.Samples != 100 || err != error(problems[0]) {
			t.Fatalf("block %d: %v; %+v %v", block, problems, sum, err)
		}
		for k, p := range problems {
			if p.Sample != want[k] || !errors.Is(p, ErrChecksum) || p.Path != "mem.ffr" {
				t.Errorf("block %d: %v, want sample %d", block, p, want[k])
			}
		}
	}
}

func TestScannerAgreesWithWriter(t *testing.T) {
	t.Parallel()
	for _, samples := range [][][]byte{{}, {{}}, {{}, {}, {}}, f3Samples(), {noise(1, 100), {}, {}}} {
		d := &disk{}
		w, _ := NewWriter(d, int64(len(samples)))
		for _, s := range samples {
			w.Append(s)
		}
		want, err := w.Close()
		if err != nil {
			t.Fatal(err)
		}
		for block := 1; block < 70; block++ {
			if got, _, err := scan(d.b, block, Options{}); got != want || err != nil {
				t.Errorf("block %d: %+v %v, want %+v", block, got, err, want)
			}
		}
		r, err := readerOf(d.b, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if f := r.Files()[0]; f != (FileInfo{"mem.ffr", want.Samples, want.Size, want.HeaderCRC}) {
			t.Errorf("%+v, want %+v", f, want)
		}
	}
}

// Fewer or more bytes than announced are an error, at whatever byte.
func TestScannerWrongSize(t *testing.T) {
	t.Parallel()
	b, _ := example(t)
	for k := range b {
		s := NewScanner("mem.ffr", int64(len(b)), Options{})
		if _, err := s.Write(b[:k]); err != nil {
			t.Fatal(err)
		}
		if sum, err := s.Close(); !errors.Is(err, ErrTruncated) || sum != (FileInfo{}) {
			t.Fatalf("%d of %d bytes: %+v %v", k, len(b), sum, err)
		}
	}
	s := NewScanner("mem.ffr", int64(len(b)), Options{})
	s.Write(b)
	if s.Samples() != 3 {
		t.Errorf("%d samples so far", s.Samples())
	}
	if _, err := s.Write([]byte{0}); !errors.Is(err, ErrHeader) {
		t.Errorf("a byte more: %v", err)
	}
	if _, err := s.Close(); !errors.Is(err, ErrHeader) {
		t.Errorf("close after a byte more: %v", err)
	}
}

func TestScannerClosed(t *testing.T) {
	t.Parallel()
	b, _ := example(t)
	s := NewScanner("mem.ffr", int64(len(b)), Options{})
	s.Write(b)
	if _, err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write(nil); err == nil {
		t.Error("write after close")
	}
	if _, err := s.Close(); err == nil {
		t.Error("second close")
	}
}

// A stuck scanner says so on every call and takes nothing.
func TestScannerSticky(t *testing.T) {
	t.Parallel()
	calls := 0
	s := NewScanner("mem.ffr", 5000, Options{})
	s.Problem = func(*FormatError) { calls++ }
	for range 3 {
		if _, err := s.Write(make([]byte, 500)); !errors.Is(err, errUnfinished) {
			t.Fatal(err)
		}
	}
	if _, err := s.Close(); !errors.Is(err, errUnfinished) || calls != 1 || s.Samples() != 0 {
		t.Errorf("%v, %d problems", err, calls)
	}
}

// The Scanner holds 12 bytes a sample, and none before they arrive. Not parallel: it measures memory.
func TestScannerMemory(t *testing.T) {
	const n = 1 << 20
	d := &disk{}
	w, _ := NewWriter(d, n)
	for range n {
		w.Append([]byte("x"))
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	s := NewScanner("mem.ffr", int64(len(d.b)), Options{})
	before := allocated()
	s.Write(d.b[:1000])
	if early := allocated() - before; early > 1<<20 {
		t.Errorf("%d bytes allocated for a header of which 1000 bytes are known", early)
	}
	s.Write(d.b[1000:])
	if all := allocated() - before; all > 13*n {
		t.Errorf("%d bytes allocated for %d samples", all, n)
	}
	if _, err := s.Close(); err != nil {
		t.Error(err)
	}
}
