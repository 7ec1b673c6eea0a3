package csv

// Sizes of reads, bytes. The first is small, since a run may be one row; they double up
// to what keeps both the device and the processor's cache content, and reads little beyond
// a run of short rows.
const (
	firstRead  = 4 << 10
	windowSize = 256 << 10
)

// more reads on behind a row that is not complete. One that the window does not hold is
// measured first: its length is not known to be within maxRow.
func (s *splitter) more() error {
	if !s.Full() {
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

// measure returns how many bytes the row that begins at Pos has, its line end included,
// at most as many as follow and no more than maxRow+1. It keeps none of them: a row
// without end takes no memory.
func (s *splitter) measure() (int64, error) {
	from := s.Offset()
	most := min(s.Size-from, s.maxRow+1)
	block := make([]byte, 64<<10)
	begins, quoted, inside := true, false, false // the next byte begins a value; it has quotes; is between them
	for n := int64(0); n < most; {
		b := block[:min(int64(len(block)), most-n)]
		if err := s.ReadAt(b, from+n); err != nil {
			return 0, err
		}
		for i, c := range b {
			switch {
			case c == '"':
				quoted = quoted || begins
				inside = quoted && !inside // one that is written twice ends the value and goes on
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
