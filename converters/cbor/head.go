package cbor

import (
	"encoding/binary"
	"math"

	"github.com/ffconvert/ffconvert/converters"
)

// A kind is the type of a data item, as its head says.
type kind uint8

const (
	kindUint     kind = iota // arg
	kindNegative             // −1−arg
	kindSigned               // arg is two's complement, of as many bytes as the head has
	kindFloat                // arg is the bits of a half, single or double, by the size of the head
	kindFalse
	kindTrue
	kindNull
)

// lastScalar is the last kind of items that consist of a head alone.
const lastScalar = kindNull

const (
	kindSimple       kind = lastScalar + 1 + iota // a simple value that is not assigned
	kindBytes                                     // arg bytes follow
	kindText                                      // arg bytes follow
	kindExtension                                 // arg bytes follow, of an application's type
	kindArray                                     // arg items follow
	kindMap                                       // arg pairs of items follow
	kindTag                                       // an item follows; arg is what it means
	kindChunkedBytes                              // byte strings follow, up to a break
	kindChunkedText                               // texts follow, up to a break
	kindOpenArray                                 // items follow, up to a break
	kindOpenMap                                   // pairs of items follow, up to a break
	kindBreak
	kindReserved // not a head; arg is the byte
)

// undefined is a simple value of CBOR (RFC 8949, 3.3) that other encodings do not have.
const undefined = 23

// headMax is the size of the longest head, bytes.
const headMax = 9

// A head is the first bytes of a data item.
type head struct {
	kind kind
	size uint8 // of the head itself, bytes
	arg  uint64
}

// A form describes a head by its first byte.
type form struct {
	kind  kind
	size  uint8 // of the head, bytes
	shift uint8 // 64 minus the number of bits of the argument after the first byte
	imm   uint8 // the argument, if none follows the first byte
}

// immediate returns the form of a head of one byte.
func immediate(k kind, arg byte) form { return form{kind: k, size: 1, shift: 64, imm: arg} }

// wide returns the form of a head with an argument of n bytes, at least one.
func wide(k kind, n int) form { return form{kind: k, size: uint8(1 + n), shift: uint8(64 - 8*n)} }

// forms has the form for each first byte.
type forms [256]form

// parse decodes the head at the start of b, which has headMax bytes or more.
func (t *forms) parse(b []byte) head {
	_ = b[headMax-1]
	f := t[b[0]]
	return head{kind: f.kind, size: f.size, arg: binary.BigEndian.Uint64(b[1:])>>f.shift | uint64(f.imm)}
}

// cborForms returns the heads of RFC 8949, 3.
func cborForms() *forms {
	var t forms
	for i := range t {
		major, info := i>>5, i&31
		k := [...]kind{kindUint, kindNegative, kindBytes, kindText, kindArray, kindMap, kindTag, kindSimple}[major]
		open := [...]kind{kindReserved, kindReserved, kindChunkedBytes, kindChunkedText, kindOpenArray, kindOpenMap, kindReserved, kindBreak}[major]
		switch {
		case info < 24:
			t[i] = immediate(k, byte(info))
		case info < 28:
			t[i] = wide(k, 1<<(info-24))
		case info < 31:
			t[i] = immediate(kindReserved, byte(i))
		default:
			t[i] = immediate(open, byte(i))
		}
	}
	const simple = 7 << 5
	t[simple|20] = immediate(kindFalse, 0)
	t[simple|21] = immediate(kindTrue, 0)
	t[simple|22] = immediate(kindNull, 0)
	t[simple|25] = wide(kindFloat, 2)
	t[simple|26] = wide(kindFloat, 4)
	t[simple|27] = wide(kindFloat, 8)
	return &t
}

// value returns the value of a scalar.
func (h head) value() (converters.Value, error) {
	switch h.kind {
	case kindUint:
		if h.arg > math.MaxInt64 {
			return converters.Nested(h.arg), nil
		}
		return converters.Int(int64(h.arg)), nil
	case kindNegative:
		if h.arg > math.MaxInt64 {
			return converters.Value{}, errBelow
		}
		return converters.Int(-1 - int64(h.arg)), nil
	case kindSigned:
		unused := 64 - 8*(int(h.size)-1)
		return converters.Int(int64(h.arg<<unused) >> unused), nil
	case kindFloat:
		return converters.Float(h.float()), nil
	case kindFalse, kindTrue:
		return converters.Nested(h.kind == kindTrue), nil
	}
	return converters.Nested(nil), nil
}

func (h head) float() float64 {
	switch h.size {
	case 3:
		return half(uint16(h.arg))
	case 5:
		return float64(math.Float32frombits(uint32(h.arg)))
	}
	return math.Float64frombits(h.arg)
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
