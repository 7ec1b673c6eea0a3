package csv

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/ffconvert/ffconvert/converters"
)

// A look collects evidence in the first rows that the options do not fit.
type look struct {
	part string // of the first row
	off  int64  // of the first row, in the part
	rows int

	values  []string // of the first row
	first   []string // like values; nil if one of them is empty or a number
	again   bool     // a later row has one of first in its column
	codes   []bool   // by column: all values of the later rows are codes
	numbers []bool   // by column: the later rows have values, and all are numbers
	others  []int    // for each of otherDelimiters, its number in every row; 0 if rows differ
}

// otherDelimiters are the delimiters to suggest if rows have one column.
const otherDelimiters = ",;\t|"

func (l *look) add(s *splitter, kept []column) {
	if l.rows == 0 {
		l.part, l.off = s.part.Name, s.at
		l.numbers = make([]bool, len(kept))
		l.others = make([]int, len(otherDelimiters))
		l.codes = make([]bool, len(kept))
		l.first = []string{}
	}
	l.rows++
	for i, k := range kept {
		c := s.cells[k.index]
		if l.rows == 1 {
			l.values = append(l.values, string(s.value(c)))
		} else if value := s.value(c); l.first != nil {
			l.again = l.again || string(value) == l.first[i]
			l.codes[i] = (l.rows == 2 || l.codes[i]) && isCode(value)
		}
		switch {
		case l.rows == 2:
			l.numbers[i] = s.number(c)
		case l.rows > 2:
			l.numbers[i] = l.numbers[i] && (null(c) || s.number(c))
		case l.first != nil && len(s.value(c)) > 0 && !s.number(c):
			l.first = append(l.first, string(s.value(c)))
		default:
			l.first = nil
		}
	}
	for i := range otherDelimiters {
		if l.rows > 1 && l.others[i] == 0 {
			continue
		}
		n := bytes.Count(s.line, []byte{otherDelimiters[i]})
		if l.rows == 1 {
			l.others[i] = n
		} else if n != l.others[i] {
			l.others[i] = 0
		}
	}
}

// doubts reports a first row that looks like a header, rows of one column, and integers that lose digits
// in the parts that have been indexed since the source was opened.
func (s *source) doubts() []converters.Doubt {
	all := s.oddTable()
	if d, ok := s.rounded.doubt(s.Parts(), &s.schema); ok {
		all = append(all, d)
	}
	return all
}

// oddTable returns the doubts about the first rows.
func (s *source) oddTable() []converters.Doubt {
	l := &s.look
	doubt := converters.Doubt{Part: l.part, Off: l.off, Entry: "row 1"}
	switch {
	case l.rows == 0:
		return nil
	case s.schema.columns == 1:
		return []converters.Doubt{l.oneColumn(doubt, s.opts.Delimiter)}
	case !s.opts.Header && l.isHeader():
		doubt.Text = "it looks like a header, and becomes a row: " + list(l.first)
		doubt.Hint = "option header takes it for the names of the columns"
		return []converters.Doubt{doubt}
	}
	return nil
}

// isHeader reports whether the first row is distinct words, and a column has numbers below it.
func (l *look) isHeader() bool {
	return l.first != nil && distinct(l.first) && l.aboveNumbers()
}

// oneColumn reports rows of one column, and suggests another delimiter.
func (l *look) oneColumn(d converters.Doubt, delimiter byte) converters.Doubt {
	d.Text = "every row is one column"
	d.Hint = fmt.Sprintf("option delimiter, if something else than %q stands between values", delimiter)
	if i := l.otherDelimiter(delimiter); i >= 0 {
		d.Text = fmt.Sprintf("every row is one column, and has %q in it", otherDelimiters[i])
		d.Hint = "option delimiter " + delimiterWord(otherDelimiters[i])
	}
	return d
}

// otherDelimiter returns the index of one of otherDelimiters that all rows of one column have equally often, or -1.
func (l *look) otherDelimiter(delimiter byte) int {
	for i, n := range l.others {
		if n > 0 && otherDelimiters[i] != delimiter {
			return i
		}
	}
	return -1
}

// delimiterWord quotes a delimiter for a shell command.
func delimiterWord(c byte) string {
	if c == '\t' {
		return "tab"
	}
	return "'" + strings.TrimSpace(string(c)) + "'"
}
