package store

// nvmePolynomial is the polynomial of CRC-64/NVME, its highest coefficient in bit 0.
const nvmePolynomial = 0x9a6c9329ac4bc9b5

// joinCRC64 returns the CRC-64/NVME of two runs of bytes, one after the other, from the CRCs of each: the
// first is multiplied by x to the power of the bits of the second, of n bytes.
func joinCRC64(first, second uint64, n int64) uint64 {
	power := uint64(1) << 62 // x, of the polynomials modulo nvmePolynomial; bit 63 is 1
	factor := uint64(1) << 63
	for bits := uint64(n) * 8; bits > 0; bits >>= 1 {
		if bits&1 == 1 {
			factor = multiplyCRC64(factor, power)
		}
		power = multiplyCRC64(power, power)
	}
	return multiplyCRC64(first, factor) ^ second
}

// multiplyCRC64 multiplies two polynomials modulo nvmePolynomial.
func multiplyCRC64(a, b uint64) (product uint64) {
	for bit := uint64(1) << 63; bit > 0; bit >>= 1 {
		if a&bit != 0 {
			product ^= b
		}
		if carry := b & 1; carry == 1 {
			b = b>>1 ^ nvmePolynomial
		} else {
			b >>= 1
		}
	}
	return product
}
