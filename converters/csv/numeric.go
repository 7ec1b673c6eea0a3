package csv

import (
	"encoding/binary"
	"math"

	"github.com/ffconvert/ffconvert/converters"
)

// A numeric decodes rows of numbers of one kind. It collects the numbers in the layout of a packed sample, and makes
// the other forms from that.
//
// It parses many rows of plain numbers at once in the window, and returns them one by one. It stops at the first row
// with other values, which the splitter parses.
//
//	data  │ earlier samples │ this sample │ rows read ahead │ free │
//	                        from
type numeric struct {
	*splitter
	schema *schema
	powers *powers
	kind   kind
	place  []int // for each column of a row its index in schema.kept; -1: not selected
	width  int   // of a number in bytes
	size   int   // of the numbers of a row in bytes
	most   int64 // rows per sample
	limit  int64 // bytes per sample; determines most

	check    bool    // only check that values are numbers; data is not used
	left     int64   // rows that the caller may still request
	ends     []int   // ends of the rows that were read ahead, in the window
	returned int     // how many of them were returned
	offs     []int64 // result of skipAhead
	data     []byte
	from     int
	rows     int64 // in the current sample
	shaped   int64 // rows of the sample's current shape
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
	n.ends, n.returned = n.ends[:0], 0
	n.data, n.from, n.rows = n.data[:0], 0, 0
}

func (n *numeric) next() (event, error) {
	if n.returned == len(n.ends) {
		if n.ahead(); len(n.ends) == 0 {
			return n.slow()
		}
	}
	n.advance()
	return n.took()
}

func (n *numeric) took() (event, error) {
	n.left--
	n.rows++
	if n.rows > n.most {
		return 0, n.refuseSample(n.limit)
	}
	return eventRow, nil
}

// slow adds a row through the splitter: a row with other than plain numbers, an incomplete row in the window, or a row
// that is refused.
func (n *numeric) slow() (event, error) {
	ev, err := n.splitter.next()
	if err != nil || ev != eventRow {
		return ev, err
	}
	dst := n.room(1)
	for i, c := range n.schema.kept {
		cell := n.cells[c.index]
		bits, ok := n.powers.number(n.value(cell), n.kind)
		n.round(i, c, cell)
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

// sample sets s to the rows since the previous sample.
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

// bits returns number i of the sample. A float32 is converted to float64.
func (n *numeric) bits(i int) uint64 {
	if n.width == 4 {
		f := math.Float32frombits(binary.LittleEndian.Uint32(n.data[n.from+4*i:]))
		return math.Float64bits(float64(f))
	}
	return binary.LittleEndian.Uint64(n.data[n.from+8*i:])
}

// table makes a column of the numbers of each field.
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

func (n *numeric) alike() bool {
	return n.schema.form == Packed || n.schema.form == Fields && n.kind != int64s
}
