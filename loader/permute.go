package loader

import "math/bits"

// golden is the increment of SplitMix64.
const golden = 0x9e3779b97f4a7c15

// rounds and minBits are the smallest values that pass a chi-square test of 20 million draws for every small n: see
// docs/order.md.
const (
	rounds  = 8
	minBits = 8
)

// mix is the finalizer of SplitMix64.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func keyOf(seed, epoch, stream, n uint64) uint64 {
	k := mix(seed + golden)
	k = mix((k ^ epoch) + golden)
	k = mix((k ^ stream) + golden)
	return mix((k ^ n) + golden)
}

// A permutation is a permutation of [0, n), as a Feistel network.
type permutation struct {
	n         uint64
	low, high int // bits of the two halves
	keys      [rounds]uint64
}

func newPermutation(key, n uint64) permutation {
	width := minBits
	if n > 1 {
		width = max(width, bits.Len64(n-1))
	}
	p := permutation{n: n, low: width / 2, high: width - width/2}
	for r := range p.keys {
		p.keys[r] = mix(key + uint64(r+1)*golden)
	}
	return p
}

// at returns the image of x.
func (p *permutation) at(x uint64) uint64 {
	for {
		a, b := p.low, p.high
		for _, k := range p.keys {
			hi := x >> a
			lo := x&(1<<a-1) ^ mix(hi+k)>>(64-a)
			x = lo<<b | hi
			a, b = b, a
		}
		if x < p.n {
			return x
		}
	}
}
