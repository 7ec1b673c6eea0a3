package store

import (
	"math/rand/v2"
	"testing"

	"github.com/minio/crc64nvme"
)

func TestJoin(t *testing.T) {
	t.Parallel()
	data := make([]byte, 3000)
	rand.NewChaCha8([32]byte{1}).Read(data)
	for _, cut := range []int{0, 1, 7, 1500, 2999, 3000} {
		first, second := crc64nvme.Checksum(data[:cut]), crc64nvme.Checksum(data[cut:])
		if got, want := joinCRC64(first, second, int64(len(data)-cut)), crc64nvme.Checksum(data); got != want {
			t.Errorf("%d: %x for %x", cut, got, want)
		}
	}
	if joinCRC64(1, 0, 1<<50) == 1 {
		t.Error("zeros change nothing")
	}
}

func BenchmarkJoin(b *testing.B) {
	for b.Loop() {
		joinCRC64(1, 2, 1<<40)
	}
}
