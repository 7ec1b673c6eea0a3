package csv

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/ffconvert/ffconvert/internal/text"

	"github.com/ffconvert/ffconvert/converters"
)

// failByte returns the error for a byte that the current row must not have.
func (s *splitter) failByte(c byte, at int, quoted bool) error {
	problem, hint := "", ""
	switch {
	case c == 0:
		problem = "a NUL byte"
	case quoted:
		problem, hint = fmt.Sprintf("%q behind a closing quote", c), "a quote among quoted text is written twice"
	case c == '"':
		problem, hint = "a quote inside a value that does not begin with one", "such a value stands between quotes, its own quotes written twice"
	default:
		problem, hint = "a CR without LF", "lines end in LF or CR LF"
	}
	return s.failRow(s.at+int64(at), fmt.Errorf("%w: %s in column %d", converters.ErrMalformed, problem, s.found), hint)
}

func (s *splitter) failLimit() error {
	return s.failRow(s.at, fmt.Errorf("%w: it has more than %s; a quote that is never closed may be why", converters.ErrLimit, text.Count(s.maxRow, "byte")), "option max-row-size")
}

// failRow places an error at the row after the last one that was found.
func (s *splitter) failRow(off int64, err error, hint string) error {
	return s.failEntry(off, fmt.Sprintf("row %d", s.row+1), err, hint)
}

// fail places an error at an offset of the part.
func (s *splitter) fail(off int64, err error, hint string) error {
	return s.failEntry(off, "", err, hint)
}

func (s *splitter) failEntry(off int64, entry string, err error, hint string) error {
	if placed, ok := err.(*converters.Error); ok {
		return placed
	}
	return &converters.Error{Where: s.part.Name, Off: off, Entry: entry, Err: err, Hint: hint}
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// refuseSample returns the error for a sample that the current row makes too large.
func (s *splitter) refuseSample(most int64) error {
	return s.fail(s.at, fmt.Errorf("%w: with this row the sample has more than %s", converters.ErrLimit, text.Count(most, "byte")), "option max-sample-size, or less option rows-per-sample")
}

// refuse returns the error for a value that does not have the type of its column.
func (s *splitter) refuse(c column, at cell) error {
	value, hint := s.value(at), fmt.Sprintf("option dtype %s=str", shown(c.name))
	var why string
	switch {
	case null(at):
		why, hint = "it is empty, which no number is", fmt.Sprintf("option dtype %s=%s makes it null", shown(c.name), c.kind)
	case c.kind == texts:
		why, hint = fmt.Sprintf("%.40q is not UTF-8", value), ""
	case c.kind == int64s && isInteger(trim(value)):
		why = fmt.Sprintf("%.40q is out of the range of int64", value)
	case c.kind != int64s && c.kind.isNumber() && isNumber(trim(value)):
		why = fmt.Sprintf("%.40q is over the range of %s", value, c.kind)
		if c.kind == float32s {
			hint = fmt.Sprintf("option dtype %s=float64", shown(c.name))
		}
	case !utf8.Valid(value): // it would not be text either
		why, hint = fmt.Sprintf("%.40q is not %s", value, c.kind), ""
	default:
		why = fmt.Sprintf("%.40q is not %s", value, c.kind)
	}
	return s.failEntry(s.at+int64(at.from), valueEntry(s.row, c), fmt.Errorf("%w: %s", converters.ErrMalformed, why), hint)
}

// shown returns a name for a hint, quoted if it has characters that are not printable.
func shown(name string) string {
	if q := strconv.Quote(name); q != `"`+name+`"` {
		return q
	}
	return name
}

// valueEntry names a value in an error.
func valueEntry(row int64, c column) string { return fmt.Sprintf("row %d, column %s", row, c.name) }
