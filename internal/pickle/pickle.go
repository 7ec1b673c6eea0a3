// package pickle writes Python pickles of plain data and reads pickles of nested dicts.
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
	proto           = 0x80 // 1: the protocol
	frame           = 0x95 // 8: bytes that follow; may be left out
	Stop            = '.'
	Mark            = '('
	None            = 'N'
	opTrue          = 0x88
	opFalse         = 0x89
	binInt          = 'J'  // 4, signed
	binInt1         = 'K'  // 1, unsigned
	binInt2         = 'M'  // 2, unsigned
	long1           = 0x8a // 1: n, then n bytes, two's complement
	binFloat        = 'G'  // 8, big-endian
	shortBinUnicode = 0x8c // 1: n, then n bytes of UTF-8
	binUnicode      = 'X'  // 4: n
	binUnicode8     = 0x8d // 8: n
	shortBinBytes   = 'C'  // 1: n, then n bytes
	binBytes        = 'B'  // 4: n
	binBytes8       = 0x8e // 8: n
	EmptyList       = ']'
	opAppend        = 'a'
	Appends         = 'e'
	EmptyDict       = '}'
	setItem         = 's'
	SetItems        = 'u'
	emptyTuple      = ')'
	tuple1          = 0x85 // of the last value; Tuple2 and Tuple3 follow
	tuple2          = 0x86
	tuple3          = 0x87
	opTuple         = 't' // of all values since the last mark
	global          = 'c' // module, newline, name, newline
	stackGlobal     = 0x93
	reduce          = 'R'
	memoize         = 0x94
	binPut          = 'q' // 1
	longBinPut      = 'r' // 4
	binGet          = 'h' // 1
	longBinGet      = 'j' // 4
)

// Begin appends the head of a pickle of protocol 4, which Python reads from version 3.4 on.
func Begin(b []byte) []byte { return append(b, proto, 4) }

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
var tupleOps = [...]byte{emptyTuple, tuple1, tuple2, tuple3, opTuple}

// appendText appends a str. It does not check that s is UTF-8.
func appendText[S ~string | ~[]byte](b []byte, s S) []byte {
	return append(appendHead(b, int64(len(s)), shortBinUnicode, binUnicode, binUnicode8), s...)
}

// AppendTextHead appends the opcode and the length of a str of n bytes.
func AppendTextHead(b []byte, n int64) []byte {
	return appendHead(b, n, shortBinUnicode, binUnicode, binUnicode8)
}

// AppendBytesHead appends the opcode and the length of a bytes object of n bytes.
func AppendBytesHead(b []byte, n int64) []byte {
	return appendHead(b, n, shortBinBytes, binBytes, binBytes8)
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
		return append(b, binInt1, byte(n))
	case 0 <= n && n <= math.MaxUint16:
		return binary.LittleEndian.AppendUint16(append(b, binInt2), uint16(n))
	case math.MinInt32 <= n && n <= math.MaxInt32:
		return binary.LittleEndian.AppendUint32(append(b, binInt), uint32(n))
	}
	return binary.LittleEndian.AppendUint64(append(b, long1, 8), uint64(n))
}

// AppendUint appends an int that may be above [math.MaxInt64].
func AppendUint(b []byte, n uint64) []byte {
	if n <= math.MaxInt64 {
		return AppendInt(b, int64(n))
	}
	b = binary.LittleEndian.AppendUint64(append(b, long1, 9), n)
	return append(b, 0) // the sign
}

// AppendFloat appends a float.
func AppendFloat(b []byte, x float64) []byte {
	return binary.BigEndian.AppendUint64(append(b, binFloat), math.Float64bits(x))
}

// AppendBool appends True or False.
func AppendBool(b []byte, v bool) []byte {
	if v {
		return append(b, opTrue)
	}
	return append(b, opFalse)
}
