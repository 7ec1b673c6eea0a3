package parquet

import (
	"encoding/binary"
)

// A numbers decodes the values of a page that are numbers, without nulls, in order: to two's complement of 64 bits, or
// to the bits of a float of the leaf's size.
type numbers interface {
	// read decodes the next values. With an error it returns how many it decoded before.
	read(to []uint64) (int, error)
}

// newNumbers returns the decoder for b, the numbers of a page in memory.
func newNumbers(l *leaf, encoding int32, b []byte, dictionary *dictionary) (numbers, error) {
	switch {
	case encoding == encodingPlain && l.physical == typeBool:
		return &plainBits{b: b}, nil
	case encoding == encodingPlain:
		return &plainNumbers{b, l.width()}, nil
	case encoding == encodingDictionary || encoding == encodingPlainDictionary:
		r, err := newIndexes(b, dictionary)
		return &indexedNumbers{runs: r, of: dictionary}, err
	case encoding == encodingRLE && l.physical == typeBool:
		if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
			return nil, errShort
		}
		return &bools{newRuns(b[4:4+binary.LittleEndian.Uint32(b)], 1)}, nil
	case encoding == encodingDelta && (l.physical == typeInt32 || l.physical == typeInt64):
		d, err := newDeltas(b)
		return &differences{d, l.physical == typeInt32}, err
	case encoding == encodingSplit && l.physical != typeBool:
		return &splitNumbers{split{b: b, width: l.width(), count: len(b) / l.width()}}, nil
	}
	return nil, unsupported(l, encoding)
}

type plainNumbers struct {
	b     []byte
	width int
}

func (p *plainNumbers) read(to []uint64) (int, error) {
	n := min(len(to), len(p.b)/p.width)
	decodeNumbers(to[:n], p.b, p.width)
	p.b = p.b[n*p.width:]
	if n < len(to) {
		return n, errShort
	}
	return n, nil
}

// decodeNumbers decodes numbers of 4 or 8 bytes.
func decodeNumbers(to []uint64, b []byte, width int) {
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

type plainBits struct {
	b  []byte
	at int
}

func (p *plainBits) read(to []uint64) (int, error) {
	for i := range to {
		if p.at >= 8*len(p.b) {
			return i, errShort
		}
		to[i] = uint64(p.b[p.at/8] >> (p.at % 8) & 1)
		p.at++
	}
	return len(to), nil
}

// indexedNumbers are numbers of a dictionary.
type indexedNumbers struct {
	runs
	of      *dictionary
	indexes [batchValues]uint32
}

func (x *indexedNumbers) read(to []uint64) (int, error) {
	n, err := x.runs.read(x.indexes[:len(to)])
	w := x.of.width
	for i, at := range x.indexes[:n] {
		if err := x.of.check(at); err != nil {
			return i, err
		}
		decodeNumbers(to[i:i+1], x.of.plain[int(at)*w:], w)
	}
	return n, err
}

type bools struct{ runs }

func (x *bools) read(to []uint64) (int, error) {
	var all [batchValues]uint32
	n, err := x.runs.read(all[:len(to)])
	for i, v := range all[:n] {
		to[i] = uint64(v)
	}
	return n, err
}

// differences are delta-encoded integers.
type differences struct {
	deltas
	short bool // 32 bits
}

func (x *differences) read(to []uint64) (int, error) {
	for i := range to {
		v, err := x.next()
		if err != nil {
			return i, err
		}
		if to[i] = v; x.short {
			to[i] = uint64(int64(int32(v)))
		}
	}
	return len(to), nil
}

type splitNumbers struct{ split }

func (x *splitNumbers) read(to []uint64) (int, error) {
	var d datum
	for i := range to {
		if err := x.next(&d); err != nil {
			return i, err
		}
		decodeNumbers(to[i:i+1], d.data, x.width)
	}
	return len(to), nil
}
