package wrap

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ffconvert/ffconvert/converters"
)

// Rows describe the format of a table. The zero value means CSV whose first line names the columns.
type Rows struct {
	Comma   rune     // delimiter; 0: a comma
	Columns []string // names of the columns; none: the first line names them

	// Quotes is "yes" if quotes around a value are removed, as in RFC 4180, and "no" if quotes are part of the
	// value and each line is a row. "auto" or "" means yes for commas. For another delimiter it means no, but a
	// table in which all quotes are valid RFC 4180 is refused, since it may have either meaning.
	Quotes string
}

// ReadRows reads one column as a field. Values are integers if all are, else numbers if all are and a float64
// holds every integer exactly, else text. name is for errors.
func ReadRows(r io.Reader, name, field string, how Rows) (*Table, error) {
	how.Comma = cmp.Or(how.Comma, ',')
	t := &rowReader{Table: Table{name: name, field: field, rows: make(map[string]int)}, how: how}
	if len(how.Columns) > 0 {
		if err := t.head(how.Columns); err != nil {
			return nil, err
		}
	}
	read := t.readLines
	if how.Quotes == "yes" || how.Comma == ',' && how.Quotes != "no" {
		read = t.readCSV
	}
	if err := read(r); err != nil {
		return nil, err
	}
	if t.columns == nil {
		return nil, &converters.Error{Where: name, Off: -1, Err: fmt.Errorf("%w: it is empty, a line that names its columns is expected", converters.ErrMalformed)}
	}
	t.values, t.texts = typed(t.texts), nil
	return t.ready(), nil
}

// A rowReader fills a table from rows.
type rowReader struct {
	Table
	how        Rows
	columns    []string
	key, value int      // indexes of the columns of the keys and of the field
	texts      []string // values of the field
}

func (t *rowReader) head(columns []string) error {
	t.columns = slices.Clone(columns)
	t.key = max(0, slices.IndexFunc(t.columns, func(s string) bool { return slices.Contains(keyColumns, s) }))
	t.value = slices.Index(t.columns, t.field)
	if t.value >= 0 && t.value != t.key {
		return nil
	}
	err := fmt.Errorf("%w: it has no column %q beside its keys in %q; its columns are %q", converters.ErrUnsupported, t.field, t.columns[t.key], t.columns)
	hint := ""
	if len(t.how.Columns) == 0 {
		hint = "option table-columns names them where the first line does not; option table-delimiter says what is between them"
	}
	return &converters.Error{Where: t.name, Off: -1, Err: err, Hint: hint}
}

// row adds a row, or reads the names of the columns from it.
func (t *rowReader) row(line int, values []string) error {
	if t.columns == nil {
		return t.head(values)
	}
	if len(values) != len(t.columns) {
		err := fmt.Errorf("line %d: %w: %d values, where there are %d columns", line, converters.ErrMalformed, len(values), len(t.columns))
		return &converters.Error{Where: t.name, Off: -1, Err: err, Hint: "option table-delimiter, option table-quotes"}
	}
	for _, i := range []int{t.key, t.value} {
		if !utf8.ValidString(values[i]) {
			err := fmt.Errorf("line %d: %w: column %q has %q, which is not UTF-8", line, converters.ErrMalformed, t.columns[i], values[i])
			return &converters.Error{Where: t.name, Off: -1, Err: err, Hint: "save the table as UTF-8"}
		}
	}
	t.texts = append(t.texts, strings.Clone(values[t.value]))
	return t.addKey(strings.Clone(values[t.key]), line)
}

// readCSV reads rows as in RFC 4180.
func (t *rowReader) readCSV(r io.Reader) error {
	in := csv.NewReader(skipMark(r))
	in.Comma, in.ReuseRecord, in.FieldsPerRecord = t.how.Comma, true, -1
	for {
		row, err := in.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if at, ok := errors.AsType[*csv.ParseError](err); ok {
			err = fmt.Errorf("%w: line %d, column %d: %w", converters.ErrMalformed, at.Line, at.Column, at.Err)
		}
		if err != nil {
			return &converters.Error{Where: t.name, Off: -1, Err: err}
		}
		line, _ := in.FieldPos(0)
		if err := t.row(line, row); err != nil {
			return err
		}
	}
}

// readLines reads one row per line; quotes are part of the values.
func (t *rowReader) readLines(r io.Reader) error {
	in := bufio.NewScanner(skipMark(r))
	in.Buffer(nil, maxLine)
	line, quoted, plain := 0, 0, t.how.Quotes == "no"
	for in.Scan() {
		line++
		text := strings.TrimSuffix(in.Text(), "\r")
		if text == "" {
			continue
		}
		if !plain && strings.Contains(text, `"`) {
			one := csv.NewReader(strings.NewReader(text))
			one.Comma = t.how.Comma
			if _, err := one.Read(); err != nil {
				plain = true // a quote within a value
			} else if quoted == 0 {
				quoted = line
			}
		}
		if err := t.row(line, strings.Split(text, string(t.how.Comma))); err != nil {
			return err
		}
	}
	if err := in.Err(); err != nil {
		return t.failed(line+1, err)
	}
	if quoted > 0 && !plain {
		err := fmt.Errorf("line %d: %w: a value in quotes, which may be of it or around it", quoted, converters.ErrUnsupported)
		return &converters.Error{Where: t.name, Off: -1, Err: err, Hint: "option table-quotes=yes takes them off, option table-quotes=no keeps them"}
	}
	return nil
}

// skipMark skips a byte order mark at the start of r.
func skipMark(r io.Reader) io.Reader {
	in := bufio.NewReader(r)
	if mark, _ := in.Peek(3); string(mark) == "\ufeff" {
		in.Discard(3) // the three bytes are buffered
	}
	return in
}
