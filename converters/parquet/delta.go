package parquet

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
)

var errDelta = errors.New("its differences are not valid")

// A deltas decodes DELTA_BINARY_PACKED, integers encoded as differences:
//
//	head    uvarints: numbers per block, parts per block, total of numbers; zigzag: the first number
//	block   zigzag: least difference; one byte per part: its width; the parts, packed bits
type deltas struct {
	b      []byte // undecoded bytes
	part   int    // numbers per part
	parts  int    // parts per block
	left   int    // remaining numbers
	value  uint64 // the next number
	least  uint64
	widths []byte // of the remaining parts of this block
	bits   []byte // of this part
	width  int    // of its numbers, bits
	at     int    // offset in bits
	inPart int    // remaining numbers of this part
}

func newDeltas(b []byte) (deltas, error) {
	d := deltas{b: b}
	block, parts, all := d.uvarint(), d.uvarint(), d.uvarint()
	first, n := binary.Varint(d.b)
	if d.b == nil || n <= 0 || block == 0 || block > 1<<20 || parts == 0 || parts > block || block%parts != 0 || block/parts%8 != 0 || all > math.MaxInt32 {
		return d, errDelta
	}
	d.b = d.b[n:]
	d.part, d.parts, d.left, d.value = int(block/parts), int(parts), int(all), uint64(first)
	return d, nil
}

// uvarint decodes a number. If it is malformed, uvarint drops all bytes.
func (d *deltas) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.b = nil
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *deltas) next() (uint64, error) {
	if d.left == 0 {
		return 0, errShort
	}
	v := d.value
	if d.left--; d.left == 0 {
		return v, nil
	}
	if d.inPart == 0 {
		if err := d.begin(); err != nil {
			return 0, err
		}
	}
	d.inPart--
	d.value += d.least + unpack(d.bits, d.at, d.width)
	d.at += d.width
	return v, nil
}

// begin starts the next part.
func (d *deltas) begin() error {
	if len(d.widths) == 0 {
		least, n := binary.Varint(d.b)
		if n <= 0 || len(d.b)-n < d.parts {
			return errShort
		}
		d.b = d.b[n:]
		d.least, d.widths, d.b = uint64(least), d.b[:d.parts:d.parts], d.b[d.parts:]
	}
	d.width, d.widths = int(d.widths[0]), d.widths[1:]
	size := d.part / 8 * d.width
	if d.width > 64 {
		return errDelta
	}
	if len(d.b) < size {
		return errShort
	}
	d.bits, d.b, d.at, d.inPart = d.b[:size:size], d.b[size:], 0, d.part
	return nil
}

// pass decodes all numbers. It returns their sum and the bytes that follow.
func (d deltas) pass() (rest []byte, sum int64, err error) {
	for d.left > 0 {
		v, err := d.next()
		if err != nil {
			return nil, 0, err
		}
		n := int64(v)
		if n < 0 || n > math.MaxInt32 || bits.Len64(uint64(sum)) > 48 {
			return nil, 0, errDelta
		}
		sum += n
	}
	return d.b, sum, nil
}
