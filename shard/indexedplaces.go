package shard

import (
	"encoding/binary"
	"errors"
	"math"
)

// The places of a part in an index file are, of each sample, two varints: how far the next sample
// starts beyond this one, in units (of the last sample, 0), and what it costs less that distance, zigzag. A unit
// is what all distances are multiples of, 512 bytes in a tar. So most samples take two to four bytes.

// packedPlaces is how many samples a line has at most.
const packedPlaces = 1 << 18

// unit is what all distances between samples are multiples of; 1 where there are none.
func (p *places) unit() int64 {
	u, before := int64(0), int64(0)
	for i := range p.n {
		off, _ := p.at(i)
		if i > 0 {
			for a := off - before; a != 0; {
				u, a = a, u%a
			}
		}
		before = off
	}
	return max(1, u)
}

// pack appends samples first to last (exclusive).
func (p *places) pack(b []byte, first, last int, unit int64) []byte {
	off, _ := p.at(first)
	for i, cost := range p.costs(first, last) {
		next := off
		if i+1 < p.n {
			next, _ = p.at(i + 1)
		}
		b = binary.AppendUvarint(b, uint64((next-off)/unit))
		b = binary.AppendVarint(b, cost-(next-off))
		off = next
	}
	return b
}

var errPlaces = errors.New("its places are none of its part")

// unpack adds the samples that b holds, of which the first starts at off; size and samples are
// those of the whole part. It returns where the sample behind them starts. What is added lies
// inside the part, in order.
func (p *PartIndex) unpack(b []byte, off, unit int64) (next int64, err error) {
	if unit < 1 || off < 0 || off > p.Size {
		return 0, errPlaces
	}
	for len(b) > 0 {
		units, n := binary.Uvarint(b)
		if n <= 0 || units > uint64((p.Size-off)/unit) {
			return 0, errPlaces
		}
		b = b[n:]
		more, n := binary.Varint(b)
		if n <= 0 {
			return 0, errPlaces
		}
		b = b[n:]
		gap := int64(units) * unit
		if more > math.MaxInt64-gap {
			return 0, errPlaces
		}
		cost := gap + more
		if cost < 0 || cost > 0 && cost < tableRow || cost > math.MaxInt64-p.cost || int64(p.n) >= p.Account.Samples {
			return 0, errPlaces
		}
		size := cost - tableRow
		if cost == 0 {
			size = -1
		}
		p.add(off, size)
		off += gap
	}
	return off, nil
}
