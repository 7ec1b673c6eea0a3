package decode

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/arrowipc"
)

// table decodes a record that is an Arrow IPC stream of one record batch. If the batch has one row and no
// column but columns of single values, its columns are the fields of the sample; else each field is a
// [converters.Column].
func (d *Decoder) table(record []byte) error {
	stream, err := arrowipc.Open(bytes.NewReader(record), 0, int64(len(record)))
	if err != nil {
		return badStream(err)
	}
	batch, err := stream.Next()
	switch {
	case errors.Is(err, io.EOF):
		return malformed("bad Arrow stream: no batch")
	case err != nil:
		return badStream(err)
	case batch.Codec != "":
		return malformed("bad Arrow stream: its body is compressed")
	}
	if _, err := stream.Next(); err == nil {
		return fmt.Errorf("%w: an Arrow stream of more than one batch", converters.ErrUnsupported)
	} else if !errors.Is(err, io.EOF) {
		return badStream(err)
	}
	if stream.Offset() != int64(len(record)) {
		return malformed("bad Arrow stream: bytes follow its end")
	}
	single := batch.Rows == 1
	for _, c := range batch.Columns { // encode writes null in a column of its own type, and no float32
		single = single && (c.Shape == arrowipc.ShapeNull || c.Nulls == 0 && c.DType != "float32")
	}
	r := &arrowRecord{record, d.limits}
	for _, c := range batch.Columns {
		if err := d.column(r, c, single); err != nil {
			return err
		}
	}
	return nil
}

// badStream returns an error of the parser as one of this package.
func badStream(err error) error {
	if errors.Is(err, converters.ErrUnsupported) || errors.Is(err, converters.ErrLimit) {
		return fmt.Errorf("bad Arrow stream: %w", err)
	}
	return malformed("bad Arrow stream: %w", err)
}

func (d *Decoder) column(r *arrowRecord, c *arrowipc.Column, single bool) error {
	name := c.Name
	if !utf8.ValidString(name) {
		return malformed("the name of a column is not UTF-8")
	}
	size := int64(0)
	if err := r.check(c, d.limits.MaxDepth, &size); err != nil {
		return fmt.Errorf("field %q: %w", name, err)
	}
	if single {
		if len(c.Children) > 0 || c.Shape == arrowipc.ShapeStruct {
			if err := d.limits.nested(int(size)); err != nil {
				return fmt.Errorf("field %q: %w", name, err)
			}
		}
		x, err := r.value(c, 0)
		if err != nil {
			return fmt.Errorf("field %q: %w", name, err)
		}
		return d.put(name, converters.ValueOf(x))
	}
	switch c.DType {
	case "int64", "float64", "float32", "bool", "str":
	default:
		return fmt.Errorf("field %q: %w: a column of the type %s", name, converters.ErrUnsupported, c.DType)
	}
	column := converters.Column{Type: c.DType, Values: make([]any, c.Rows)}
	for row := range column.Values {
		x, err := r.value(c, int64(row))
		if err != nil {
			return fmt.Errorf("field %q, row %d: %w", name, row, err)
		}
		column.Values[row] = x
	}
	return d.add(name, converters.Nested(column))
}
