package shardtest

import (
	"os"
	"path/filepath"
	"testing"
)

// Collide changes five bytes of a file from off on. CRC-32 of all that holds these bytes stay what they are: the
// difference is the generator polynomial.
func Collide(t testing.TB, dir, name string, off int) {
	t.Helper()
	const polynomial = uint64(1<<32 | 0x04c11db7)
	path := filepath.Join(dir, name)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 33 { // a byte has its first bit lowest
		data[off+i/8] ^= byte(polynomial>>(32-i)&1) << (i % 8)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
