package record

import (
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"testing"
)

func TestCRC(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 1))
	data := make([]byte, 3*shortest)
	for range 2000 {
		for i := range data {
			data[i] = byte(rnd.Uint32())
		}
		from := rnd.IntN(shortest)
		p := data[from : from+rnd.IntN(2*shortest)]
		before := rnd.Uint32()
		if got, want := updateCRC(before, p), crc32.Update(before, crc32.IEEETable, p); got != want {
			t.Fatalf("of %d bytes: %08x, want %08x", len(p), got, want)
		}
	}
	for n := range 2 * shortest {
		if got, want := updateCRC(0, data[:n]), crc32.ChecksumIEEE(data[:n]); got != want {
			t.Errorf("of %d bytes: %08x, want %08x", n, got, want)
		}
	}
}

func BenchmarkCRC(b *testing.B) {
	data := make([]byte, 100)
	for _, n := range []int{8, 16, 50, 100} {
		for name, update := range map[string]func(uint32, []byte) uint32{
			"ours":       updateCRC,
			"hash-crc32": func(crc uint32, p []byte) uint32 { return crc32.Update(crc, crc32.IEEETable, p) },
		} {
			b.Run(fmt.Sprintf("%s/%dB", name, n), func(b *testing.B) {
				b.SetBytes(int64(n))
				crc := uint32(0)
				for b.Loop() {
					crc = update(crc, data[:n])
				}
			})
		}
	}
}

// A CRC is joined from those of the two halves of the bytes, wherever they are cut.
func TestJoinCRC(t *testing.T) {
	t.Parallel()
	data := noise(7, 3000)
	want := crc32.ChecksumIEEE(data)
	for cut := range len(data) + 1 {
		a, b := data[:cut], data[cut:]
		if got := joinCRC(crc32.ChecksumIEEE(a), crc32.ChecksumIEEE(b), int64(len(b))); got != want {
			t.Fatalf("cut at %d: %08x, want %08x", cut, got, want)
		}
	}
	zeros := make([]byte, 1<<20)
	long := crc32.ChecksumIEEE(data)
	for range 32 {
		long = crc32.Update(long, crc32.IEEETable, zeros)
	}
	of := uint32(0)
	for range 32 {
		of = crc32.Update(of, crc32.IEEETable, zeros)
	}
	if got := joinCRC(want, of, 32<<20); got != long {
		t.Errorf("32 MiB of zeros: %08x, want %08x", got, long)
	}
}
