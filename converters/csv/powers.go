package csv

import (
	"math"
	"math/big"
	"math/bits"
	"sync"
)

// The range of powers of ten by which a number of up to 19 digits can be a normal float64.
const (
	minPower = -330
	maxPower = 308
)

// powers has the first 128 bits of each power of ten, truncated.
type powers [maxPower - minPower + 1]struct{ hi, lo uint64 }

// allPowers returns the table, which takes a fraction of a millisecond to compute.
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

// nearest returns the bits of the float64 nearest to n·10^exp. It returns false if it cannot determine
// it, and for n = 0.
//
// With the power truncated to 64 bits, the true product is between hi·2⁶⁴+lo and hi·2⁶⁴+lo+w. The
// float64 needs its first 54 bits, the last of them for rounding. The other bits matter only if they
// are all ones, because the truncated part might carry into the first 54: then the next 64 bits of the
// power are used too. If they are all zeros, the number may be a tie.
func (p *powers) nearest(n uint64, exp int) (float uint64, ok bool) {
	if n == 0 || uint(exp-minPower) >= uint(len(p)) {
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
