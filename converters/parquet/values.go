package parquet

import (
	"encoding/binary"
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
)

// Encodings of values.
const (
	encodingPlain           = 0
	encodingPlainDictionary = 2
	encodingRLE             = 3
	encodingBitPacked       = 4
	encodingDelta           = 5
	encodingDeltaLength     = 6
	encodingDeltaBytes      = 7
	encodingDictionary      = 8
	encodingSplit           = 9
)

// newDecoder returns a function that decodes the next one of b, the byte strings of a page, without nulls. The bytes of a
// value are valid until the next call.
func newDecoder(l *leaf, encoding int32, b []byte, dictionary *dictionary) (func(*datum) error, error) {
	width := l.width()
	switch {
	case encoding == encodingPlain && l.physical == typeBytes:
		return func(d *datum) error {
			if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
				return errShort
			}
			n := 4 + binary.LittleEndian.Uint32(b)
			d.set(b[4:n:n])
			b = b[n:]
			return nil
		}, nil
	case encoding == encodingPlain:
		return func(d *datum) error {
			if len(b) < width {
				return errShort
			}
			d.set(b[:width:width])
			b = b[width:]
			return nil
		}, nil
	case encoding == encodingDictionary || encoding == encodingPlainDictionary:
		indexes, err := newIndexes(b, dictionary)
		return func(d *datum) error {
			var i [1]uint32
			if _, err := indexes.read(i[:]); err != nil {
				return err
			}
			return dictionary.get(i[0], d)
		}, err
	case encoding == encodingDeltaLength && l.physical == typeBytes:
		return newLengths(b)
	case encoding == encodingDeltaBytes && l.physical != typeInt96:
		return newPrefixes(b, l)
	case encoding == encodingSplit && width > 0:
		at, value := 0, make([]byte, width)
		return func(d *datum) error {
			if at >= len(b)/width {
				return errShort
			}
			for k := range value { // the first byte of all values, then the second byte of all, and so on
				value[k] = b[k*(len(b)/width)+at]
			}
			at++
			d.set(value)
			return nil
		}, nil
	}
	return nil, fmt.Errorf("%w: encoding %d of values of type %d", converters.ErrUnsupported, encoding, l.physical)
}

// newIndexes returns the indexes into a dictionary that a page has.
func newIndexes(b []byte, dictionary *dictionary) (runs, error) {
	switch {
	case dictionary == nil:
		return runs{}, fmt.Errorf("%w: no dictionary page before it", converters.ErrMalformed)
	case len(b) == 0:
		return runs{}, nil // all values are null
	case b[0] > 32:
		return runs{}, fmt.Errorf("%w: indexes of %d bits", converters.ErrMalformed, b[0])
	}
	return runs{b: b[1:], width: int(b[0])}, nil
}

// width returns the size of a plain value in bytes, 0 if it varies.
func (l *leaf) width() int {
	switch l.physical {
	case typeInt32, typeFloat:
		return 4
	case typeInt64, typeDouble:
		return 8
	case typeInt96:
		return 12
	case typeFixed:
		return l.length
	}
	return 0
}

// set sets d to b.
func (d *datum) set(b []byte) { d.data, d.size = b, int64(len(b)) }

// newLengths decodes byte strings that are all preceded by all their lengths.
func newLengths(b []byte) (func(*datum) error, error) {
	sizes, err := newDeltas(b)
	if err != nil {
		return nil, err
	}
	data, sum, err := sizes.pass()
	if err != nil {
		return nil, err
	}
	if sum > int64(len(data)) {
		return nil, errShort
	}
	return func(d *datum) error {
		n, err := sizes.next()
		if err != nil {
			return err
		}
		if n > uint64(len(data)) {
			return errShort
		}
		d.set(data[:n:n])
		data = data[n:]
		return nil
	}, nil
}

// newPrefixes decodes byte strings that share a prefix with the previous one: the lengths of the prefixes, then the
// suffixes as newLengths has them.
func newPrefixes(b []byte, l *leaf) (func(*datum) error, error) {
	sizes, err := newDeltas(b)
	if err != nil {
		return nil, err
	}
	rest, _, err := sizes.pass()
	if err != nil {
		return nil, err
	}
	suffix, err := newLengths(rest)
	var value []byte
	return func(d *datum) error {
		n, err := sizes.next()
		if err != nil {
			return err
		}
		if n > uint64(len(value)) {
			return errDelta
		}
		if err := suffix(d); err != nil {
			return err
		}
		value = append(value[:n], d.data...)
		if l.physical == typeFixed && len(value) != l.length {
			return errDelta
		}
		d.set(value[:len(value):len(value)])
		return nil
	}, err
}
