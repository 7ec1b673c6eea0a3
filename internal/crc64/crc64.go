// Package crc64 joins checksums of CRC-64/NVME, which github.com/minio/crc64nvme computes.
package crc64

// nvme is the polynomial of CRC-64/NVME, its highest coefficient in bit 0.
const nvme = 0x9a6c9329ac4bc9b5

// Join returns the CRC-64/NVME of two runs of bytes, one after the other, from the CRCs of each: the
// first is multiplied by x to the power of the bits of the second, of n bytes.
func Join(first, second uint64, n int64) uint64 {
	power := uint64(1) << 62 // x, of the polynomials modulo nvme; bit 63 is 1
	factor := uint64(1) << 63
	for bits := uint64(n) * 8; bits > 0; bits >>= 1 {
		if bits&1 == 1 {
			factor = multiply(factor, power)
		}
		power = multiply(power, power)
	}
	return multiply(first, factor) ^ second
}

// multiply multiplies two polynomials modulo nvme.
func multiply(a, b uint64) (product uint64) {
	for bit := uint64(1) << 63; bit > 0; bit >>= 1 {
		if a&bit != 0 {
			product ^= b
		}
		if carry := b & 1; carry == 1 {
			b = b>>1 ^ nvme
		} else {
			b >>= 1
		}
	}
	return product
}
