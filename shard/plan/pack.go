package plan

import (
	"encoding/binary"
	"errors"
	"math"
)

// In an index file each sample of a part is two varints: the distance to the start of the next sample, in units
// (0 for the last sample), and the cost less that distance, zigzag. The unit divides all distances:
// 512 bytes in a tar. So most samples take two to four bytes.

// PackedPlaces is the largest number of samples in a line.
const PackedPlaces = 1 << 18

// Unit returns a number that divides all distances between samples; 1 if there are none.
func (p *places) Unit() int64 {
	u, before := int64(0), int64(0)
	for i := range p.N {
		off, _ := p.At(i)
		if i > 0 {
			for a := off - before; a != 0; {
				u, a = a, u%a
			}
		}
		before = off
	}
	return max(1, u)
}

// Pack appends samples first to last (exclusive) to b.
func (p *places) Pack(b []byte, first, last int, unit int64) []byte {
	off, _ := p.At(first)
	for i, cost := range p.Costs(first, last) {
		next := off
		if i+1 < p.N {
			next, _ = p.At(i + 1)
		}
		b = binary.AppendUvarint(b, uint64((next-off)/unit))
		b = binary.AppendVarint(b, cost-(next-off))
		off = next
	}
	return b
}

// ErrPlaces reports packed samples that are outside their part, more than it has, or damaged.
var ErrPlaces = errors.New("its places are none of its part")

// Unpack adds the samples in b. The first starts at off; size and samples of p are those of the whole part. It returns
// the start of the sample after them. All added samples lie inside the part, in order.
func (p *PartIndex) Unpack(b []byte, off, unit int64) (next int64, err error) {
	if unit < 1 || off < 0 || off > p.Size {
		return 0, ErrPlaces
	}
	for len(b) > 0 {
		units, n := binary.Uvarint(b)
		if n <= 0 || units > uint64((p.Size-off)/unit) {
			return 0, ErrPlaces
		}
		b = b[n:]
		more, n := binary.Varint(b)
		if n <= 0 {
			return 0, ErrPlaces
		}
		b = b[n:]
		gap := int64(units) * unit
		if more > math.MaxInt64-gap {
			return 0, ErrPlaces
		}
		cost := gap + more
		if cost < 0 || cost > 0 && cost < TableRow || cost > math.MaxInt64-p.Cost || int64(p.N) >= p.Account.Samples {
			return 0, ErrPlaces
		}
		size := cost - TableRow
		if cost == 0 {
			size = -1
		}
		p.Add(off, size)
		off += gap
	}
	return off, nil
}
