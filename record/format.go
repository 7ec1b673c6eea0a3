package record

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
)

// This file alone knows the layout: positions, widths, byte order, names.

const (
	sumSize  = 4                 // bytes of the header CRC, and of a sample's CRC
	offSize  = 8                 // bytes of an offset, and of N
	headSize = sumSize + offSize // the fixed part: header CRC and N
	rowSize  = sumSize + offSize // table bytes a sample
	coverOff = sumSize           // the header CRC covers the tables from here: N is included
	maxN     = (math.MaxInt64 - headSize) / rowSize
	poisonN  = -1 // no reader, ours or the original, accepts a negative N
	poison32 = 1  // not 0: the original skips its checks where the header CRC is 0

	// Ext is how the name of a finished shard ends. Readers take every file of a directory that
	// ends so, dot-files too; nothing unfinished may have such a name, and no directory.
	Ext = ".ffr"

	// MaxSamples is how many samples a Writer accepts for one file, and a Reader or Scanner unless
	// told otherwise. At 12 bytes each their tables take 1.5 GiB of memory; the limit exists because
	// a sparse file of twelve real bytes may claim any number.
	MaxSamples = 1 << 27
)

// Name is the file name of shard i, counted from 0, of a set of so many. It has five digits, and
// from 100,000 shards on as many as the count has: names sort as strings in the order of shards.
func Name(i, of int) string {
	return fmt.Sprintf("PART_%0*d%s", max(5, len(strconv.Itoa(of))), i, Ext)
}

// FileSize is the exact size in bytes of a shard of n samples and so many bytes of payload. It is -1
// where n or payload is negative or the size does not fit an int64.
func FileSize(n, payload int64) int64 {
	if n < 0 || n > maxN || payload < 0 || payload > math.MaxInt64-payloadOff(n) {
		return -1
	}
	return payloadOff(n) + payload
}

// offsetsOff and payloadOff are where the offsets and the samples start. They need 0 ≤ n ≤ maxN.
func offsetsOff(n int64) int64 { return headSize + sumSize*n }
func payloadOff(n int64) int64 { return headSize + rowSize*n }

// samplesFit is the largest N that a file of size bytes has room for. It needs size ≥ headSize.
func samplesFit(size int64) int64 { return (size - headSize) / rowSize }

// putHead writes the head into b, which holds at least headSize bytes.
func putHead(b []byte, sum uint32, n int64) {
	binary.LittleEndian.PutUint32(b, sum)
	binary.LittleEndian.PutUint64(b[sumSize:], uint64(n))
}

// parseHead is the reverse of putHead. It judges nothing.
func parseHead(b []byte) (sum uint32, n int64) {
	return parseSum(b), parseOff(b[sumSize:])
}

func appendSum(b []byte, sum uint32) []byte { return binary.LittleEndian.AppendUint32(b, sum) }
func appendOff(b []byte, off int64) []byte  { return binary.LittleEndian.AppendUint64(b, uint64(off)) }
func parseSum(b []byte) uint32              { return binary.LittleEndian.Uint32(b) }
func parseOff(b []byte) int64               { return int64(binary.LittleEndian.Uint64(b)) }
