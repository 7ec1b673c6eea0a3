package csv

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"
	"sync"
)

// This file holds all that is done for speed with a plain decimal number, as
// -12.5e-3: eight digits at a time in one word, and the conversion of Eisel and Lemire
// ("Number Parsing at a Gigabyte per Second", 2021). What it does not do, in doubt or
// by design, is left to number.go.

// pad is how many bytes that are no digits must follow those that are parsed.
const pad = 8

const (
	ascii0 = 0x3030303030303030 // eight times '0'
	high   = 0x8080808080808080
)

func word(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i : i+8]) }

// notDigits has the high bit set of the first byte of v that is no digit, and of others
// behind it; it is 0 where all eight are digits. Adding 0x46 lifts what is over '9' past
// 0x7F, subtracting 0x30 what is under '0'; carries go to later bytes alone.
func notDigits(v uint64) uint64 { return ((v + 0x4646464646464646) | (v - ascii0)) & high }

// eight returns the number that eight digits make, the first in the lowest byte: pairs
// of digits, then of pairs, then of fours, each by one multiplication.
func eight(v uint64) uint64 {
	v = v*10 + v>>8
	return ((v&0x000000FF000000FF)*(100+1000000<<32) + (v>>16&0x000000FF000000FF)*(1+10000<<32)) >> 32
}

// tens holds the powers of ten by which a number grows for less than eight digits more.
var tens = [8]uint64{1, 10, 100, 1000, 10000, 100000, 1000000, 10000000}

// digits appends the digits at b[i] to n, and returns n and where they end. n wraps
// around where it has more than 19.
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

// skipDigits returns where the digits at b[i] end.
func skipDigits(b []byte, i int) int {
	for {
		if stop := notDigits(word(b, i)); stop != 0 {
			return i + bits.TrailingZeros64(stop)>>3
		}
		i += 8
	}
}

// skipDecimal returns where the plain decimal number at b[i] ends, 0 where there is none.
func skipDecimal(b []byte, i int) int {
	if b[i] == '-' || b[i] == '+' {
		i++
	}
	from := i
	if i++; b[from]-'0' > 9 || b[i] != '.' {
		i = skipDigits(b, from)
	}
	n := i - from
	if b[i] == '.' {
		from = i + 1
		i = skipDigits(b, from)
		n += i - from
	}
	if n == 0 {
		return 0
	}
	if b[i]|0x20 == 'e' {
		i++
		if b[i] == '-' || b[i] == '+' {
			i++
		}
		from = i
		if i = skipDigits(b, i); i == from {
			return 0
		}
	}
	return i
}

// decimal returns the bits of the float64 nearest to the plain decimal number at b[i],
// and where it ends; 0 where there is none, or none that can be told from 19 digits and
// one multiplication.
func (p *powers) decimal(b []byte, i int) (bits uint64, end int) {
	sign := uint64(0)
	switch b[i] {
	case '-':
		sign = 1 << 63
		i++
	case '+':
		i++
	}
	n, count, some := uint64(b[i]-'0'), 1, true // count is of digits that n has
	from := i
	if i++; n > 9 || b[i] != '.' {
		n, i = digits(b, from, 0)
		count = i - from
		some = count > 0
	}
	if n == 0 && count <= 19 {
		count = 0
	}
	exp := 0
	if b[i] == '.' {
		from = i + 1
		n, i = digits(b, from, n)
		exp = from - i
		count -= exp
		some = some || exp < 0
	}
	if !some || count > 19 {
		return 0, 0
	}
	if b[i]|0x20 == 'e' {
		e := 0
		if e, i = exponent(b, i+1); i == 0 {
			return 0, 0
		}
		exp += e
	}
	if n == 0 {
		return sign, i
	}
	bits, ok := p.nearest(n, exp)
	if !ok {
		if bits, ok = exact(n, exp); !ok {
			return 0, 0
		}
	}
	return sign | bits, i
}

// exact returns the bits of n·10^exp where both n and the power are float64, so that one
// operation rounds once (Clinger, 1990). Many that nearest takes for a tie, as 12.5, are.
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

// exactTens holds the powers of ten that are float64.
var exactTens = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// exponent returns the exponent of at most four digits at b[i], and where it ends; 0
// where there is none.
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

// whole returns the int64 at b[i] and where it ends; 0 where there is none of at most 18
// digits.
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

// The powers of ten for which a number of up to 19 digits can be a normal float64.
const (
	minPower = -330
	maxPower = 308
)

// powers holds the first 128 bits of each power of ten, cut, not rounded.
type powers [maxPower - minPower + 1]struct{ hi, lo uint64 }

// allPowers is computed once, in a fraction of a millisecond.
var allPowers = sync.OnceValue(func() *powers {
	var t powers
	five, one := big.NewInt(5), big.NewInt(1)
	for e := range t {
		exp := int64(e + minPower)
		p := new(big.Int)
		if exp >= 0 {
			p.Exp(five, big.NewInt(exp), nil)
			p.Lsh(p, 512)
		} else {
			p.Exp(five, big.NewInt(-exp), nil)
			p.Div(new(big.Int).Lsh(one, 1024), p) // has 258 bits or more
		}
		p.Rsh(p, uint(p.BitLen()-128))
		t[e].lo = p.Uint64()
		t[e].hi = p.Rsh(p, 64).Uint64()
	}
	return &t
})

// nearest returns the bits of the float64 nearest to n·10^exp, n > 0, and whether it
// could tell.
//
// With the power cut to 64 bits, the true product lies between hi·2⁶⁴+lo and w more than
// that. The float64 has the first 54 bits of it, one to round by. The other bits matter
// only where they are all ones, and what is missing might carry over them: then the next
// 64 bits of the power count too; or where they are all zeros, which may be a tie.
func (p *powers) nearest(n uint64, exp int) (float uint64, ok bool) {
	if uint(exp-minPower) >= uint(len(p)) {
		return 0, false
	}
	power := &p[exp-minPower]
	shift := bits.LeadingZeros64(n)
	w := n << shift
	hi, lo := bits.Mul64(w, power.hi)
	if hi&0x1FF == 0x1FF && lo+w < lo {
		more, rest := bits.Mul64(w, power.lo)
		var carry uint64
		lo, carry = bits.Add64(lo, more, 0)
		hi += carry
		if hi&0x1FF == 0x1FF && lo == math.MaxUint64 && rest+w < rest {
			return 0, false
		}
	}
	top := hi >> 63
	mantissa := hi >> (top + 9)
	if lo == 0 && hi&0x1FF == 0 && mantissa&3 == 1 {
		return 0, false
	}
	// 217706/2¹⁶ is log2(10), close enough for all exponents here.
	e := (217706*exp)>>16 + 1023 + 63 - shift + int(top)
	mantissa = (mantissa + mantissa&1) >> 1
	if mantissa>>53 != 0 {
		mantissa >>= 1
		e++
	}
	if uint(e-1) >= 0x7FE {
		return 0, false // subnormal, or infinite
	}
	return uint64(e)<<52 | mantissa&(1<<52-1), true
}
