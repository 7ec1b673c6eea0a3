package record

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
)

// The layout of shards: positions, widths, byte order, names. No other file depends on them.

const (
	sumSize  = 4                 // bytes of the header CRC, and of a sample's CRC
	offSize  = 8                 // bytes of an offset, and of N
	headSize = sumSize + offSize // the fixed part: header CRC and N
	rowSize  = sumSize + offSize // bytes of a sample in the tables
	coverOff = sumSize           // first byte that the header CRC covers: N
	maxN     = (math.MaxInt64 - headSize) / rowSize
	poisonN  = -1 // neither this package nor the original reader accepts a negative N
	poison32 = 1  // not 0: the original reader skips its checks if the header CRC is 0

	// Ext is the suffix of shards. Readers read every file of a directory that has it, including
	// hidden files. An unfinished file, or a directory, must not have it.
	Ext = ".ffr"

	// MaxSamples is the most samples of a file that a Writer accepts, and the default limit of a
	// Reader or scanner. A header has 12 bytes for each sample, 1.5 GiB at the limit. The
	// limit is needed because a sparse file can claim any number of samples.
	MaxSamples = 1 << 27
)

// Name returns the file name of shard i, 0 ≤ i < of. The number has five digits, or as many as of
// has if that is more, so that names sort as strings in the order of shards.
func Name(i, of int) string {
	return fmt.Sprintf("PART_%0*d%s", max(5, len(strconv.Itoa(of))), i, Ext)
}

// FileSize returns the exact size in bytes of a shard of n samples with payload bytes in all. It
// returns -1 if n or payload is negative or the size overflows an int64.
func FileSize(n, payload int64) int64 {
	if n < 0 || n > maxN || payload < 0 || payload > math.MaxInt64-payloadOff(n) {
		return -1
	}
	return payloadOff(n) + payload
}

// offsetsOff and payloadOff return the positions of the offsets and of the samples in a file of n
// samples, 0 ≤ n ≤ maxN.
func offsetsOff(n int64) int64 { return headSize + sumSize*n }
func payloadOff(n int64) int64 { return headSize + rowSize*n }

// samplesFit returns the largest N for which a file of size ≥ headSize bytes has room.
func samplesFit(size int64) int64 { return (size - headSize) / rowSize }

// putHead writes the head into b, which holds at least headSize bytes.
func putHead(b []byte, sum uint32, n int64) {
	binary.LittleEndian.PutUint32(b, sum)
	binary.LittleEndian.PutUint64(b[sumSize:], uint64(n))
}

// parseHead is the reverse of putHead. It does not check the values.
func parseHead(b []byte) (sum uint32, n int64) {
	return parseSum(b), parseOff(b[sumSize:])
}

func appendSum(b []byte, sum uint32) []byte { return binary.LittleEndian.AppendUint32(b, sum) }
func appendOff(b []byte, off int64) []byte  { return binary.LittleEndian.AppendUint64(b, uint64(off)) }
func parseSum(b []byte) uint32              { return binary.LittleEndian.Uint32(b) }
func parseOff(b []byte) int64               { return int64(binary.LittleEndian.Uint64(b)) }
