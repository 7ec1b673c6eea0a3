package csv

import "github.com/ffconvert/ffconvert/converters/internal/scan"

// Sizes of reads in bytes. The first read is small, because a run may be one row. Reads double up to a
// size that is efficient for the device and fits into the processor's cache.
const (
	firstRead  = 4 << 10
	windowSize = 256 << 10
)

// more reads more bytes of a row that is incomplete in the window. If the window is full it measures the row first, so
// that the window does not grow for a row longer than maxRow.
func (s *splitter) more() error {
	if s.Unread() < windowSize {
		s.Relax()
		return s.Fill(s.Unread() + 1)
	}
	n, err := s.measure()
	if err != nil {
		return err
	}
	if n > s.maxRow {
		return s.failLimit()
	}
	if n <= int64(s.Unread()) {
		panic("csv: a row that does not end where it was measured to end")
	}
	return s.Fill(int(n))
}

// measure returns the size in bytes of the row at Pos with its line end, but at most maxRow+1. It does not keep the
// bytes, so an endless row takes no memory.
func (s *splitter) measure() (int64, error) {
	from := s.Offset()
	most := min(s.Size-from, s.maxRow+1)
	block := make([]byte, 64<<10)
	begins, quoted, inside := true, false, false // at the start of a value; in a value with quotes; between its quotes
	for n := int64(0); n < most; {
		b := block[:min(int64(len(block)), most-n)]
		if err := scan.ReadFull(s.File, b, from+n); err != nil {
			return 0, err
		}
		for i, c := range b {
			switch {
			case c == '"':
				quoted = quoted || begins
				inside = quoted && !inside // a doubled quote closes and opens again
				begins = false
			case inside:
			case c == '\n':
				return n + int64(i) + 1, nil
			default:
				begins = c == s.delimiter
				quoted = quoted && !begins
			}
		}
		n += int64(len(b))
	}
	return most, nil
}
