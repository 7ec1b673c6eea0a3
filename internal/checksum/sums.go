package checksum

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/cespare/xxhash/v2"

	"github.com/ffconvert/ffconvert/internal/place"
)

// blockSize is the number of bytes per checksum. Digests depend on it. Smaller blocks take more memory (4
// bytes per block), larger blocks make small reads slower.
const blockSize = 16 << 10

// ErrChanged reports that a file does not have the bytes that were written to it.
var ErrChanged = place.New(place.IO, "it has other bytes than were written to it")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Sums are the checksums of the blocks of one file. They are immutable and may be used concurrently.
//
// The checksum of a block is CRC-32C, for which processors have an instruction; it takes less than
// half the time of XXH64. The digest of a file is the XXH64 of its checksums.
//
//	┌──────────┬──────────┬─────┬───────────────┐
//	│ 16 KiB   │ 16 KiB   │ …   │ 0 to 16 KiB   │ of the file
//	├──────────┼──────────┼─────┼───────────────┤
//	│ CRC-32C  │ CRC-32C  │ …   │ CRC-32C       │ little endian, 4 bytes each
//	├──────────┴──────────┴─────┴───────────────┤
//	│ XXH64, seed 0                             │ 8 bytes, as 16 hexadecimal digits
//	└───────────────────────────────────────────┘
type Sums struct {
	size   int64 // bytes of the file
	blocks []uint32
}

// Size returns the size of the file in bytes.
func (s *Sums) Size() int64 { return s.size }

// Digest returns the digest of the file, 16 hexadecimal digits. It detects accidental changes; it is
// not collision resistant.
func (s *Sums) Digest() string { return fmt.Sprintf("%016x", s.Sum64()) }

// Sum64 returns the digest as a number.
func (s *Sums) Sum64() uint64 {
	h := xxhash.New()
	buf := make([]byte, 0, 4<<10)
	for _, sum := range s.blocks {
		if buf = binary.LittleEndian.AppendUint32(buf, sum); len(buf) == cap(buf) {
			h.Write(buf)
			buf = buf[:0]
		}
	}
	h.Write(buf)
	return h.Sum64()
}

// Sum64 returns the digest of a file with the content b.
func Sum64(b []byte) uint64 {
	h := xxhash.New()
	var sum [4]byte
	for at := 0; at < len(b); at += blockSize {
		binary.LittleEndian.PutUint32(sum[:], crc32.Checksum(b[at:min(at+blockSize, len(b))], castagnoli))
		h.Write(sum[:])
	}
	return h.Sum64()
}

// check compares b, which has whole blocks from block i on, with their checksums; the last block of
// the file may be shorter. It returns the offset in b of the first block that differs, or -1.
func (s *Sums) check(b []byte, i int64) int {
	for at := 0; at < len(b); at += blockSize {
		if crc32.Checksum(b[at:min(at+blockSize, len(b))], castagnoli) != s.blocks[i] {
			return at
		}
		i++
	}
	return -1
}

// Of returns the checksums of all bytes of r.
func Of(ctx context.Context, r io.Reader) (*Sums, error) {
	var rec Recorder
	buf := make([]byte, 64*blockSize)
	for off := int64(0); ; {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		n, err := r.Read(buf)
		rec.Wrote(buf[:n], off)
		off += int64(n)
		if err == io.EOF {
			return rec.Sums(off, nil)
		} else if err != nil {
			return nil, err
		}
	}
}
