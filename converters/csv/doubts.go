package csv

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/ffconvert/ffconvert/converters"
)

// A look is what the first rows show of a table that was not meant so.
type look struct {
	part string // that has the first row
	off  int64  // of that row, in the part
	rows int

	first   []string // the values of the first row; nil: one of them is empty or a number
	numbers []bool   // by column: there are values in the rows behind, and they are numbers
	others  []int    // of each of otherDelimiters, how many every row has; 0: rows differ, or have none
}

// otherDelimiters are what may stand between values where the delimiter does not.
const otherDelimiters = ",;\t|"

// add takes the current row, of which these columns are kept.
func (l *look) add(s *splitter, kept []column) {
	if l.rows == 0 {
		l.part, l.off = s.part.Name, s.at
		l.numbers = make([]bool, len(kept))
		l.others = make([]int, len(otherDelimiters))
		l.first = []string{}
	}
	l.rows++
	for i, k := range kept {
		c := s.cells[k.index]
		isNumber := formOf(trim(s.value(c))) != noNumber
		switch {
		case l.rows > 1:
			l.numbers[i] = null(c) && l.numbers[i] || isNumber && (l.rows == 2 || l.numbers[i])
		case l.first != nil && !isNumber && len(s.value(c)) > 0:
			l.first = append(l.first, string(s.value(c)))
		default:
			l.first = nil
		}
	}
	for i := range otherDelimiters {
		n := bytes.Count(s.line, []byte{otherDelimiters[i]})
		if l.rows == 1 {
			l.others[i] = n
		} else if n != l.others[i] {
			l.others[i] = 0
		}
	}
}

// Doubts tells of a first row that looks like a header, of rows that are one column, and of the
// integers that lose digits in the parts that were indexed since the source was opened.
func (s *Source) Doubts() []converters.Doubt {
	all := s.oddTable()
	if d, ok := s.rounded.doubt(s.parts, &s.schema); ok {
		all = append(all, d)
	}
	return all
}

// oddTable tells what the first rows show.
func (s *Source) oddTable() []converters.Doubt {
	l := &s.look
	doubt := converters.Doubt{Part: l.part, Off: l.off, Entry: "row 1"}
	switch {
	case l.rows == 0:
		return nil
	case s.schema.columns == 1:
		return []converters.Doubt{l.oneColumn(doubt, s.opts.Delimiter)}
	case !s.opts.Header && l.isHeader():
		doubt.Text = "it looks like a header, and becomes a row: " + list(l.first)
		doubt.Hint = "--header takes it for the names of the columns"
		return []converters.Doubt{doubt}
	}
	return nil
}

// isHeader reports whether the first row is words, each another one, above a column of numbers.
func (l *look) isHeader() bool {
	if l.first == nil || l.rows < 2 {
		return false
	}
	seen := make(map[string]bool)
	for _, name := range l.first {
		if seen[name] {
			return false
		}
		seen[name] = true
	}
	for _, are := range l.numbers {
		if are {
			return true
		}
	}
	return false
}

// oneColumn says what else may stand between the values of rows that have one.
func (l *look) oneColumn(d converters.Doubt, delimiter byte) converters.Doubt {
	d.Text = "every row is one column"
	d.Hint = fmt.Sprintf("--delimiter, if something else than %q stands between values", delimiter)
	for i, n := range l.others {
		if n > 0 && otherDelimiters[i] != delimiter {
			d.Text = fmt.Sprintf("every row is one column, and has %q in it", otherDelimiters[i])
			d.Hint = "--delimiter " + delimiterWord(otherDelimiters[i])
			break
		}
	}
	return d
}

// delimiterWord is a delimiter as a shell takes it.
func delimiterWord(c byte) string {
	if c == '\t' {
		return "tab"
	}
	return "'" + strings.TrimSpace(string(c)) + "'"
}
