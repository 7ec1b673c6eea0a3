package filter

import "encoding/binary"

// Major types of CBOR.
const (
	majorNegative = 1
	majorBytes    = 2
	majorText     = 3
	majorList     = 4
	majorMap      = 5
	majorTag      = 6
	majorSimple   = 7
)

// A head is the first bytes of an item.
type head struct {
	major      byte
	n          uint64
	indefinite bool // until a break; of majorSimple: it is a break

	raw  [9]byte
	size int // bytes of raw
}

func (h head) isBreak() bool { return h.major == majorSimple && h.indefinite }

func (h head) name() string {
	switch h.major {
	case majorBytes:
		return "a byte string"
	case majorText:
		return "a text"
	case majorList:
		return "an array"
	case majorMap:
		return "a map"
	case majorTag:
		return "a tag"
	case majorSimple:
		return "a simple value or a float"
	}
	return "an integer"
}

// appendHead appends the shortest head of an item.
func appendHead(b []byte, major byte, n uint64) []byte {
	major <<= 5
	switch {
	case n < 24:
		return append(b, major|byte(n))
	case n < 1<<8:
		return append(b, major|24, byte(n))
	case n < 1<<16:
		return binary.BigEndian.AppendUint16(append(b, major|25), uint16(n))
	case n < 1<<32:
		return binary.BigEndian.AppendUint32(append(b, major|26), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(b, major|27), n)
}
