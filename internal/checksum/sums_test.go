package checksum

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
)

// A memory file.
type file struct{ *bytes.Reader }

func (file) Close() error { return nil }

func open(b []byte) file { return file{bytes.NewReader(b)} }

func data(n int) []byte {
	rng := rand.New(rand.NewPCG(uint64(n), 1))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

func sumsOf(t testing.TB, b []byte) *Sums {
	t.Helper()
	s, err := Of(t.Context(), bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var sizes = []int{0, 1, blockSize - 1, blockSize, blockSize + 1, 3*blockSize - 7, 3 * blockSize, 200_000}

// A digest is part of plans: it must stay what it is.
func TestDigest(t *testing.T) {
	t.Parallel()
	for i, want := range []string{"ef46db3751d8e999"} { // XXH64 of nothing
		if got := sumsOf(t, data(sizes[i])).Digest(); got != want {
			t.Errorf("%d bytes: %s, want %s", sizes[i], got, want)
		}
	}
	if got := sumsOf(t, []byte("123456789")).blocks[0]; got != 0xe3069283 { // the check value of CRC-32C
		t.Errorf("%08x", got)
	}
}

// However a file is written, its sums are the same.
func TestRecorder(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	for _, size := range sizes {
		b := data(size)
		want := sumsOf(t, b).Digest()
		for name, write := range map[string]func(r *Recorder){
			"at once":   func(r *Recorder) { r.Wrote(b, 0) },
			"in pieces": func(r *Recorder) { pieces(rng, b, 0, r.Wrote) },
			"ranges from behind": func(r *Recorder) {
				for from := (size - 1) / (2 * blockSize) * 2 * blockSize; from >= 0 && size > 0; from -= 2 * blockSize {
					pieces(rng, b[from:min(size, from+2*blockSize)], int64(from), r.Wrote)
				}
			},
			"again": func(r *Recorder) {
				r.Wrote(bytes.Repeat([]byte{7}, size), 0)
				pieces(rng, b, 0, r.Wrote)
			},
			"more than wanted": func(r *Recorder) { r.Wrote(append(b[:size:size], 1, 2, 3), 0) },
			"bytes from behind": func(r *Recorder) {
				for i := size - 1; i >= 0; i -= 1000 {
					from := max(0, i-999)
					r.Wrote(b[from:i+1], int64(from))
				}
			},
			"not at all": func(*Recorder) {},
		} {
			var r Recorder
			write(&r)
			s, err := r.Sums(int64(size), open(b))
			if err != nil || s.Digest() != want || s.Size() != int64(size) {
				t.Errorf("%d bytes %s: %v, %v", size, name, s, err)
			}
			if ordered := name == "at once" || name == "in pieces" || name == "ranges from behind" || name == "again"; ordered {
				if s, err := r.Sums(int64(size), nil); err != nil || s.Digest() != want {
					t.Errorf("%d bytes %s: it was read back", size, name)
				}
			}
		}
	}
	var r Recorder
	if _, err := r.Sums(10, open(nil)); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("of nothing: %v", err)
	}
}

// pieces writes b in pieces of any sizes.
func pieces(rng *rand.Rand, b []byte, off int64, write func([]byte, int64)) {
	for len(b) > 0 {
		n := min(len(b), 1+rng.IntN(2*blockSize))
		write(b[:n], off)
		b, off = b[n:], off+int64(n)
	}
}

// A sound file is read as it is, wherever a read begins and ends.
func TestRead(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	for _, size := range sizes {
		b := data(size)
		s := sumsOf(t, b)
		r := s.Check(open(b))
		for range 2000 {
			off := rng.IntN(size + 2)
			p := make([]byte, rng.IntN(4*blockSize))
			n, err := r.ReadAt(p, int64(off))
			want := copy(make([]byte, len(p)), b[min(off, size):])
			if n != want || !bytes.Equal(p[:n], b[min(off, size):][:n]) || (err == io.EOF) != (n < len(p) || off >= size) || err != nil && err != io.EOF {
				t.Fatalf("%d bytes: %d at %d: %d, %v", size, len(p), off, n, err)
			}
		}
		if _, err := r.ReadAt(make([]byte, 1), -1); err == nil {
			t.Error("a negative offset is read")
		}
		if err := r.Close(); err != nil || Sum64(b) != s.Sum64() || Sum64(append(b, 0)) == s.Sum64() {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

// Wherever a file was changed, no byte of that block is given to a caller, and the others are.
func TestChanged(t *testing.T) {
	t.Parallel()
	b := data(3*blockSize + 100)
	s := sumsOf(t, b)
	for _, at := range []int{0, 1, blockSize - 1, blockSize, 2*blockSize + 5, 3*blockSize + 99} {
		for _, size := range []int{1, 4, 100} {
			bad := bytes.Clone(b)
			for i := at; i < min(at+size, len(bad)); i++ {
				bad[i] ^= 0x41
			}
			if Sum64(bad) == s.Sum64() {
				t.Errorf("%d bytes at %d: the sum is the same", size, at)
			}
			r := s.Check(open(bad))
			for off := 0; off < len(b); off += 1000 {
				p := make([]byte, 1000)
				n, err := r.ReadAt(p, int64(off))
				if !bytes.Equal(p[:n], b[off:][:n]) {
					t.Fatalf("changed at %d: wrong bytes at %d", at, off)
				}
				first, last := off/blockSize, (min(off+1000, len(b))-1)/blockSize
				touched := first <= (min(at+size, len(bad))-1)/blockSize && at/blockSize <= last
				if touched != errors.Is(err, ErrChanged) {
					t.Errorf("%d bytes changed at %d, read at %d: %v", size, at, off, err)
				}
			}
		}
	}
	r := s.Check(open(b[:2*blockSize+1]))
	if n, err := r.ReadAt(make([]byte, len(b)), 0); !errors.Is(err, ErrChanged) || n != 0 {
		t.Errorf("cut: %d, %v", n, err)
	}
}

func BenchmarkCheck(b *testing.B) {
	all := data(8 << 20)
	s, err := Of(b.Context(), bytes.NewReader(all))
	if err != nil {
		b.Fatal(err)
	}
	for _, size := range []int{512, 64 << 10, 1 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			r := s.Check(open(all))
			p := make([]byte, size)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for off := 0; b.Loop(); off = (off + size + 100) % (len(all) - size) {
				if _, err := r.ReadAt(p, int64(off)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
