//go:build bench && linux

package bench

import (
	"hash/crc32"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// What one processor gives while a row is measured. Rows that are all its work, and have
// targets by the second, keep them no better than it does: a virtual machine shares its memory
// with others.

const (
	newMemory = 64 << 20  // bytes that are touched
	sumMemory = 256 << 20 // bytes that are summed
)

// touches takes new memory in pages of 4 KiB, as the Go heap does.
func touches(t *testing.T, _, _ string) process {
	t.Helper()
	mem, err := unix.Mmap(-1, 0, newMemory, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(mem)
	return timed(func() {
		for i := 0; i < len(mem); i += 4096 {
			mem[i] = 1
		}
	})
}

// summed is more than caches hold.
var summed = sync.OnceValue(func() []byte {
	b := make([]byte, sumMemory)
	for i := range b {
		b[i] = byte(i >> 12)
	}
	return b
})

// sums takes the CRC-32 of memory, which is what verification does with it.
func sums(*testing.T, string, string) process {
	mem := summed()
	return timed(func() { crc32.ChecksumIEEE(mem) })
}

// meanwhile records what the processor gave.
func meanwhile(record func(figure), touched, checked runs) {
	record(figure{work: "one processor meanwhile: new memory, in pages of 4 KiB", value: touched.seconds().under(newMemory), unit: rate})
	record(figure{work: "one processor meanwhile: CRC-32 of memory", value: checked.seconds().under(sumMemory), unit: rate})
}
