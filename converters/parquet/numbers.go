package parquet

import (
	"encoding/binary"
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
)

// newNumbers returns a function that decodes the next ones of b, the numbers of a page, without nulls: to two's complement
// of 64 bits, or to the bits of a float of the leaf's size. With an error it returns how many it decoded before. It
// decodes at most batchValues.
func newNumbers(l *leaf, encoding int32, b []byte, dictionary *dictionary) (func(to []uint64) (int, error), error) {
	width := l.width()
	switch {
	case encoding == encodingPlain && l.physical == typeBool:
		at := 0
		return func(to []uint64) (int, error) {
			n := min(len(to), 8*len(b)-at)
			for i := range n {
				to[i] = uint64(b[at/8] >> (at % 8) & 1)
				at++
			}
			return n, short(n, to)
		}, nil
	case encoding == encodingPlain:
		return func(to []uint64) (int, error) {
			n := min(len(to), len(b)/width)
			plain(to[:n], b, width)
			b = b[n*width:]
			return n, short(n, to)
		}, nil
	case encoding == encodingDictionary || encoding == encodingPlainDictionary:
		indexes, err := newIndexes(b, dictionary)
		return func(to []uint64) (int, error) {
			var at [batchValues]uint32
			n, err := indexes.read(at[:len(to)])
			for i := range n {
				if err := dictionary.check(at[i]); err != nil {
					return i, err
				}
				plain(to[i:i+1], dictionary.plain[int(at[i])*width:], width)
			}
			return n, err
		}, err
	case encoding == encodingRLE && l.physical == typeBool:
		if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
			return nil, errShort
		}
		bits := runs{b: b[4 : 4+binary.LittleEndian.Uint32(b)], width: 1}
		return func(to []uint64) (int, error) {
			var all [batchValues]uint32
			n, err := bits.read(all[:len(to)])
			for i := range n {
				to[i] = uint64(all[i])
			}
			return n, err
		}, nil
	case encoding == encodingDelta && (l.physical == typeInt32 || l.physical == typeInt64):
		d, err := newDeltas(b)
		return func(to []uint64) (int, error) {
			for i := range to {
				v, err := d.next()
				if err != nil {
					return i, err
				}
				if to[i] = v; width == 4 {
					to[i] = uint64(int64(int32(v)))
				}
			}
			return len(to), nil
		}, err
	case encoding == encodingSplit && l.physical != typeBool:
		next, err := newDecoder(l, encoding, b, nil)
		return func(to []uint64) (int, error) {
			var d datum
			for i := range to {
				if err := next(&d); err != nil {
					return i, err
				}
				plain(to[i:i+1], d.data, width)
			}
			return len(to), nil
		}, err
	}
	return nil, fmt.Errorf("%w: encoding %d of values of type %d", converters.ErrUnsupported, encoding, l.physical)
}

// short returns errShort if n numbers are fewer than to has.
func short(n int, to []uint64) error {
	if n < len(to) {
		return errShort
	}
	return nil
}

// plain decodes numbers of 4 or 8 bytes.
func plain(to []uint64, b []byte, width int) {
	if b = b[:len(to)*width]; width == 4 {
		for i := range to {
			to[i] = uint64(int64(int32(binary.LittleEndian.Uint32(b[4*i:]))))
		}
		return
	}
	for i := range to {
		to[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
}
