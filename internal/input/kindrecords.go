package input

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math"
	"strconv"
	"strings"
)

// isTar reports whether head begins with a tar header with a valid checksum.
func isTar(head []byte) bool {
	if len(head) < 512 || head[0] == 0 {
		return false
	}
	field := strings.Trim(string(head[148:156]), " \x00")
	want, err := strconv.ParseInt(field, 8, 64)
	if err != nil {
		return false
	}
	sum := int64(8 * ' ') // the checksum field counts as spaces
	for i, c := range head[:512] {
		if i < 148 || i >= 156 {
			sum += int64(c)
		}
	}
	return sum == want
}

// mostRecords is the most records of an FFRecord file whose tables fit in 63 bits.
const mostRecords = (math.MaxInt64 - 20) / 12

// record recognizes an FFRecord file by its first offset, and an unfinished one by the header that ffconvert
// writes first.
func record(head []byte, size int64) (Kind, bool) {
	k := Kind{ID: "ffrecord", What: "an FFRecord file", Format: "ffr", Sure: true}
	if len(head) < 12 {
		return k, false
	}
	sum, n := binary.LittleEndian.Uint32(head), int64(binary.LittleEndian.Uint64(head[4:]))
	switch {
	case n == 0 && sum == 0x6522df69 && len(head) == 12:
		return k, true
	case n == -1 && sum == 1:
		k.What, k.Format = "an FFRecord file that was never finished", ""
		return k, true
	case n <= 0 || n > mostRecords || size >= 0 && n > (size-12)/12:
		return k, false
	}
	if at := 12 + 4*n; at+8 <= int64(len(head)) {
		return k, int64(binary.LittleEndian.Uint64(head[at:])) == 12+12*n
	}
	return k, false // the offset table is longer than head
}

// shard reports whether a file may be FFRecord with a table longer than head.
func shard(head []byte, size int64) (Kind, bool) {
	if len(head) < 12 {
		return shardKind, false
	}
	n := int64(binary.LittleEndian.Uint64(head[4:]))
	return shardKind, n > 0 && n <= mostRecords && 12+4*n+8 > int64(len(head)) && (size < 0 || n <= (size-12)/12)
}

// TFRecord, by the checksum of its first length and by its name.
var (
	tfrecordKind   = Kind{ID: "tfrecord", What: "a TFRecord file", Format: "tfrecord", Sure: true}
	tfrecordByName = Kind{ID: "tfrecord", What: "a TFRecord file", Format: "tfrecord"}
)

func tfRecord(head []byte, _ int64) (Kind, bool) { return tfrecordKind, IsTFRecord(head) }

// IsTFRecord reports whether head begins with the length of a TFRecord record and its checksum.
func IsTFRecord(head []byte) bool {
	if len(head) < 12 {
		return false
	}
	sum := crc32.Checksum(head[:8], crc32.MakeTable(crc32.Castagnoli))
	return binary.LittleEndian.Uint32(head[8:]) == (sum>>15|sum<<17)+0xa282ead8
}

// mds recognizes an MDS shard by its first offset, and by its columns where they are within head.
func mds(head []byte, size int64) (Kind, bool) {
	if len(head) < 12 {
		return mdsKind, false
	}
	config, first := 8+4*int64(binary.LittleEndian.Uint32(head)), int64(binary.LittleEndian.Uint32(head[4:]))
	if config >= first || size >= 0 && first > size || first > int64(len(head)) {
		return mdsKind, false
	}
	k := mdsKind
	k.Sure = true
	return k, head[config] == '{' && bytes.Contains(head[config:first], []byte(`"column_names"`))
}

// magics are magic bytes that package mimetype does not have.
var magics = []struct{ bytes, id, what string }{
	{"FEA1", "feather", "a Feather file of version 1"},
	{"\x93NUMPY", "numpy", "a NumPy array"},
	{"\x89HDF\r\n\x1a\n", "hdf5", "an HDF5 file"},
	{"\x0a\x23\xd7\xce", "recordio", "a RecordIO file"},
	{"MMIDIDX\x00\x00", "megatron", "a Megatron index"},
	{"LZIP", "compressed", "a file compressed by lzip"},
	{"\x04\x22\x4d\x18", "compressed", "a file compressed by lz4"},
	{"\x1f\x9d", "compressed", "a file compressed by compress"},
}

func magic(head []byte, _ int64) (Kind, bool) {
	s := string(head[:min(len(head), 16)])
	switch {
	case strings.HasPrefix(s, "PAR1"):
		return parquetKind, true
	case strings.HasPrefix(s, "ARROW1\x00\x00"):
		return arrowKind, true
	}
	for _, m := range magics {
		if strings.HasPrefix(s, m.bytes) {
			return Kind{ID: m.id, What: m.what, Sure: len(m.bytes) >= 4}, true
		}
	}
	if len(s) >= 8 && s[:4] == "\xff\xff\xff\xff" { // followed by the padded length of the schema
		if n := binary.LittleEndian.Uint32(head[4:]); n > 0 && n <= 16<<20 && n%8 == 0 {
			k := arrowKind
			k.What = "an Arrow stream"
			return k, true
		}
	}
	if len(s) > 2 && s[0] == 0x80 && s[1] >= 2 && s[1] <= 5 && strings.IndexByte("}](\x95cX\x8cK", s[2]) >= 0 {
		return Kind{ID: "pickle", What: "a Python pickle"}, true
	}
	return Kind{}, false
}

// ofRecord recognizes an OFRecord file, which has no magic bytes: a length below 4 GiB, then within that length a
// map entry whose name is text. A truncated file may be shorter.
func ofRecord(head []byte, _ int64) (Kind, bool) {
	const entry, name = 10, 10 // tags of field 1 with a length
	k := Kind{ID: "ofrecord", What: "an OFRecord file", Format: "ofrecord"}
	if len(head) < 16 || head[8] != entry {
		return k, false
	}
	n := binary.LittleEndian.Uint64(head)
	if n < 4 || n > 1<<32 {
		return k, false
	}
	outer, at := binary.Uvarint(head[9:])
	if at <= 0 || outer > n || len(head) < 9+at+2 || head[9+at] != name {
		return k, false
	}
	inner := uint64(head[9+at+1])
	from := uint64(9 + at + 2)
	return k, inner > 0 && inner < 128 && inner < outer && from+inner <= uint64(len(head)) && isText(head[from:from+inner], false)
}
