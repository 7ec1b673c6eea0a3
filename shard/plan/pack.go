package plan

import (
	"encoding/binary"
	"errors"
	"math"
)

// The places of a part in an index file are, of each sample, two varints: how far the next sample
// starts beyond this one, in units (0 for the last sample), and the cost less that distance, zigzag. A unit
// is what all distances are multiples of, 512 bytes in a tar. So most samples take two to four bytes.

// packedPlaces is how many samples a line has at most.
const PackedPlaces = 1 << 18

// Unit is what all distances between samples are multiples of; 1 where there are none.
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

// Pack appends samples first to last (exclusive).
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

var ErrPlaces = errors.New("its places are none of its part")

// Unpack adds the samples that b holds, of which the first starts at off; size and samples are
// of the whole part. It returns where the sample behind them starts. All added samples lie
// inside the part, in order.
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
