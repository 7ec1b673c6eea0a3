package parquet

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

var errShort = errors.New("its values end early")

// A runs decodes the hybrid of run lengths and packed bits, for integers of a width up to 32 bits:
//
//	run      uvarint 2n      one number of ⌈width/8⌉ bytes, n times
//	packed   uvarint 2n+1    8n numbers of width bits each, least significant bits first
type runs struct {
	b     []byte
	width int
	left  int    // remaining numbers of this run
	value uint32 // the number of a repeated run
	bits  []byte // remaining packed numbers, nil for a repeated run
	at    int    // offset in bits of the next number
}

// newRuns returns a decoder of numbers of a width.
func newRuns(b []byte, width int) runs { return runs{b: b, width: width} }

// levelWidth returns the width of levels from 0 to most.
func levelWidth(most int) int { return bits.Len(uint(most)) }

func (r *runs) next() (uint32, error) {
	if r.left == 0 {
		if err := r.begin(); err != nil {
			return 0, err
		}
	}
	r.left--
	if r.bits == nil {
		return r.value, nil
	}
	from := r.at
	r.at += r.width
	if r.at > 8*len(r.bits) {
		return 0, errShort
	}
	return unpack(r.bits, from, r.width), nil
}

// begin starts the next run that is not empty.
func (r *runs) begin() error {
	if r.width == 0 {
		r.left, r.value = 1, 0 // width 0 encodes only the number 0
		return nil
	}
	for r.left == 0 {
		head, n := binary.Uvarint(r.b)
		if n <= 0 {
			return errShort
		}
		r.b = r.b[n:]
		count := head >> 1
		if count > 1<<40 {
			return errors.New("a run of too many values")
		}
		if head&1 == 0 {
			size := (r.width + 7) / 8
			if len(r.b) < size {
				return errShort
			}
			var v [4]byte
			copy(v[:], r.b[:size])
			r.left, r.value, r.bits = int(count), binary.LittleEndian.Uint32(v[:]), nil
			r.b = r.b[size:]
			continue
		}
		// The last packed numbers of a page may lack their padding.
		size := min(int(count)*r.width, len(r.b))
		r.left, r.bits, r.at = 8*int(count), r.b[:size:size], 0
		r.b = r.b[size:]
	}
	return nil
}

// unpack returns the number of width bits at bit offset from, all of which are in b.
func unpack(b []byte, from, width int) uint32 {
	at := from / 8
	var v uint64
	if at+8 <= len(b) {
		v = binary.LittleEndian.Uint64(b[at:])
	} else {
		for i := len(b) - 1; i >= at; i-- {
			v = v<<8 | uint64(b[i])
		}
	}
	return uint32(v >> (from % 8) & (1<<width - 1))
}
