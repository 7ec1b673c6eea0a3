package input

import (
	"encoding/binary"
	"hash/crc32"
	"runtime/metrics"
	"strings"
	"testing"
)

// Small files of many pieces that each ask for the largest window: memory and time are
// those of one. Not parallel: allocations are counted.
func TestDecoderWindows(t *testing.T) {
	withSum := func(b string) string {
		return b + string(binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE([]byte(b))))
	}
	xzStart := xzMagic + withSum("\x00\x00")
	xzBlock := func(data string) string { return withSum("\x02\x00\x21\x01\x1e\x00\x00\x00") + data }
	for _, row := range []struct{ name, data string }{
		{"xz, empty blocks", xzStart + strings.Repeat(xzBlock("\x00\x00\x00\x00"), 1000)},
		{"xz, blocks of a byte", xzStart + strings.Repeat(xzBlock("\x01\x00\x00a\x00\x00\x00\x00"), 1000)},
		{"zstd, empty frames", strings.Repeat(zstdMagic+"\x00\x88\x01\x00\x00", 1000)},
		{"bzip2, empty streams", strings.Repeat("BZh9"+bzip2End+"\x00\x00\x00\x00", 1000)},
	} {
		before := totalAlloc()
		_, out, _ := decodeAll([]byte(row.data))
		if n := totalAlloc() - before; n > (128+16)<<20 || len(out) > 1000 {
			t.Errorf("%s: %d bytes allocated for %d, %d came out", row.name, n, len(row.data), len(out))
		}
	}
}

// totalAlloc is how many bytes were ever allocated. Fuzz targets run by themselves.
func totalAlloc() uint64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}
