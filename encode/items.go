package encode

import "github.com/vmihailenco/msgpack/v5/msgpcode"

func cborItem(data []byte) (is class, value []byte, items uint64, rest []byte) {
	info, n := data[0]&31, uint64(data[0]&31)
	rest = data[1:]
	if info >= 24 {
		width := 1 << (info - 24)
		if info > 27 || width > len(rest) {
			return otherItem, nil, 0, nil
		}
		n = bigEndian(rest[:width])
		rest = rest[width:]
	}
	switch data[0] &^ 31 {
	case cborBytes, cborText:
		if n > uint64(len(rest)) {
			return otherItem, nil, 0, nil
		}
		if is = bytesItem; data[0]&^31 == cborText {
			is = textItem
		}
		return is, rest[:n:n], 0, rest[n:]
	case cborList:
		return otherItem, nil, n, rest
	case cborMap:
		if n > uint64(len(rest)) {
			return otherItem, nil, 0, nil
		}
		return mapItem, nil, 2 * n, rest
	case cborTag:
		return otherItem, nil, 1, rest
	}
	return otherItem, nil, 0, rest
}

func msgpackItem(data []byte) (is class, value []byte, items uint64, rest []byte) {
	code := data[0]
	width, n := 0, uint64(0) // of a length, and the length or the size of a number
	switch {
	case msgpcode.IsFixedNum(code), code == msgpcode.Nil, code == msgpcode.False, code == msgpcode.True:
	case msgpcode.IsFixedMap(code), msgpcode.IsFixedArray(code):
		n = uint64(code & 15)
	case msgpcode.IsFixedString(code):
		n = uint64(code & 31)
	case code >= msgpcode.Bin8 && code <= msgpcode.Bin32:
		width = 1 << (code - msgpcode.Bin8)
	case code >= msgpcode.Ext8 && code <= msgpcode.Ext32:
		width = 1 << (code - msgpcode.Ext8)
	case code == msgpcode.Float, code == msgpcode.Double:
		n = 4 << (code - msgpcode.Float)
	case code >= msgpcode.Uint8 && code <= msgpcode.Uint64:
		n = 1 << (code - msgpcode.Uint8)
	case code >= msgpcode.Int8 && code <= msgpcode.Int64:
		n = 1 << (code - msgpcode.Int8)
	case code >= msgpcode.FixExt1 && code <= msgpcode.FixExt16:
		n = 1 + 1<<(code-msgpcode.FixExt1)
	case code >= msgpcode.Str8 && code <= msgpcode.Str32:
		width = 1 << (code - msgpcode.Str8)
	case code >= msgpcode.Array16 && code <= msgpcode.Map32:
		width = 2 << ((code - msgpcode.Array16) & 1)
	default:
		return otherItem, nil, 0, nil
	}
	if rest = data[1:]; width > len(rest) {
		return otherItem, nil, 0, nil
	}
	if width > 0 {
		n = bigEndian(rest[:width])
		rest = rest[width:]
	}
	switch {
	case isMsgpackMap(code):
		return mapItem, nil, 2 * n, rest
	case msgpcode.IsFixedArray(code), code == msgpcode.Array16, code == msgpcode.Array32:
		return otherItem, nil, n, rest
	case code >= msgpcode.Ext8 && code <= msgpcode.Ext32:
		n++ // its type
	case msgpcode.IsString(code):
		is = textItem
	case msgpcode.IsBin(code):
		is = bytesItem
	}
	if n > uint64(len(rest)) {
		return otherItem, nil, 0, nil
	}
	return is, rest[:n:n], 0, rest[n:]
}

func bigEndian(b []byte) (n uint64) {
	for _, c := range b {
		n = n<<8 | uint64(c)
	}
	return n
}
