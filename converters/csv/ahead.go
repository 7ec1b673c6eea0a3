package csv

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/ffconvert/ffconvert/converters"
)

// Limits of reading ahead: rows, and bytes of their numbers, which must fit into the first-level cache.
const (
	aheadRows  = 256
	aheadBytes = 16 << 10
)

// advance makes the next row that was read ahead the current one.
func (n *numeric) advance() {
	n.at = n.Offset()
	n.row++
	n.Pos = n.ends[n.returned]
	n.returned++
}

// one makes a packed sample of the next row, if that was read ahead. It replaces next and sample for most rows, in less
// than half the time.
func (n *numeric) one(s *converters.Sample) bool {
	if n.returned == len(n.ends) || n.check {
		return false
	}
	n.advance()
	n.left--
	s.Off = n.at
	to := n.from + n.size
	s.Fields[0].Value = converters.Bytes(n.data[n.from:to])
	n.from = to
	return true
}

// takeAhead returns the last taken samples, of one packed row each, and the rows that were read ahead, the last of
// which becomes the current row. They are valid until the next call.
func (n *numeric) takeAhead(taken int) (data []byte, rows int) {
	rows = len(n.ends) - n.returned
	if rows > 0 {
		n.returned = len(n.ends)
		n.Pos = n.ends[n.returned-1]
		n.row += int64(rows)
		n.left -= int64(rows)
	}
	from := n.from - taken*n.size
	n.from += rows * n.size
	return n.data[from:n.from], rows + taken
}

// skipAhead skips the rows that were read ahead, and returns their offsets in the part in bytes. The
// slice is valid until the next call.
func (n *numeric) skipAhead() []int64 {
	n.offs = n.offs[:0]
	from, base := n.Pos, n.Offset()-int64(n.Pos)
	for _, end := range n.ends[n.returned:] {
		n.offs = append(n.offs, base+int64(from))
		from = end
	}
	n.Pos, n.returned = from, len(n.ends)
	n.row += int64(len(n.offs))
	n.left -= int64(len(n.offs))
	return n.offs
}

// ahead reads the next rows in the window, as long as they consist of plain numbers. It must be called
// only after all rows that were read ahead have been returned.
func (n *numeric) ahead() {
	n.ends, n.returned = n.ends[:0], 0
	if len(n.place) == 0 { // no part had rows when the source was opened
		return
	}
	rows := int(min(n.left, aheadRows, int64(max(1, aheadBytes/max(n.size, 1)))))
	b, i := n.Buf[:len(n.Buf)+pad], n.Pos
	check := n.check && n.kind != int64s
	var dst []byte
	if !check {
		dst = n.room(rows)
	}
	ends := n.ends
	for len(ends) < rows {
		to := 0
		if check {
			to = n.skipRow(b, i)
		} else {
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

// room returns space for the numbers of the next rows, after the numbers of the sample.
func (n *numeric) room(rows int) []byte {
	if n.from > 0 {
		n.data = append(n.data[:0], n.data[n.from:]...)
		n.from = 0
	}
	have := len(n.data)
	n.data = slices.Grow(n.data, rows*n.size)
	return n.data[have : have+rows*n.size]
}

// skipRow returns the end of the row of plain numbers at b[i], after its line end, or 0 if the row has other values or
// does not end in b. b ends with pad zero bytes, which end every scan. While rounded integers are counted, skipRow
// returns 0 for a row with an integer that may be rounded.
func (n *numeric) skipRow(b []byte, i int) int {
	counted := n.rounded != nil
	for c, place := range n.place {
		if c > 0 {
			if b[i] != n.delimiter {
				return 0
			}
			i++
		}
		if place >= 0 {
			from := i
			i = skipDecimal(b, from)
			if counted && i-from > exactDigits && b[from+1] != '.' && b[from+2] != '.' && isInteger(b[from:i]) {
				return 0
			}
		} else {
			i = n.skipValue(b, i)
		}
		if i == 0 {
			return 0
		}
	}
	return rowEnd(b, i)
}

// plainRow is skipRow that also writes the numbers to dst. While rounded integers are counted, it returns 0 for a row with a
// float64 that may be a rounded integer.
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
			bits, i = whole(b, i)
			binary.LittleEndian.PutUint64(dst[8*place:8*place+8], bits)
		default:
			if bits, i = n.powers.decimal(b, i); i == 0 {
				return 0
			}
			if n.width == 8 {
				binary.LittleEndian.PutUint64(dst[8*place:8*place+8], bits)
				if n.rounded != nil && bits<<1 >= math.Float64bits(1<<53)<<1 {
					return 0
				}
			} else if short, ok := narrow(bits); ok {
				binary.LittleEndian.PutUint32(dst[4*place:4*place+4], short)
			} else {
				return 0
			}
		}
		if i == 0 {
			return 0
		}
	}
	return rowEnd(b, i)
}

// skipValue returns the end of a value without quotes in a column that is not kept.
func (n *numeric) skipValue(b []byte, i int) int {
	for !n.stop[b[i]] {
		i++
	}
	return i
}

// rowEnd returns the end of the line break at b[i], 0 if there is none.
func rowEnd(b []byte, i int) int {
	if b[i] == '\n' {
		return i + 1
	}
	if b[i] == '\r' && b[i+1] == '\n' {
		return i + 2
	}
	return 0
}
