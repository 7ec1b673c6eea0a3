package csv

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/ffconvert/ffconvert/converters"
)

// What is read ahead at the most: rows, and bytes of their numbers, which stay in the
// processor's first cache.
const (
	aheadRows  = 256
	aheadBytes = 16 << 10
)

// A numeric is the decoder of rows that are numbers of one kind. It collects them as a
// packed sample has them, and makes the other forms of that.
//
// Rows of plain numbers are read where they lie in the window, many at once, and told of
// one by one. The first one that is none ends them, and goes through the splitter.
//
//	data  │ of samples before │ of this sample │ of rows not yet told of │ free │
//	                          from
type numeric struct {
	*splitter
	schema *schema
	powers *powers
	kind   kind
	place  []int // of each column of a row among the kept ones; -1: not kept
	width  int   // of a number, bytes
	size   int   // of the numbers of a row, bytes
	most   int64 // rows of a sample
	limit  int64 // bytes of a sample, of which most comes

	check  bool    // the numbers are not wanted, only that they are numbers: data is not used
	left   int64   // rows that the caller may still ask for
	ends   []int   // of the rows that were read ahead, in the window
	told   int     // how many of them were told of
	offs   []int64 // what skipAhead returned last
	data   []byte
	from   int
	rows   int64 // of the sample
	shaped int64 // rows of the last shape
}

func newNumeric(s *splitter, schema *schema, limit int64) *numeric {
	n := &numeric{splitter: s, schema: schema, powers: allPowers(), limit: limit, place: make([]int, schema.columns)}
	if len(schema.kept) > 0 {
		n.kind = schema.kept[0].kind
	}
	n.width = n.kind.width()
	n.size = n.width * len(schema.kept)
	row := n.size
	if schema.form != Packed {
		row = len(schema.kept) * valueSize
	}
	n.most = limit / int64(max(row, 1))
	for i := range n.place {
		n.place[i] = -1
	}
	for i, c := range schema.kept {
		n.place[c.index] = i
	}
	return n
}

func (n *numeric) reset(left int64, check bool) {
	n.check = check && n.schema.form == Packed
	n.left, n.shaped = left, 0
	n.ends, n.told = n.ends[:0], 0
	n.data, n.from, n.rows = n.data[:0], 0, 0
}

// next takes the next row.
func (n *numeric) next() (step, error) {
	if n.told == len(n.ends) {
		if n.ahead(); len(n.ends) == 0 {
			return n.slow()
		}
	}
	n.tell()
	return n.took()
}

// tell makes the next of the rows that were read ahead the current one.
func (n *numeric) tell() {
	n.at = n.base + int64(n.pos)
	n.row++
	n.pos = n.ends[n.told]
	n.told++
}

// one makes a packed sample of the next row, where that was read ahead. It does for most
// rows what next and sample do, at less than half the cost.
func (n *numeric) one(s *converters.Sample) bool {
	if n.told == len(n.ends) || n.check {
		return false
	}
	n.tell()
	n.left--
	s.Off = n.at
	to := n.from + n.size
	s.Fields[0].Value = converters.Bytes(n.data[n.from:to])
	n.from = to
	return true
}

// skipAhead passes over the rows that were read ahead, and returns where they begin in the
// part, bytes. The offsets are valid until the next call.
func (n *numeric) skipAhead() []int64 {
	n.offs = n.offs[:0]
	from := n.pos
	for _, end := range n.ends[n.told:] {
		n.offs = append(n.offs, n.base+int64(from))
		from = end
	}
	n.pos, n.told = from, len(n.ends)
	n.row += int64(len(n.offs))
	n.left -= int64(len(n.offs))
	return n.offs
}

// ahead reads rows of plain numbers that are next in the window. All that were read before
// were told of.
func (n *numeric) ahead() {
	n.ends, n.told = n.ends[:0], 0
	if len(n.place) == 0 { // no part had a row when the source was opened
		return
	}
	rows := int(min(n.left, aheadRows, int64(max(1, aheadBytes/max(n.size, 1)))))
	b, i := n.buf[:n.end+pad], n.pos
	check := n.check && n.kind != int64s
	var dst []byte
	if !check {
		dst = n.room(rows)
	}
	ends := n.ends
	for len(ends) < rows {
		to := 0
		switch {
		case check:
			to = n.skipRow(b, i)
		case n.kind == float64s:
			to = n.floatRow(b, i, dst[len(ends)*n.size:])
		default:
			to = n.plainRow(b, i, dst[len(ends)*n.size:])
		}
		if to == 0 || int64(to-i) > n.maxRow {
			break
		}
		ends = append(ends, to)
		i = to
	}
	n.ends = ends
	if !n.check {
		n.data = n.data[:len(n.data)+len(ends)*n.size]
	}
}

// room returns where the numbers of the next rows go, behind those of the sample.
func (n *numeric) room(rows int) []byte {
	if n.from > 0 {
		n.data = append(n.data[:0], n.data[n.from:]...)
		n.from = 0
	}
	have := len(n.data)
	n.data = slices.Grow(n.data, rows*n.size)
	return n.data[have : have+rows*n.size]
}

// took counts a row.
func (n *numeric) took() (step, error) {
	n.left--
	n.rows++
	if n.rows > n.most {
		return 0, n.refuseSample(n.limit)
	}
	return stepRow, nil
}

// skipRow returns the end of the row of plain numbers at b[i], its line end included; 0
// where it is not such a row, or does not end in b. pad bytes that are zero are at the
// end of b: they end all that is looked for.
func (n *numeric) skipRow(b []byte, i int) int {
	for c, place := range n.place {
		if c > 0 {
			if b[i] != n.delimiter {
				return 0
			}
			i++
		}
		if place >= 0 {
			i = skipDecimal(b, i)
		} else {
			i = n.skipValue(b, i)
		}
		if i == 0 {
			return 0
		}
	}
	return rowEnd(b, i)
}

// plainRow is skipRow, and puts the numbers into dst.
func (n *numeric) plainRow(b []byte, i int, dst []byte) int {
	var bits uint64
	for c, place := range n.place {
		if c > 0 {
			if b[i] != n.delimiter {
				return 0
			}
			i++
		}
		switch {
		case place < 0:
			i = n.skipValue(b, i)
		case n.kind == int64s:
			if bits, i = whole(b, i); i > 0 {
				binary.LittleEndian.PutUint64(dst[8*place:8*place+8], bits)
			}
		default:
			if bits, i = n.powers.decimal(b, i); i > 0 {
				short, ok := narrow(bits)
				if !ok {
					return 0
				}
				binary.LittleEndian.PutUint32(dst[4*place:4*place+4], short)
			}
		}
		if i == 0 {
			return 0
		}
	}
	return rowEnd(b, i)
}

// floatRow is plainRow where the numbers are float64.
func (n *numeric) floatRow(b []byte, i int, dst []byte) int {
	for c, place := range n.place {
		if c > 0 {
			if b[i] != n.delimiter {
				return 0
			}
			i++
		}
		var bits uint64
		if place < 0 {
			i = n.skipValue(b, i)
		} else if bits, i = n.powers.decimal(b, i); i > 0 {
			binary.LittleEndian.PutUint64(dst[8*place:8*place+8], bits)
		}
		if i == 0 {
			return 0
		}
	}
	return rowEnd(b, i)
}

// skipValue returns the end of a value that is not kept and has no quote; 0 where it is
// none, or empty at the start of b.
func (n *numeric) skipValue(b []byte, i int) int {
	for !n.stop[b[i]] {
		i++
	}
	return i
}

// rowEnd returns where the line end at b[i] ends; 0 where there is none.
func rowEnd(b []byte, i int) int {
	if b[i] == '\n' {
		return i + 1
	}
	if b[i] == '\r' && b[i+1] == '\n' {
		return i + 2
	}
	return 0
}

// slow takes a row that is not all plain numbers, is not in the window as a whole, or is
// to be refused.
func (n *numeric) slow() (step, error) {
	step, err := n.splitter.next()
	if err != nil || step != stepRow {
		return step, err
	}
	dst := n.room(1)
	for i, c := range n.schema.kept {
		cell := n.cells[c.index]
		bits, ok := n.powers.number(n.value(cell), n.kind)
		switch {
		case !ok:
			return 0, n.refuse(c, cell)
		case n.width == 4:
			binary.LittleEndian.PutUint32(dst[4*i:], uint32(bits))
		default:
			binary.LittleEndian.PutUint64(dst[8*i:], bits)
		}
	}
	if !n.check {
		n.data = n.data[:len(n.data)+n.size]
	}
	return n.took()
}

// sample makes a sample of the rows since the last one.
func (n *numeric) sample(s *converters.Sample) {
	if n.check {
		if n.rows != n.shaped {
			n.shaped = n.rows
			s.Fields[0].Value = converters.Opaque(n.rows * int64(n.size))
		}
		n.rows = 0
		return
	}
	switch n.schema.form {
	case Packed:
		s.Fields[0].Value = converters.Bytes(n.data[n.from : n.from+int(n.rows)*n.size])
	case Fields:
		for i := range n.schema.kept {
			if bits := n.bits(i); n.kind == int64s {
				s.Fields[i].Value = converters.Int(int64(bits))
			} else {
				s.Fields[i].Value = converters.Float(math.Float64frombits(bits))
			}
		}
	case Table:
		n.table(s)
	}
	n.from += int(n.rows) * n.size
	n.rows = 0
}

// bits returns number i of the sample, a float32 as the float64 that it is.
func (n *numeric) bits(i int) uint64 {
	if n.width == 4 {
		f := math.Float32frombits(binary.LittleEndian.Uint32(n.data[n.from+4*i:]))
		return math.Float64bits(float64(f))
	}
	return binary.LittleEndian.Uint64(n.data[n.from+8*i:])
}

func (n *numeric) table(s *converters.Sample) {
	columns := len(n.schema.kept)
	for c := range columns {
		values := make([]any, n.rows)
		for r := range values {
			if bits := n.bits(r*columns + c); n.kind == int64s {
				values[r] = int64(bits)
			} else {
				values[r] = math.Float64frombits(bits)
			}
		}
		s.Fields[c].Value = converters.Nested(converters.Column{Type: n.kind.String(), Values: values})
	}
}

// alike reports whether samples of equal many rows are alike.
func (n *numeric) alike() bool {
	return n.schema.form == Packed || n.schema.form == Fields && n.kind != int64s
}
