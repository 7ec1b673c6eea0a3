package csv

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/scan"
)

// A first row may be names of columns or values. The first condition that holds decides:
//
//	distinct words, above a column of numbers                  names
//	a word above a column of numbers, next to other values     unknown
//	a number in the row                                        a row
//	an empty value above a column of numbers                   unknown
//	a value that is empty, repeated or longer than maxName     a row
//	the next part begins with the same row                     names
//	a value occurs again in its column                         a row
//	the next part begins with other values in all columns      a row
//	identifiers, above a column of codes; two common names     names
//	otherwise                                                  unknown
//
// Unknown is an error: a header that becomes a sample is as wrong as a lost sample.
type firstRow int

const (
	isRow firstRow = iota
	isNames
	notKnown
)

// maxName is the longest possible name of a column, in bytes.
const maxName = 64

// fewRows or fewer are not enough to infer what all values of a column have in common.
const fewRows = 4

// commonNames are names of columns that are rarely values. A row with two of them is a row of names.
var commonNames = strings.Fields(`answer audio author caption category class class_name content date description document file file_name
	filename filepath id image image_id image_path img label labels language name path prompt question response sentence sentence1
	sentence2 source speaker split summary target text title transcript transcription translation url video`)

// findHeader reports whether the first lines of the parts name the columns. s.look must have the first rows.
func (s *source) findHeader() (bool, error) {
	l := &s.look
	is := l.decide(s.opts.Delimiter)
	if is == notKnown && !l.aboveNumbers() {
		other, err := s.nextFirst()
		if err != nil {
			return false, err
		}
		switch {
		case other != nil && slices.Equal(other, l.first):
			is = isNames
		case l.again, other != nil && apart(other, l.first):
			is = isRow
		case l.identifiers() && (l.aboveCodes() || common(l.first) >= 2):
			is = isNames
		}
	}
	if is == notKnown {
		return false, &converters.Error{Where: l.part, Off: l.off, Entry: "row 1", Hint: "option header if it names them, option header=false if not",
			Err: fmt.Errorf("%w: it may name the columns or be a row: %s", converters.ErrUnsupported, list(l.values))}
	}
	return is == isNames, nil
}

// decide classifies the first row by the first part, except words above words.
func (l *look) decide(delimiter byte) firstRow {
	switch {
	case l.rows == 0, len(l.values) == 1 && l.otherDelimiter(delimiter) >= 0: // Doubts suggests another delimiter
		return isRow
	case l.isHeader():
		return isNames
	case l.wordAboveNumbers():
		return notKnown
	case slices.ContainsFunc(l.values, isNumberText):
		return isRow
	case l.aboveNumbers():
		return notKnown
	case l.first == nil || !distinct(l.first) || slices.ContainsFunc(l.first, func(v string) bool { return len(v) > maxName }):
		return isRow
	}
	return notKnown
}

// nextFirst returns the first row of the second part, or nil if there is none or the part is not local.
func (s *source) nextFirst() (row []string, err error) {
	if len(s.Parts()) < 2 || s.Parts()[1].Path == "" {
		return nil, nil
	}
	f, err := s.open(s.Parts()[1], converters.Cached)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var r splitter
	r.reset(&scan.Pass{Part: s.Parts()[1], File: f}, &s.opts)
	if err := r.skipMark(); err != nil {
		return nil, err
	}
	for {
		ev, err := r.next()
		if err != nil || ev == eventEnd {
			return nil, err
		}
		if ev == eventRow {
			break
		}
	}
	for _, c := range r.cells {
		row = append(row, string(r.value(c)))
	}
	return row, nil
}

// apart reports whether two rows differ in every column.
func apart(a, b []string) bool {
	for i := range min(len(a), len(b)) {
		if a[i] == b[i] {
			return false
		}
	}
	return true
}

func distinct(values []string) bool {
	sorted := slices.Sorted(slices.Values(values))
	return len(slices.Compact(sorted)) == len(values)
}

// aboveNumbers reports whether a column has numbers below the first row.
func (l *look) aboveNumbers() bool { return l.rows > 1 && slices.Contains(l.numbers, true) }

func (l *look) wordAboveNumbers() bool {
	for i, are := range l.numbers {
		if l.rows > 1 && are && l.values[i] != "" && !isNumberText(l.values[i]) {
			return true
		}
	}
	return false
}

func isNumberText(value string) bool { return isNumber(trim([]byte(value))) }

// aboveCodes reports whether a column has codes below a value that is not a code.
func (l *look) aboveCodes() bool {
	if l.rows <= fewRows {
		return false
	}
	for i, are := range l.codes {
		if are && !isCode([]byte(l.first[i])) {
			return true
		}
	}
	return false
}

// isCode reports whether a value has a digit and no blank, as file names, dates and item numbers have.
func isCode(value []byte) bool {
	return bytes.ContainsAny(value, "0123456789") && !bytes.ContainsAny(value, " \t\n")
}

// identifiers reports whether the first row is words of letters, digits, _ and -, with single blanks between.
func (l *look) identifiers() bool {
	return !slices.ContainsFunc(l.first, func(v string) bool {
		for i, r := range v {
			if unicode.IsLetter(r) || r == '_' || i > 0 && (unicode.IsDigit(r) || r == '-' || r == ' ' && v[i-1] != ' ' && i < len(v)-1) {
				continue
			}
			return true
		}
		return false
	})
}

// common returns how many of the values are common names of columns.
func common(values []string) (n int) {
	for _, v := range values {
		if slices.Contains(commonNames, strings.ToLower(v)) {
			n++
		}
	}
	return n
}

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
