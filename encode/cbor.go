package encode

import (
	"encoding/binary"

	"github.com/ffconvert/ffconvert/internal/heads"
)

// Items of CBOR that have no argument, and the first byte of a float of 64 bits (RFC 8949, 3.3).
const (
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
			return heads.AppendCBOR(b, heads.Negative, ^n)
		}
		return heads.AppendCBOR(b, heads.Uint, n)
	case tokenUint:
		return heads.AppendCBOR(b, heads.Uint, n)
	case tokenFloat:
		return binary.BigEndian.AppendUint64(append(b, cborFloat), n)
	case tokenText:
		return heads.AppendCBOR(b, heads.Text, n)
	case tokenBytes:
		return heads.AppendCBOR(b, heads.Bytes, n)
	case tokenList:
		return heads.AppendCBOR(b, heads.Array, n)
	case tokenMap:
		return heads.AppendCBOR(b, heads.Map, n)
	}
	return b
}
