package csv

import (
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
)

// inferSize is the number of bytes of a part that determine the types: the rows that end within them,
// and at least one row.
const inferSize = 1 << 20

// A guess infers the types of columns from rows.
type guess struct {
	rows    int
	columns []columnGuess
	odd     error // for the first value that is not a number
}

// A columnGuess records properties of the values of one column, except nulls.
type columnGuess struct {
	some, notInteger, tooLarge, notFloat, notBool bool
}

func (g *guess) add(s *splitter, kept []column) {
	if g.rows == 0 {
		g.columns = make([]columnGuess, len(kept))
	}
	g.rows++
	for i, k := range kept {
		c := s.cells[k.index]
		value := s.value(c)
		if null(c) {
			g.oddOne(s, k, c, "a value is empty")
			continue
		}
		col := &g.columns[i]
		col.some = true
		if col.notInteger && col.notBool && s.plainNumber(c) {
			continue
		}
		number := trim(value)
		if !col.notFloat && !isNumber(number) {
			col.notFloat = true
			g.oddOne(s, k, c, fmt.Sprintf("%.40q is not a number", value))
		}
		if !isInteger(number) {
			col.notInteger = true
		} else if _, ok := integer(number); !ok {
			col.tooLarge = true
		}
		if _, ok := boolean(value); !ok {
			col.notBool = true
		}
	}
}

// plainNumber reports whether a cell of the current row is a plain decimal number.
func (s *splitter) plainNumber(c cell) bool {
	b := s.Buf[s.Pos-len(s.line) : len(s.Buf)+pad]
	return skipDecimal(b, c.from) == c.to
}

// number reports whether a cell of the current row is a number, of any size. For a plain number it does not call
// isNumber, which takes several times as long.
func (s *splitter) number(c cell) bool {
	return c.from < c.to && s.plainNumber(c) || isNumber(trim(s.value(c)))
}

// oddOne records the first value that is not a number.
func (g *guess) oddOne(s *splitter, k column, c cell, what string) {
	if g.odd == nil {
		g.odd = s.failEntry(s.at+int64(c.from), valueEntry(s.row, k), fmt.Errorf("%w: raw records are numbers, and %s", converters.ErrUnsupported, what), "option encode msgpack")
	}
}

// kind returns the narrowest kind that fits column i. If a column has only integers, and some do not fit int64, the
// kind is text, because float64 would lose digits.
func (g *guess) kind(i int) kind {
	if g.rows == 0 {
		return texts
	}
	switch c := g.columns[i]; {
	case !c.some:
		return texts
	case !c.notInteger && !c.tooLarge:
		return int64s
	case c.notInteger && !c.notFloat:
		return float64s
	case !c.notBool:
		return bools
	}
	return texts
}

func null(c cell) bool { return c.from == c.to && !c.quoted }

// boolean parses true and false, in any case, with or without blanks around them.
func boolean(value []byte) (b, ok bool) {
	s := trim(value)
	if isFold(s, "true") {
		return true, true
	}
	return false, isFold(s, "false")
}
