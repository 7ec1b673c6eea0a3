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

// A decoder decodes the values of a page, without nulls, in order. The bytes of a value are valid until the next call.
type decoder interface {
	next(d *datum) error
}

// newDecoder returns the decoder for b, the values of a page in memory.
func newDecoder(l *leaf, encoding int32, b []byte, dictionary *dictionary) (decoder, error) {
	number := l.physical == typeInt32 || l.physical == typeInt64
	switch {
	case encoding == encodingPlain && l.physical == typeBytes:
		return &plainBytes{b}, nil
	case encoding == encodingPlain && l.physical == typeBool:
		return &plainBits{b: b}, nil
	case encoding == encodingPlain:
		return &plain{b, l.width(), l.numeric()}, nil
	case encoding == encodingDictionary || encoding == encodingPlainDictionary:
		switch {
		case dictionary == nil:
			return nil, fmt.Errorf("%w: no dictionary page before it", converters.ErrMalformed)
		case len(b) == 0:
			return &indexes{of: dictionary}, nil // all values are null
		case b[0] > 32:
			return nil, fmt.Errorf("%w: indexes of %d bits", converters.ErrMalformed, b[0])
		}
		return &indexes{newRuns(b[1:], int(b[0])), dictionary}, nil
	case encoding == encodingRLE && l.physical == typeBool:
		if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
			return nil, errShort
		}
		return &bools{newRuns(b[4:4+binary.LittleEndian.Uint32(b)], 1)}, nil
	case encoding == encodingDelta && number:
		d, err := newDeltas(b)
		return &numbers{d, l.physical == typeInt32}, err
	case encoding == encodingDeltaLength && l.physical == typeBytes:
		return newLengths(b)
	case encoding == encodingDeltaBytes && (l.physical == typeBytes || l.physical == typeFixed):
		return newPrefixes(b, l)
	case encoding == encodingSplit && l.width() > 0:
		return &split{b: b, width: l.width(), count: len(b) / l.width(), number: l.numeric()}, nil
	}
	return nil, fmt.Errorf("%w: encoding %d of values of type %d", converters.ErrUnsupported, encoding, l.physical)
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

// numeric reports whether a plain value with a width is a number.
func (l *leaf) numeric() bool { return l.physical != typeInt96 && l.physical != typeFixed }

// set sets d to the value of b.
func (d *datum) set(b []byte, number bool) {
	switch {
	case !number:
		d.data, d.size = b, int64(len(b))
	case len(b) == 4:
		d.num = uint64(int64(int32(binary.LittleEndian.Uint32(b))))
	default:
		d.num = binary.LittleEndian.Uint64(b)
	}
}

type plain struct {
	b      []byte
	width  int
	number bool
}

func (p *plain) next(d *datum) error {
	if len(p.b) < p.width {
		return errShort
	}
	d.set(p.b[:p.width:p.width], p.number)
	p.b = p.b[p.width:]
	return nil
}

type plainBits struct {
	b  []byte
	at int
}

func (p *plainBits) next(d *datum) error {
	if p.at >= 8*len(p.b) {
		return errShort
	}
	d.num = uint64(p.b[p.at/8] >> (p.at % 8) & 1)
	p.at++
	return nil
}

// plainBytes are byte strings, each preceded by its length in 4 bytes.
type plainBytes struct{ b []byte }

func (p *plainBytes) next(d *datum) error {
	if len(p.b) < 4 {
		return errShort
	}
	n := binary.LittleEndian.Uint32(p.b)
	if uint64(n) > uint64(len(p.b)-4) {
		return errShort
	}
	d.set(p.b[4:4+n:4+n], false)
	p.b = p.b[4+n:]
	return nil
}

type indexes struct {
	runs
	of *dictionary
}

func (x *indexes) next(d *datum) error {
	i, err := x.runs.next()
	if err != nil {
		return err
	}
	if uint64(i) >= uint64(x.of.count) {
		return fmt.Errorf("index %d into a dictionary of %d values", i, x.of.count)
	}
	x.of.get(int(i), d)
	return nil
}

type bools struct{ runs }

func (x *bools) next(d *datum) error {
	v, err := x.runs.next()
	d.num = uint64(v)
	return err
}

// numbers are delta-encoded integers.
type numbers struct {
	deltas
	short bool // 32 bits
}

func (x *numbers) next(d *datum) error {
	v, err := x.deltas.next()
	if d.num = v; x.short {
		d.num = uint64(int64(int32(v)))
	}
	return err
}

// lengths are byte strings, all preceded by all their lengths.
type lengths struct {
	sizes deltas
	data  []byte
}

func newLengths(b []byte) (*lengths, error) {
	d, err := newDeltas(b)
	if err != nil {
		return nil, err
	}
	rest, sum, err := d.pass()
	if err != nil {
		return nil, err
	}
	if sum > int64(len(rest)) {
		return nil, errShort
	}
	return &lengths{d, rest}, nil
}

func (x *lengths) next(d *datum) error {
	n, err := x.sizes.next()
	if err != nil {
		return err
	}
	if n > uint64(len(x.data)) {
		return errShort
	}
	d.set(x.data[:n:n], false)
	x.data = x.data[n:]
	return nil
}

// prefixes are byte strings that share a prefix with the previous one: the lengths of the prefixes, then the suffixes
// as lengths.
type prefixes struct {
	sizes deltas
	rests *lengths
	value []byte
	fixed int // size of each value; −1: any
}

func newPrefixes(b []byte, l *leaf) (*prefixes, error) {
	d, err := newDeltas(b)
	if err != nil {
		return nil, err
	}
	rest, _, err := d.pass()
	if err != nil {
		return nil, err
	}
	rests, err := newLengths(rest)
	fixed := -1
	if l.physical == typeFixed {
		fixed = l.length
	}
	return &prefixes{d, rests, nil, fixed}, err
}

func (x *prefixes) next(d *datum) error {
	n, err := x.sizes.next()
	if err != nil {
		return err
	}
	if n > uint64(len(x.value)) {
		return errDelta
	}
	if err := x.rests.next(d); err != nil {
		return err
	}
	x.value = append(x.value[:n], d.data...)
	if x.fixed >= 0 && len(x.value) != x.fixed {
		return errDelta
	}
	d.set(x.value[:len(x.value):len(x.value)], false)
	return nil
}

// split has the first byte of all values, then the second byte of all, and so on.
type split struct {
	b            []byte
	width, count int
	at           int
	number       bool
	value        []byte
}

func (x *split) next(d *datum) error {
	if x.at >= x.count {
		return errShort
	}
	x.value = x.value[:0]
	for i := range x.width {
		x.value = append(x.value, x.b[i*x.count+x.at])
	}
	x.at++
	d.set(x.value[:x.width:x.width], x.number)
	return nil
}
