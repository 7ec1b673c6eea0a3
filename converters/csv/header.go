package csv

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/ffconvert/ffconvert/converters"
)

// header reads the line with the names of the columns.
func (s *splitter) header() ([]string, error) {
	ev, err := s.next()
	if err != nil {
		return nil, err
	}
	s.row = 0
	if ev != eventRow {
		return nil, s.failEntry(s.at, "header", fmt.Errorf("%w: there is no first line to name the columns", converters.ErrTruncated), "")
	}
	var names []string
	for _, c := range s.cells {
		name := s.value(c)
		if !utf8.Valid(name) {
			return nil, s.failEntry(s.at+int64(c.from), "header", fmt.Errorf("%w: the name %.40q is not UTF-8", converters.ErrMalformed, name), "")
		}
		names = append(names, string(name))
	}
	return names, nil
}

// sameHeader returns an error unless the header of the part is want.
func (s *splitter) sameHeader(want []string) error {
	got, err := s.header()
	if err != nil {
		return err
	}
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			return s.failEntry(s.at, "header", fmt.Errorf("%w: its columns are not those of the first part: they are %s, there %s",
				converters.ErrMalformed, list(got), list(want)), "")
		}
	}
	return nil
}

// list returns the first names as a list for a message.
func list(names []string) string {
	const most = 8
	var b strings.Builder
	for i, name := range names[:min(len(names), most)] {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%.40q", name)
	}
	if len(names) > most {
		fmt.Fprintf(&b, " and %d more", len(names)-most)
	}
	return b.String()
}
