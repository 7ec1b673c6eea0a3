// Package pickle writes Python pickles of plain data and reads pickles of nested dicts.
//
//	b := pickle.Begin(nil)                   // protocol 4
//	b = append(b, pickle.EmptyDict, pickle.Mark)
//	b = pickle.AppendText(b, "cls")
//	b = pickle.AppendInt(b, 7)
//	b = append(b, pickle.SetItems, pickle.Stop) // {"cls": 7}
//
// A pickle is a program for a stack machine. The opcodes here push data and store it in dicts, lists and
// tuples. Only Global and StackGlobal import something. [DecodeDict] is not a general unpickler: it
// accepts only the opcodes of a tree of names. Lib/pickletools.py of CPython defines the format.
package pickle

import (
	"encoding/binary"
	"math"
)

// Opcodes. Comments give the size of the argument in bytes, little-endian unless stated.
const (
	Proto           = 0x80 // 1: the protocol
	Frame           = 0x95 // 8: bytes that follow; may be left out
	Stop            = '.'
	Mark            = '('
	None            = 'N'
	True            = 0x88
	False           = 0x89
	BinInt          = 'J'  // 4, signed
	BinInt1         = 'K'  // 1, unsigned
	BinInt2         = 'M'  // 2, unsigned
	Long1           = 0x8a // 1: n, then n bytes, two's complement
	BinFloat        = 'G'  // 8, big-endian
	ShortBinUnicode = 0x8c // 1: n, then n bytes of UTF-8
	BinUnicode      = 'X'  // 4: n
	BinUnicode8     = 0x8d // 8: n
	ShortBinBytes   = 'C'  // 1: n, then n bytes
	BinBytes        = 'B'  // 4: n
	BinBytes8       = 0x8e // 8: n
	EmptyList       = ']'
	Append          = 'a'
	Appends         = 'e'
	EmptyDict       = '}'
	SetItem         = 's'
	SetItems        = 'u'
	EmptyTuple      = ')'
	Tuple1          = 0x85 // of the last value; Tuple2 and Tuple3 follow
	Tuple2          = 0x86
	Tuple3          = 0x87
	Tuple           = 't' // of all values since the last mark
	Global          = 'c' // module, newline, name, newline
	StackGlobal     = 0x93
	Reduce          = 'R'
	Memoize         = 0x94
	BinPut          = 'q' // 1
	LongBinPut      = 'r' // 4
	BinGet          = 'h' // 1
	LongBinGet      = 'j' // 4
)

// Begin appends the head of a pickle of protocol 4, which Python reads from version 3.4 on.
func Begin(b []byte) []byte { return append(b, Proto, 4) }

// BeginTuple appends what comes before the n values of a tuple. As Python does, it marks those of more than three.
func BeginTuple(b []byte, n int) []byte {
	if n > 3 {
		return append(b, Mark)
	}
	return b
}

// EndTuple appends what comes after the n values of a tuple.
func EndTuple(b []byte, n int) []byte { return append(b, tupleOps[min(n, len(tupleOps)-1)]) }

// tupleOps are the opcodes that make a tuple of 0, 1, 2, 3 and more values.
var tupleOps = [...]byte{EmptyTuple, Tuple1, Tuple2, Tuple3, Tuple}

// AppendText appends a str. It does not check that s is UTF-8.
func AppendText[S ~string | ~[]byte](b []byte, s S) []byte {
	return append(appendHead(b, int64(len(s)), ShortBinUnicode, BinUnicode, BinUnicode8), s...)
}

// AppendTextHead appends the opcode and the length of a str of n bytes.
func AppendTextHead(b []byte, n int64) []byte {
	return appendHead(b, n, ShortBinUnicode, BinUnicode, BinUnicode8)
}

// AppendBytesHead appends the opcode and the length of a bytes object of n bytes.
func AppendBytesHead(b []byte, n int64) []byte {
	return appendHead(b, n, ShortBinBytes, BinBytes, BinBytes8)
}

func appendHead(b []byte, n int64, op1, op4, op8 byte) []byte {
	switch {
	case n <= math.MaxUint8:
		return append(b, op1, byte(n))
	case n <= math.MaxUint32:
		return binary.LittleEndian.AppendUint32(append(b, op4), uint32(n))
	}
	return binary.LittleEndian.AppendUint64(append(b, op8), uint64(n))
}

// AppendInt appends an int in the fewest bytes.
func AppendInt(b []byte, n int64) []byte {
	switch {
	case 0 <= n && n <= math.MaxUint8:
		return append(b, BinInt1, byte(n))
	case 0 <= n && n <= math.MaxUint16:
		return binary.LittleEndian.AppendUint16(append(b, BinInt2), uint16(n))
	case math.MinInt32 <= n && n <= math.MaxInt32:
		return binary.LittleEndian.AppendUint32(append(b, BinInt), uint32(n))
	}
	return binary.LittleEndian.AppendUint64(append(b, Long1, 8), uint64(n))
}

// AppendUint appends an int that may be above [math.MaxInt64].
func AppendUint(b []byte, n uint64) []byte {
	if n <= math.MaxInt64 {
		return AppendInt(b, int64(n))
	}
	b = binary.LittleEndian.AppendUint64(append(b, Long1, 9), n)
	return append(b, 0) // the sign
}

// AppendFloat appends a float.
func AppendFloat(b []byte, x float64) []byte {
	return binary.BigEndian.AppendUint64(append(b, BinFloat), math.Float64bits(x))
}

// AppendBool appends True or False.
func AppendBool(b []byte, v bool) []byte {
	if v {
		return append(b, True)
	}
	return append(b, False)
}
