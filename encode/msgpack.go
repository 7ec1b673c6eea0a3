package encode

import (
	"encoding/binary"
	"math"

	"github.com/vmihailenco/msgpack/v5/msgpcode"
)

// msgpackSyntax writes text as str, bytes as bin, floats as float 64, and the shortest heads.
func msgpackSyntax(b []byte, t token, n uint64) []byte {
	switch t {
	case tokenNull:
		return append(b, msgpcode.Nil)
	case tokenFalse:
		return append(b, msgpcode.False)
	case tokenTrue:
		return append(b, msgpcode.True)
	case tokenInt:
		if i := int64(n); i < 0 {
			return msgpackNegative(b, i)
		}
		if n <= uint64(msgpcode.PosFixedNumHigh) {
			return append(b, byte(n))
		}
		return msgpackHead(b, n, msgpcode.Uint8, msgpcode.Uint16, msgpcode.Uint32)
	case tokenUint:
		return msgpackHead(b, n, msgpcode.Uint8, msgpcode.Uint16, msgpcode.Uint32)
	case tokenFloat:
		return binary.BigEndian.AppendUint64(append(b, msgpcode.Double), n)
	case tokenText:
		if n <= uint64(msgpcode.FixedStrMask) {
			return append(b, msgpcode.FixedStrLow|byte(n))
		}
		return msgpackHead(b, n, msgpcode.Str8, msgpcode.Str16, msgpcode.Str32)
	case tokenBytes:
		return msgpackHead(b, n, msgpcode.Bin8, msgpcode.Bin16, msgpcode.Bin32)
	case tokenList:
		if n <= uint64(msgpcode.FixedArrayMask) {
			return append(b, msgpcode.FixedArrayLow|byte(n))
		}
		return msgpackHead(b, n, 0, msgpcode.Array16, msgpcode.Array32)
	case tokenMap:
		if n <= uint64(msgpcode.FixedMapMask) {
			return append(b, msgpcode.FixedMapLow|byte(n))
		}
		return msgpackHead(b, n, 0, msgpcode.Map16, msgpcode.Map32)
	}
	return b
}

// msgpackHead appends n with the code of the shortest argument: code1, code2 or code4 for 1, 2 or 4
// bytes, and uint 64 for 8. code1 is 0 for lists and maps, which do not have such a form.
func msgpackHead(b []byte, n uint64, code1, code2, code4 byte) []byte {
	switch {
	case n <= math.MaxUint8 && code1 != 0:
		return append(b, code1, byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, code2), uint16(n))
	case n <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(b, code4), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(b, msgpcode.Uint64), n)
}

func msgpackNegative(b []byte, n int64) []byte {
	switch {
	case n >= -32:
		return append(b, byte(n))
	case n >= math.MinInt8:
		return append(b, msgpcode.Int8, byte(n))
	case n >= math.MinInt16:
		return binary.BigEndian.AppendUint16(append(b, msgpcode.Int16), uint16(n))
	case n >= math.MinInt32:
		return binary.BigEndian.AppendUint32(append(b, msgpcode.Int32), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(b, msgpcode.Int64), uint64(n))
}
