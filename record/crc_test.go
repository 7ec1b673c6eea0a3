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
