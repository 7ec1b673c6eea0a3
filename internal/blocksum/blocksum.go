// Package blocksum tells whether a file still has the bytes that were written to it.
//
// A [Recorder] sums each block as it is written; the [Sums] that it gives stay in memory, and
// every block that is read through [Sums.Check] is compared with them before a caller sees it:
//
//	rec.Wrote(p, off)               // beside each write
//	sums, err := rec.Sums(size, f)  // once all is written
//	r := sums.Check(f)              // r.ReadAt fails where f has other bytes
//
// The sum of a block is its CRC-32C: processors have an instruction for it, and it takes less than
// half the time of XXH64. The digest of a file is the XXH64 of these sums.
//
//	┌──────────┬──────────┬─────┬───────────────┐
//	│ 16 KiB   │ 16 KiB   │ …   │ 0 to 16 KiB   │ of the file
//	├──────────┼──────────┼─────┼───────────────┤
//	│ CRC-32C  │ CRC-32C  │ …   │ CRC-32C       │ little endian, 4 bytes each
//	├──────────┴──────────┴─────┴───────────────┤
//	│ XXH64, seed 0                             │ 8 bytes, as 16 hexadecimal digits
//	└───────────────────────────────────────────┘
package blocksum

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/cespare/xxhash/v2"

	"github.com/ffconvert/ffconvert/internal/place"
)

// Block is how many bytes have one sum. It is part of what a digest means. Smaller blocks would
// take more memory (4 bytes a block), larger ones make a small read cost more.
const Block = 16 << 10

// ErrChanged means that a file has other bytes than were written to it.
var ErrChanged = place.New(place.IO, "it has other bytes than were written to it")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Sums are the checksums of the blocks of one file. They do not change, and may be used concurrently.
type Sums struct {
	size   int64 // bytes of the file
	blocks []uint32
}

// Size is how many bytes the file has.
func (s *Sums) Size() int64 { return s.size }

// Digest is that of the whole file: 16 hexadecimal digits. It detects accidents; two files can be
// made to have the same digest.
func (s *Sums) Digest() string { return fmt.Sprintf("%016x", s.Sum64()) }

// Sum64 is the number that Digest shows.
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

// Sum64 returns the digest of a file whose bytes are b.
func Sum64(b []byte) uint64 {
	h := xxhash.New()
	var sum [4]byte
	for at := 0; at < len(b); at += Block {
		binary.LittleEndian.PutUint32(sum[:], crc32.Checksum(b[at:min(at+Block, len(b))], castagnoli))
		h.Write(sum[:])
	}
	return h.Sum64()
}

// check compares whole blocks, of which the first is block i; the last of the file may be
// shorter. It returns the offset in b of one that differs, -1: none does.
func (s *Sums) check(b []byte, i int64) int {
	for at := 0; at < len(b); at += Block {
		if crc32.Checksum(b[at:min(at+Block, len(b))], castagnoli) != s.blocks[i] {
			return at
		}
		i++
	}
	return -1
}

// Of reads r to its end and sums it.
func Of(ctx context.Context, r io.Reader) (*Sums, error) {
	var rec Recorder
	buf := make([]byte, 64*Block)
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
