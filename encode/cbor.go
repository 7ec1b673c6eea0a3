package encode

import (
	"encoding/binary"
	"math"
)

func newCBOR() format { return &mapFormat{name: "CBOR", syntax: cborSyntax, limit: math.MaxInt64} }

// First bytes of CBOR items (RFC 8949, 3.1): the major type, and for the last four the whole byte.
const (
	cborUint  = 0 << 5
	cborNeg   = 1 << 5
	cborBytes = 2 << 5
	cborText  = 3 << 5
	cborList  = 4 << 5
	cborMap   = 5 << 5
	cborTag   = 6 << 5
	cborFalse = 7<<5 | 20
	cborTrue  = 7<<5 | 21
	cborNull  = 7<<5 | 22
	cborFloat = 7<<5 | 27
)

// cborSyntax writes definite lengths, the shortest heads, and floats with 64 bits.
func cborSyntax(b []byte, t token, n uint64) []byte {
	switch t {
	case tokenNull:
		return append(b, cborNull)
	case tokenFalse:
		return append(b, cborFalse)
	case tokenTrue:
		return append(b, cborTrue)
	case tokenInt:
		if int64(n) < 0 {
			return cborHead(b, cborNeg, ^n)
		}
		return cborHead(b, cborUint, n)
	case tokenUint:
		return cborHead(b, cborUint, n)
	case tokenFloat:
		return binary.BigEndian.AppendUint64(append(b, cborFloat), n)
	case tokenText:
		return cborHead(b, cborText, n)
	case tokenBytes:
		return cborHead(b, cborBytes, n)
	case tokenList:
		return cborHead(b, cborList, n)
	case tokenMap:
		return cborHead(b, cborMap, n)
	}
	return b
}

func cborHead(b []byte, major byte, n uint64) []byte {
	switch {
	case n < 24:
		return append(b, major|byte(n))
	case n <= math.MaxUint8:
		return append(b, major|24, byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, major|25), uint16(n))
	case n <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(b, major|26), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(b, major|27), n)
}
