package csv

import (
	"encoding/binary"
	"math"

	"github.com/ffconvert/ffconvert/converters"
)

// A numeric is the decoder of rows that are numbers of one kind. It collects them as a
// packed sample has them, and makes the other forms of that.
type numeric struct {
	*splitter
	schema *schema
	powers *powers
	kind   kind
	place  []int // of each column of a row among the kept ones; -1: not kept
	width  int   // of a number, bytes
	check  bool  // the numbers are not wanted, only that they are numbers
	data   []byte
	rows   int64 // that data holds, or that were checked
	shaped int64 // rows of the last shape
	most   int64 // rows of a sample
	limit  int64 // bytes of a sample, of which most comes
}

func newNumeric(s *splitter, schema *schema, limit int64) *numeric {
	n := &numeric{splitter: s, schema: schema, powers: allPowers(), limit: limit, place: make([]int, schema.columns)}
	if len(schema.kept) > 0 {
		n.kind = schema.kept[0].kind
	}
	n.width = n.kind.width()
	row := len(schema.kept) * n.width
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

func (n *numeric) reset(_ int64, check bool) {
	n.check = check && n.schema.form == Packed
	n.data, n.rows, n.shaped = n.data[:0], 0, 0
}

func (n *numeric) rowSize() int { return n.width * len(n.schema.kept) }

// next takes the next row. A row of plain numbers is read where it lies in the window;
// any other one goes through the splitter.
func (n *numeric) next() (step, error) {
	to := 0
	switch {
	case len(n.place) == 0: // no part had a row when the source was opened
	case n.check && n.kind != int64s:
		to = n.skipRow(n.buf[:n.end+pad], n.pos)
	default:
		to = n.plainRow(n.buf[:n.end+pad], n.pos, n.room())
	}
	if to == 0 || int64(to-n.pos) > n.maxRow {
		return n.slow()
	}
	n.at = n.offset()
	n.row++
	n.pos = to
	return n.took()
}

// room returns where the numbers of the next row go.
func (n *numeric) room() []byte {
	size, have := n.rowSize(), len(n.data)
	if cap(n.data)-have < size {
		n.data = append(n.data, make([]byte, size)...)[:have]
	}
	return n.data[have : have+size]
}

// took counts a row, and keeps what room has of it.
func (n *numeric) took() (step, error) {
	n.rows++
	if n.rows > n.most {
		return 0, n.refuseSample(n.limit)
	}
	if !n.check {
		n.data = n.data[:len(n.data)+n.rowSize()]
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
		case n.kind == float64s:
			if bits, i = n.powers.decimal(b, i); i > 0 {
				binary.LittleEndian.PutUint64(dst[8*place:8*place+8], bits)
			}
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
	dst := n.room()
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
	return n.took()
}

// sample makes a sample of the rows since the last one.
func (n *numeric) sample(s *converters.Sample) {
	if n.check {
		if n.rows != n.shaped {
			n.shaped = n.rows
			s.Fields[0].Value = converters.Opaque(n.rows * int64(n.rowSize()))
		}
		n.rows = 0
		return
	}
	switch n.schema.form {
	case Packed:
		s.Fields[0].Value = converters.Bytes(n.data)
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
	n.data, n.rows = n.data[:0], 0
}

// bits returns number i of data, a float32 as the float64 that it is.
func (n *numeric) bits(i int) uint64 {
	if n.width == 4 {
		f := math.Float32frombits(binary.LittleEndian.Uint32(n.data[4*i:]))
		return math.Float64bits(float64(f))
	}
	return binary.LittleEndian.Uint64(n.data[8*i:])
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
