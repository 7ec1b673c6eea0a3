package parquet

import (
	"encoding/binary"
	"errors"
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

// read decodes the next numbers. With an error it returns how many it decoded before.
func (r *runs) read(to []uint32) (n int, err error) {
	for n < len(to) {
		if r.left == 0 {
			if err := r.begin(); err != nil {
				return n, err
			}
		}
		some := to[n:min(len(to), n+r.left)]
		if r.bits != nil {
			some = some[:min(len(some), (8*len(r.bits)-r.at)/r.width)]
		}
		switch {
		case len(some) == 0:
			return n, errShort
		case r.bits == nil:
			for i := range some {
				some[i] = r.value
			}
		default:
			for i := range some {
				some[i] = uint32(unpack(r.bits, r.at, r.width))
				r.at += r.width
			}
		}
		r.left -= len(some)
		n += len(some)
	}
	return n, nil
}

// begin starts the next run that is not empty.
func (r *runs) begin() error {
	if r.width == 0 {
		r.left, r.value = 1<<40, 0 // width 0 encodes only the number 0
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

// unpack returns the number of width bits, at most 64, at bit offset from, all of which are in b.
func unpack(b []byte, from, width int) (v uint64) {
	if at := from / 8; at+9 <= len(b) {
		v = binary.LittleEndian.Uint64(b[at:])>>(from%8) | uint64(b[at+8])<<(64-from%8)
		return v & (1<<width - 1)
	}
	for have := 0; have < width; {
		at := from + have
		n := min(8-at%8, width-have)
		v |= uint64(b[at/8]>>(at%8)&(1<<n-1)) << have
		have += n
	}
	return v
}
