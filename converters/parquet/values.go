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

// A decoder decodes the values of a page that are byte strings, without nulls, in order. The bytes of a value are valid
// until the next call.
type decoder interface {
	next(d *datum) error
}

// newDecoder returns the decoder for b, the byte strings of a page in memory.
func newDecoder(l *leaf, encoding int32, b []byte, dictionary *dictionary) (decoder, error) {
	switch {
	case encoding == encodingPlain && l.physical == typeBytes:
		return &plainBytes{b}, nil
	case encoding == encodingPlain:
		return &plain{b, l.width()}, nil
	case encoding == encodingDictionary || encoding == encodingPlainDictionary:
		r, err := newIndexes(b, dictionary)
		return &indexes{r, dictionary}, err
	case encoding == encodingDeltaLength && l.physical == typeBytes:
		return newLengths(b)
	case encoding == encodingDeltaBytes && l.physical != typeInt96:
		return newPrefixes(b, l)
	case encoding == encodingSplit && l.width() > 0:
		return &split{b: b, width: l.width(), count: len(b) / l.width()}, nil
	}
	return nil, unsupported(l, encoding)
}

func unsupported(l *leaf, encoding int32) error {
	return fmt.Errorf("%w: encoding %d of values of type %d", converters.ErrUnsupported, encoding, l.physical)
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
	return newRuns(b[1:], int(b[0])), nil
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

// plain are byte strings of one size.
type plain struct {
	b     []byte
	width int
}

func (p *plain) next(d *datum) error {
	if len(p.b) < p.width {
		return errShort
	}
	d.set(p.b[:p.width:p.width])
	p.b = p.b[p.width:]
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
	d.set(p.b[4 : 4+n : 4+n])
	p.b = p.b[4+n:]
	return nil
}

type indexes struct {
	runs
	of *dictionary
}

func (x *indexes) next(d *datum) error {
	var i [1]uint32
	if _, err := x.read(i[:]); err != nil {
		return err
	}
	if err := x.of.check(i[0]); err != nil {
		return err
	}
	x.of.get(int(i[0]), d)
	return nil
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
	d.set(x.data[:n:n])
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
	d.set(x.value[:len(x.value):len(x.value)])
	return nil
}

// split has the first byte of all values, then the second byte of all, and so on.
type split struct {
	b            []byte
	width, count int
	at           int
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
	d.set(x.value[:x.width:x.width])
	return nil
}
