package decode

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/arrowipc"
)

// table decodes a record that is an Arrow IPC stream of one record batch. If the batch has one row and no
// column but columns of single values, its columns are the fields of the sample; else each field is a
// [converters.Column].
func (d *Decoder) table(record []byte) (err error) {
	defer func() {
		if recover() != nil { // Arrow's accessors panic where a buffer is too short for its column
			err = malformed("bad Arrow stream: a buffer is too short")
		}
	}()
	messages := arrowipc.NewMessages(bytes.NewReader(record), 0, int64(len(record)))
	messages.AllowNested()
	r, err := ipc.NewReaderFromMessageReader(messages)
	if err != nil {
		return malformed("bad Arrow stream: %w", err)
	}
	defer r.Release()
	if !r.Next() {
		return malformed("bad Arrow stream: %w", errors.Join(r.Err(), errors.New("no batch")))
	}
	rows := r.Record()
	err = d.columns(rows)
	if err == nil && (r.Next() || r.Err() != nil) {
		err = fmt.Errorf("%w: an Arrow stream of more than one batch", converters.ErrUnsupported)
	}
	if _, end := messages.Message(); err == nil && !errors.Is(end, io.EOF) {
		err = malformed("bad Arrow stream: bytes follow its end")
	}
	return err
}

func (d *Decoder) columns(rows arrow.Record) error {
	single := rows.NumRows() == 1
	for _, c := range rows.Columns() {
		single = single && isSingle(c)
	}
	for i, c := range rows.Columns() {
		name := rows.ColumnName(i)
		if !utf8.ValidString(name) {
			return malformed("the name of a column is not UTF-8")
		}
		if err := d.column(strings.Clone(name), c, single); err != nil {
			return err
		}
	}
	return nil
}

func (d *Decoder) column(name string, c arrow.Array, single bool) error {
	if single {
		if isNested(c) {
			if err := d.limits.array(c, d.limits.MaxDepth); err != nil {
				return fmt.Errorf("field %q: %w", name, err)
			}
		}
		x, err := arrowValueAt(c, 0)
		if err != nil {
			return fmt.Errorf("field %q: %w", name, err)
		}
		return d.put(name, converters.ValueOf(x))
	}
	column := converters.Column{Type: columnType(c), Values: make([]any, c.Len())}
	if column.Type == "" {
		return fmt.Errorf("field %q: %w: a column of the type %s", name, converters.ErrUnsupported, c.DataType())
	}
	for row := range c.Len() {
		x, err := arrowValueAt(c, row)
		if err != nil {
			return fmt.Errorf("field %q, row %d: %w", name, row, err)
		}
		column.Values[row] = x
	}
	return d.add(name, converters.Nested(column))
}

// isSingle reports whether a column of one row may hold a single value: encode writes null in a column
// of its own type, and no float32.
func isSingle(c arrow.Array) bool {
	switch c.(type) {
	case *array.Null:
		return true
	case *array.List, *array.Map, *array.Struct:
		return c.NullN() == 0
	case *array.Binary, *array.String, *array.Int64, *array.Uint64, *array.Float64, *array.Boolean:
		return c.NullN() == 0
	}
	return false
}

// columnType returns the [converters.Column] type of a column, or "".
func columnType(c arrow.Array) string {
	switch c.(type) {
	case *array.Int64:
		return "int64"
	case *array.Float64:
		return "float64"
	case *array.Float32:
		return "float32"
	case *array.Boolean:
		return "bool"
	case *array.String:
		return "str"
	}
	return ""
}

func arrowValueAt(column arrow.Array, row int) (any, error) {
	if column.IsNull(row) {
		return nil, nil
	}
	switch c := column.(type) {
	case *array.Null:
		return nil, nil
	case *array.Int64:
		return c.Value(row), nil
	case *array.Uint64:
		return c.Value(row), nil
	case *array.Float64:
		return c.Value(row), nil
	case *array.Float32:
		return float64(c.Value(row)), nil
	case *array.Boolean:
		return c.Value(row), nil
	case *array.Binary:
		return bytes.Clone(c.Value(row)), nil
	case *array.String:
		if s := c.Value(row); utf8.ValidString(s) {
			return strings.Clone(s), nil
		}
		return nil, malformed("text that is not UTF-8")
	case *array.List:
		from, to := c.ValueOffsets(row)
		return arrowList(c.ListValues(), from, to)
	case *array.Map:
		from, to := c.ValueOffsets(row)
		return arrowMap(c, from, to)
	case *array.Struct:
		return arrowStruct(c, row)
	}
	return nil, fmt.Errorf("%w: a column of the type %s", converters.ErrUnsupported, column.DataType())
}
