package csv

import (
	"bytes"
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
)

// An event is the next element of a part.
type event int

const (
	eventEnd    event = iota // the end of the part
	eventRow                 // a row
	eventEmpty               // an empty line
	eventHeader              // the header
	eventSample              // a sample, after its last row
)

// A splitter splits a part into rows, and rows into cells.
type splitter struct {
	scan.Window
	part      converters.Part
	delimiter byte
	maxRow    int64
	most      int          // maximum number of columns
	columns   int          // number of columns of each row; 0: any number
	rounded   *roundedPart // counts rounded integers; nil: do not count
	stop      [256]bool

	// The row or empty line that next returned last:
	at    int64  // its offset in the part, bytes
	row   int64  // its number from 1 on, without header and empty lines
	line  []byte // its bytes, in the window
	cells []cell // the first columns cells, or the first most cells
	found int    // number of all cells in the row
}

// A cell is the place of a value in its line, without the quotes around it.
type cell struct {
	from, to int
	quoted   bool // the value has quotes around it
	doubled  bool // the value contains doubled quotes
}

func (s *splitter) reset(p *scan.Pass, opts *Options) {
	s.Begin(p, scan.Sizes{First: firstRead, Usual: windowSize, Pad: pad})
	s.part, s.delimiter, s.maxRow, s.most, s.columns = p.Part, opts.Delimiter, opts.MaxRow, opts.MaxColumns, 0
	s.row = p.Run.First * opts.RowsPerSample
	s.stop = [256]bool{'\n': true, '\r': true, '"': true, 0: true}
	s.stop[s.delimiter] = true
}

func (s *splitter) value(c cell) []byte { return s.line[c.from:c.to] }

// skipMark skips a byte order mark at the start of a part.
func (s *splitter) skipMark() error {
	if !s.Complete() {
		if err := s.Fill(1); err != nil {
			return s.fail(s.at, err, "")
		}
	}
	if bytes.HasPrefix(s.Buf, []byte("\xEF\xBB\xBF")) {
		s.Pos = 3
	}
	return nil
}

// next finds the next row. Its bytes are valid until the next call.
func (s *splitter) next() (event, error) {
	for {
		s.at = s.Offset()
		n, err := s.split(s.Buf[s.Pos:], s.Complete())
		if err != nil {
			return 0, err
		}
		if n > 0 {
			return s.take(n)
		}
		if s.Complete() {
			return eventEnd, nil
		}
		if err := s.more(); err != nil {
			return 0, s.failRow(s.at, err, "")
		}
	}
}

// take makes the next n bytes the current row or empty line, and checks its columns.
func (s *splitter) take(n int) (event, error) {
	s.line = s.Buf[s.Pos : s.Pos+n]
	if int64(n) > s.maxRow {
		return 0, s.failLimit()
	}
	s.Pos += n
	if s.found == 0 {
		return eventEmpty, nil
	}
	if want := s.columns; want > 0 && s.found != want {
		return 0, s.failRow(s.at, fmt.Errorf("%w: it has %s, the dataset has %d", converters.ErrMalformed, count(s.found, "column"), want), "")
	}
	if s.found > s.most {
		return 0, s.failRow(s.at, fmt.Errorf("%w: it has %d columns, at most %d are read", converters.ErrLimit, s.found, s.most), "option max-columns, if option delimiter is right")
	}
	s.row++
	for i := range s.cells {
		if c := &s.cells[i]; c.doubled {
			c.to = c.from + undouble(s.line[c.from:c.to])
		}
	}
	return eventRow, nil
}

// undouble replaces doubled quotes in place, and returns the new length.
func undouble(b []byte) int {
	n := 0
	for i := 0; i < len(b); i++ {
		b[n] = b[i]
		n++
		if b[i] == '"' {
			i++
		}
	}
	return n
}

// split finds the cells of the row at the start of b and returns the length of the row with its line end, or 0 if b
// ends before the row. last means that the part ends with b.
func (s *splitter) split(b []byte, last bool) (n int, err error) {
	s.cells, s.found = s.cells[:0], 0
	if len(b) == 0 {
		return 0, nil
	}
	if n, ok := lineEnd(b, last); ok {
		return n, nil
	}
	most := s.most
	if s.columns > 0 {
		most = s.columns
	}
	for i := 0; ; i++ {
		c := cell{from: i}
		s.found++
		if i < len(b) && b[i] == '"' {
			if i, err = s.quoted(b, last, &c); i == 0 {
				return 0, err
			}
		} else {
			for i < len(b) && !s.stop[b[i]] {
				i++
			}
			c.to = i
		}
		if len(s.cells) < most {
			s.cells = append(s.cells, c)
		}
		if i < len(b) && b[i] == s.delimiter {
			continue
		}
		if n, ok := lineEnd(b[i:], last); ok {
			return i + n, nil
		}
		if i == len(b) || b[i] == '\r' && i+1 == len(b) {
			return 0, nil
		}
		return 0, s.failByte(b[i], i, c.quoted)
	}
}

// quoted finds the end of a cell that begins with a quote. It returns the index after the closing quote,
// or 0 if b ends before that is known.
func (s *splitter) quoted(b []byte, last bool, c *cell) (int, error) {
	open := c.from
	c.from, c.quoted = open+1, true
	for i := c.from; ; {
		k := bytes.IndexByte(b[i:], '"')
		if k < 0 && last {
			return 0, s.failRow(s.at+int64(open), fmt.Errorf("%w: a quote is opened here and never closed", converters.ErrTruncated), "")
		}
		if k < 0 || i+k+1 == len(b) && !last {
			return 0, nil
		}
		i += k + 1
		if i < len(b) && b[i] == '"' {
			c.doubled = true
			i++
			continue
		}
		c.to = i - 1
		if k := bytes.IndexByte(b[c.from:c.to], 0); k >= 0 {
			return 0, s.failByte(0, c.from+k, false)
		}
		return i, nil
	}
}

// lineEnd returns the length of the line end at the start of b, and whether there is one. The end of the
// part is a line end, also after a CR without LF.
func lineEnd(b []byte, last bool) (n int, ok bool) {
	switch {
	case len(b) == 0:
		return 0, last
	case b[0] == '\n':
		return 1, true
	case b[0] != '\r':
		return 0, false
	case len(b) == 1:
		return 1, last
	}
	return 2, b[1] == '\n'
}
