// Package heads reads the heads of the data items of CBOR and MessagePack, and writes those of CBOR and of the array files of numpy.
//
//	h := heads.CBOR.Parse(b) // b has heads.Max bytes or more
//	h.Kind, h.Size, h.Arg    // the type of the item, where its content begins, and a number: its value or its length
//
// A head is a first byte, which has the type of the item, and up to 8 bytes of a number, big-endian. The encodings differ in
// the first bytes alone, so each is a table of 256 rows.
package heads

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/ffconvert/ffconvert/converters"
)

// A Kind is the type of a data item, as its head says. Items of the kinds up to [Null] consist of a head alone.
type Kind uint8

const (
	Uint     Kind = iota // Arg
	Negative             // −1−Arg
	signed               // Arg is two's complement, of as many bytes as the head has
	Float                // Arg is the bits of a half, single or double, by the size of the head
	isFalse
	isTrue
	Null
	Simple       // a simple value that is not assigned
	Bytes        // Arg bytes follow
	Text         // Arg bytes follow
	Extension    // Arg bytes follow, of an application's type
	Array        // Arg items follow
	Map          // Arg pairs of items follow
	Tag          // an item follows; Arg is its meaning
	ChunkedBytes // byte strings follow, up to a break
	ChunkedText  // texts follow, up to a break
	OpenArray    // items follow, up to a break
	OpenMap      // pairs of items follow, up to a break
	Break
	Reserved // not a head; Arg is the byte
)

// Undefined is a simple value of CBOR (RFC 8949, 3.3) that MessagePack does not have.
const Undefined = 23

// Max is the size of the longest head, bytes.
const Max = 9

// A Head is the first bytes of a data item.
type Head struct {
	Kind Kind
	Size uint8 // of the head itself, bytes
	Arg  uint64
}

// A form describes a head by its first byte.
type form struct {
	kind  Kind
	size  uint8 // of the head, bytes
	shift uint8 // 64 minus the number of bits of the argument after the first byte
	imm   uint8 // the argument, if none follows the first byte
}

// immediate returns the form of a head of one byte.
func immediate(k Kind, arg byte) form { return form{kind: k, size: 1, shift: 64, imm: arg} }

// wide returns the form of a head with an argument of n bytes, at least one.
func wide(k Kind, n int) form { return form{kind: k, size: uint8(1 + n), shift: uint8(64 - 8*n)} }

// Forms has the form of a head for each first byte.
type Forms [256]form

// Of returns the head that begins with a byte, without the part of Arg that lies in the bytes after it.
func (t *Forms) Of(first byte) Head {
	f := t[first]
	return Head{Kind: f.kind, Size: f.size, Arg: uint64(f.imm)}
}

// Parse decodes the head at the start of b, which has [Max] bytes or more.
func (t *Forms) Parse(b []byte) Head {
	_ = b[Max-1]
	f := t[b[0]]
	return Head{Kind: f.kind, Size: f.size, Arg: binary.BigEndian.Uint64(b[1:])>>f.shift | uint64(f.imm)}
}

// CBOR has the heads of RFC 8949, 3.
var CBOR = cborForms()

func cborForms() *Forms {
	var t Forms
	for i := range t {
		major, info := i>>5, i&31
		k := [...]Kind{Uint, Negative, Bytes, Text, Array, Map, Tag, Simple}[major]
		open := [...]Kind{Reserved, Reserved, ChunkedBytes, ChunkedText, OpenArray, OpenMap, Reserved, Break}[major]
		switch {
		case info < 24:
			t[i] = immediate(k, byte(info))
		case info < 28:
			t[i] = wide(k, 1<<(info-24))
		case info < 31:
			t[i] = immediate(Reserved, byte(i))
		default:
			t[i] = immediate(open, byte(i))
		}
	}
	const simple = 7 << 5
	t[simple|20] = immediate(isFalse, 0)
	t[simple|21] = immediate(isTrue, 0)
	t[simple|22] = immediate(Null, 0)
	t[simple|25] = wide(Float, 2)
	t[simple|26] = wide(Float, 4)
	t[simple|27] = wide(Float, 8)
	return &t
}

// majors are the first bits of the heads of CBOR that have an argument.
var majors = [...]byte{Uint: 0 << 5, Negative: 1 << 5, Bytes: 2 << 5, Text: 3 << 5, Array: 4 << 5, Map: 5 << 5, Tag: 6 << 5}

// AppendCBOR appends the shortest head of a kind that has an argument: an integer, a string, an array, a map or a tag.
func AppendCBOR(b []byte, k Kind, n uint64) []byte {
	major := majors[k]
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

// Value returns the value of an item that consists of a head alone. It refuses an integer that no Go type holds.
func (h Head) Value() (converters.Value, error) {
	switch h.Kind {
	case Uint:
		if h.Arg > math.MaxInt64 {
			return converters.Nested(h.Arg), nil
		}
		return converters.Int(int64(h.Arg)), nil
	case Negative:
		if h.Arg > math.MaxInt64 {
			return converters.Value{}, fmt.Errorf("%w: an integer below -2^63", converters.ErrUnsupported)
		}
		return converters.Int(-1 - int64(h.Arg)), nil
	case signed:
		unused := 64 - 8*(int(h.Size)-1)
		return converters.Int(int64(h.Arg<<unused) >> unused), nil
	case Float:
		return converters.Float(h.float()), nil
	case isFalse, isTrue:
		return converters.Nested(h.Kind == isTrue), nil
	}
	return converters.Nested(nil), nil
}

func (h Head) float() float64 {
	switch h.Size {
	case 3:
		return half(uint16(h.Arg))
	case 5:
		return float64(math.Float32frombits(uint32(h.Arg)))
	}
	return math.Float64frombits(h.Arg)
}

// half is an IEEE 754 number of 16 bits: 1 of sign, 5 of exponent, 10 of fraction.
func half(bits uint16) float64 {
	exponent, fraction := int(bits>>10&31), float64(bits&1023)
	var x float64
	switch {
	case exponent == 0:
		x = math.Ldexp(fraction, -24)
	case exponent < 31:
		x = math.Ldexp(1024+fraction, exponent-25)
	case fraction == 0:
		x = math.Inf(1)
	default:
		x = math.NaN()
	}
	if bits>>15 == 1 {
		x = -x
	}
	return x
}
