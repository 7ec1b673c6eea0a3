package columns

import (
	"encoding/binary"
	"errors"

	"github.com/pierrec/lz4/v4"
)

var errHadoop = errors.New("it is not LZ4 as Hadoop writes it")

// frameMagic is the start of an LZ4 frame.
const frameMagic = 0x184D2204

// expandBlock decompresses an LZ4 block of at most size bytes.
func expandBlock(to, b []byte, size int64) ([]byte, error) {
	if size > lz4Ratio*int64(len(b)) {
		return to, ErrSize
	}
	to = Sized(to, size)
	n, err := lz4.UncompressBlock(b, to)
	if err != nil {
		return to, err
	}
	return to[:n], nil
}

// hadoop decompresses lz4 hadoop. Data without Hadoop's framing is an LZ4 frame, or one block.
func (x *Expander) hadoop(to, b []byte, size int64) ([]byte, error) {
	if size > lz4Ratio*int64(len(b)) {
		return to, ErrSize
	}
	to, err := expandHadoop(Sized(to, size), b)
	switch {
	case err == nil:
		return to, nil
	case len(b) >= 4 && binary.LittleEndian.Uint32(b) == frameMagic:
		return x.Expand(to, b, "lz4", size)
	}
	return x.Expand(to, b, "lz4 block", size)
}

// expandHadoop decompresses the output of Hadoop's codec into all of to. Sizes are big-endian:
//
//	group  decompressed size 4, then blocks with so many bytes in all
//	block  compressed size 4, LZ4 block
func expandHadoop(to, b []byte) ([]byte, error) {
	done := 0
	for len(b) > 0 {
		if len(b) < 4 || uint64(binary.BigEndian.Uint32(b)) > uint64(len(to)-done) {
			return to, errHadoop
		}
		group := done + int(binary.BigEndian.Uint32(b))
		for b = b[4:]; done < group; {
			if len(b) < 4 || uint64(binary.BigEndian.Uint32(b)) > uint64(len(b)-4) {
				return to, errHadoop
			}
			end := 4 + int(binary.BigEndian.Uint32(b))
			n, err := lz4.UncompressBlock(b[4:end], to[done:group])
			if err != nil || n == 0 {
				return to, errHadoop
			}
			done, b = done+n, b[end:]
		}
	}
	if done != len(to) {
		return to, errHadoop
	}
	return to, nil
}
