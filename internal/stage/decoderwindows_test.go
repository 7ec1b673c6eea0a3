package stage

import (
	"encoding/binary"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/ffconvert/ffconvert/internal/fuzz"
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
		t.Run(row.name, func(t *testing.T) {
			fuzz.WantAllocated(t, (128+16)<<20, func() {
				if _, out, _ := decodeAll([]byte(row.data)); len(out) > 1000 {
					t.Errorf("%d bytes came out", len(out))
				}
			})
		})
	}
}
