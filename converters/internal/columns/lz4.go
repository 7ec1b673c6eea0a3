package columns

import (
	"encoding/binary"

	"github.com/pierrec/lz4/v4"
)

// frameMagic is the start of an LZ4 frame.
const frameMagic = 0x184D2204

// expandHadoop decompresses the output of Hadoop's codec into all of to, if b is that. Sizes are big-endian:
//
//	group  decompressed size 4, then blocks with so many bytes in all
//	block  compressed size 4, LZ4 block
func expandHadoop(to, b []byte) bool {
	done := 0
	for len(b) > 0 {
		if len(b) < 4 || uint64(binary.BigEndian.Uint32(b)) > uint64(len(to)-done) {
			return false
		}
		group := done + int(binary.BigEndian.Uint32(b))
		for b = b[4:]; done < group; {
			if len(b) < 4 || uint64(binary.BigEndian.Uint32(b)) > uint64(len(b)-4) {
				return false
			}
			end := 4 + int(binary.BigEndian.Uint32(b))
			n, err := lz4.UncompressBlock(b[4:end], to[done:group])
			if err != nil || n == 0 {
				return false
			}
			done, b = done+n, b[end:]
		}
	}
	return done == len(to)
}
