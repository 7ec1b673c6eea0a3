package csv

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// This file and powers.go parse plain decimal numbers, like -12.5e-3, fast: eight digits at a time in
// one word, and the conversion of Eisel and Lemire ("Number Parsing at a Gigabyte per Second", 2021).
// Numbers that they do not handle are parsed by number.go.

// pad is the number of bytes other than digits that must follow the bytes to parse.
const pad = 32

const (
	ascii0 = 0x3030303030303030 // eight times '0'
	high   = 0x8080808080808080
)

func word(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i : i+8]) }

// notDigits returns 0 if all eight bytes of v are digits. Otherwise its lowest set bit is the high bit of the first
// byte that is not a digit. Adding 0x46 carries a byte above '9' past 0x7F, and subtracting 0x30 one below '0'; carries
// change later bytes only.
func notDigits(v uint64) uint64 { return ((v + 0x4646464646464646) | (v - ascii0)) & high }

// eight returns the number of eight digits, the first of them in the lowest byte. One multiplication
// combines digits to pairs, one pairs to fours, and one the two fours.
func eight(v uint64) uint64 {
	v = v * (1 + 10<<8) >> 8 & 0x00FF00FF00FF00FF
	v = v * (1 + 100<<16) >> 16 & 0x0000FFFF0000FFFF
	return v * (1 + 10000<<32) >> 32
}

// tens has the factors by which a number grows when up to seven digits are appended.
var tens = [8]uint64{1, 10, 100, 1000, 10000, 100000, 1000000, 10000000}

// digits appends the digits at b[i] to n, and returns n and their end. n overflows if it has more than
// 19 digits.
func digits(b []byte, i int, n uint64) (uint64, int) {
	for {
		v := word(b, i)
		stop := notDigits(v)
		if stop != 0 {
			k := bits.TrailingZeros64(stop) >> 3
			return n*tens[k&7] + eight((v-ascii0)<<(64-8*k)), i + k
		}
		n = n*1e8 + eight(v-ascii0)
		i += 8
	}
}

func skipDigits(b []byte, i int) int {
	for {
		if stop := notDigits(word(b, i)); stop != 0 {
			return i + bits.TrailingZeros64(stop)>>3
		}
		i += 8
	}
}

// skipDecimal returns the end of the plain decimal number at b[i], or 0 if there is none or it may be
// too large for a float32. Like decimal it has a fast path for the usual shape.
func skipDecimal(b []byte, i int) int {
	at := i
	if b[at] == '-' {
		at++
	}
	a := (*[pad]byte)(b[at : at+pad])
	if a[0]-'0' > 9 || a[1] != '.' {
		return skipAny(b, i)
	}
	at += 2
	v := binary.LittleEndian.Uint64(a[2:10])
	stop := notDigits(v)
	if stop == 0 {
		at += 8
		v = binary.LittleEndian.Uint64(a[10:18])
		if stop = notDigits(v); stop == 0 {
			at += 8
			v = binary.LittleEndian.Uint64(a[18:26])
			stop = notDigits(v)
		}
	}
	k := bits.TrailingZeros64(stop) >> 3
	if stop == 0 || byte(v>>(8*k&63))&0xDF == 'E' {
		return skipAny(b, i)
	}
	return at + k
}

// skipAny is skipDecimal for any shape.
func skipAny(b []byte, i int) int {
	if b[i] == '-' || b[i] == '+' {
		i++
	}
	from := i
	if i++; b[from]-'0' > 9 || b[i] != '.' {
		i = skipDigits(b, from)
	}
	n := i - from
	size := n // the number is below 10^size
	if b[i] == '.' {
		from = i + 1
		i = skipDigits(b, from)
		n += i - from
	}
	if n == 0 {
		return 0
	}
	if b[i]|0x20 == 'e' {
		e := 0
		if e, i = exponent(b, i+1); i == 0 {
			return 0
		}
		size += e
	}
	if size > 38 { // a float32 holds 10^38, but not 10^39
		return 0
	}
	return i
}

// decimal returns the bits of the float64 nearest to the plain decimal number at b[i], and the end of
// the number. The end is 0 if b has no such number there, or if 19 digits and one multiplication do not
// determine the float64.
//
// Most numbers in tables are a digit, a point and eight or more digits, like 0.8444218515250481. These
// are parsed here, without loops and calls.
func (p *powers) decimal(b []byte, i int) (float uint64, end int) {
	sign, at := uint64(0), i
	a := (*[pad]byte)(b[at : at+pad])
	if a[0] == '-' {
		sign = 1 << 63
		at++
		a = (*[pad]byte)(b[at : at+pad])
	}
	first := uint64(a[0] - '0')
	v := binary.LittleEndian.Uint64(a[2:10])
	if first > 9 || a[1] != '.' {
		return p.decimalAny(b, i)
	}
	if stop := notDigits(v); stop != 0 {
		k := bits.TrailingZeros64(stop) >> 3
		if byte(v>>(8*k&63))&0xDF == 'E' {
			return p.decimalAny(b, i)
		}
		n := first*tens[k&7] + eight((v-ascii0)<<8<<((56-8*k)&63))
		return sign | math.Float64bits(float64(n)/exactTens[k&7]), at + 2 + k
	}
	n := first*1e8 + eight(v-ascii0)
	v = binary.LittleEndian.Uint64(a[10:18])
	var places int // digits after the point
	var behind byte
	if stop := notDigits(v); stop != 0 {
		k := bits.TrailingZeros64(stop) >> 3
		n = n*tens[k&7] + eight((v-ascii0)<<8<<((56-8*k)&63))
		behind = byte(v >> (8 * k & 63))
		places = 8 + k
	} else {
		n = n*1e8 + eight(v-ascii0)
		v = uint64(binary.LittleEndian.Uint32(a[18:22]))
		k := bits.TrailingZeros32(uint32(notDigits(v))) >> 3
		if k > 2 && (k > 3 || first != 0) {
			return p.decimalAny(b, i)
		}
		n = n*tens[k&7] + three(uint32((v-ascii0)<<((32-8*k)&63)))
		behind = byte(v >> (8 * k & 63))
		places = 16 + k
	}
	if behind&0xDF == 'E' {
		return p.decimalAny(b, i)
	}
	end = at + 2 + places
	exp := -places
	power := &p[exp-minPower]
	shift := bits.LeadingZeros64(n)
	hi, _ := bits.Mul64(n<<(shift&63), power.hi)
	if (hi+1)&0x1FE == 0 {
		return p.rounded(n, exp, sign, end)
	}
	top := hi >> 63
	mantissa := hi >> ((top + 9) & 63)
	e := uint64((217706*exp)>>16+1022+63-shift) + top
	return sign | (e<<52 + (mantissa+mantissa&1)>>1), end
}

// three returns the number of the last three of four digits.
func three(v uint32) uint64 {
	v = v*10 + v>>8
	return uint64(v&0xFF)*100 + uint64(v>>16&0xFF)
}

// decimalAny is decimal for any shape.
func (p *powers) decimalAny(b []byte, i int) (float uint64, end int) {
	n, exp, sign, end := scanAny(b, i)
	return p.rounded(n, exp, sign, end)
}

// rounded returns the result of decimal for a number n·10^exp.
func (p *powers) rounded(n uint64, exp int, sign uint64, end int) (uint64, int) {
	if n == 0 {
		return sign, end
	}
	bits, ok := p.nearest(n, exp)
	if !ok {
		if bits, ok = exact(n, exp); !ok {
			return 0, 0
		}
	}
	return sign | bits, end
}

// scanAny splits the plain decimal number at b[i], of any shape, into digits n and exponent. The end is 0 if there is
// no number or if its digits do not fit into n.
func scanAny(b []byte, i int) (n uint64, exp int, sign uint64, end int) {
	switch b[i] {
	case '-':
		sign = 1 << 63
		i++
	case '+':
		i++
	}
	n, count, some := uint64(b[i]-'0'), 1, true // count is the number of digits in n
	from := i
	if i++; n > 9 || b[i] != '.' {
		n, i = digits(b, from, 0)
		count = i - from
		some = count > 0
	}
	if n == 0 && count <= 19 {
		count = 0
	}
	if b[i] == '.' {
		from = i + 1
		n, i = digits(b, from, n)
		exp = from - i
		count -= exp
		some = some || exp < 0
	}
	if !some || count > 19 {
		return 0, 0, 0, 0
	}
	if b[i]|0x20 == 'e' {
		e := 0
		if e, i = exponent(b, i+1); i == 0 {
			return 0, 0, 0, 0
		}
		exp += e
	}
	return n, exp, sign, i
}

// exact returns the bits of n·10^exp if float64 holds both n and the power, so that one operation rounds
// once (Clinger, 1990). This covers many numbers, like 12.5, that may be a tie for nearest.
func exact(n uint64, exp int) (uint64, bool) {
	switch {
	case n > 1<<53:
		return 0, false
	case exp < 0 && exp > -len(exactTens):
		return math.Float64bits(float64(n) / exactTens[-exp]), true
	case exp >= 0 && exp < len(exactTens):
		return math.Float64bits(float64(n) * exactTens[exp]), true
	}
	return 0, false
}

// exactTens has the powers of ten that float64 holds exactly.
var exactTens = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// exponent returns the exponent at b[i] and its end, 0 if there is none or it has more than four digits.
func exponent(b []byte, i int) (e, end int) {
	negative := b[i] == '-'
	if negative || b[i] == '+' {
		i++
	}
	from := i
	for ; b[i]-'0' <= 9; i++ {
		if i-from == 4 {
			return 0, 0
		}
		e = 10*e + int(b[i]-'0')
	}
	if i == from {
		return 0, 0
	}
	if negative {
		e = -e
	}
	return e, i
}

// whole returns the int64 at b[i] and its end, 0 if there is none or it has more than 18 digits.
func whole(b []byte, i int) (bits uint64, end int) {
	negative := b[i] == '-'
	if negative || b[i] == '+' {
		i++
	}
	from := i
	n, i := digits(b, i, 0)
	if i == from || i-from > 18 {
		return 0, 0
	}
	if negative {
		n = -n
	}
	return n, i
}
