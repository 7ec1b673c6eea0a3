package encode

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/place"
)

// table writes a sample of columns.
func (a *arrowForm) table(to *Builder, s *converters.Sample) error {
	if s.Key != "" {
		return errors.New("internal error: a sample of columns has a key")
	}
	rows := 0
	for i := range s.Fields {
		f := &s.Fields[i]
		column, ok := f.Value.Nested().(converters.Column)
		if !ok || i > 0 && len(column.Values) != rows {
			return fmt.Errorf("field %q: internal error: a sample of columns that differ in length", f.Name)
		}
		rows = len(column.Values)
	}
	if rows != 1 {
		return a.rows(to, s, rows)
	}
	for i := range s.Fields {
		f := &s.Fields[i]
		if err := a.cell(f.Name, f.Value.Nested().(converters.Column)); err != nil {
			return fmt.Errorf("field %q: %w", f.Name, err)
		}
	}
	return a.batch(to)
}

// nullBits is the validity of a row that is null, as long as Arrow's writer has it.
var nullBits [64]byte

// cell appends a column of one row, which may be null.
func (a *arrowForm) cell(name string, c converters.Column) error {
	x := c.Values[0]
	bits, size := uint64(0), 8
	var text converters.Value
	var ok bool
	t := arrow.DataType(arrow.PrimitiveTypes.Int64)
	switch c.Type {
	case "int64":
		var n int64
		n, ok = x.(int64)
		bits = uint64(n)
	case "float64":
		var n float64
		n, ok = x.(float64)
		t, bits = arrow.PrimitiveTypes.Float64, math.Float64bits(n)
	case "float32":
		var n float64
		n, ok = x.(float64)
		t, bits, size = arrow.PrimitiveTypes.Float32, uint64(math.Float32bits(float32(n))), 4
	case "bool":
		_, ok = x.(bool)
		if t, size = arrow.FixedWidthTypes.Boolean, 1; x == true {
			bits = 1
		}
	case "str":
		var s string
		s, ok = x.(string)
		t, text = arrow.BinaryTypes.String, converters.Text([]byte(s))
	default:
		return fmt.Errorf("internal error: a column of the type %q", c.Type)
	}
	switch {
	case !ok && x != nil:
		return fmt.Errorf("internal error: row 0 is a %T", x)
	case ok && c.Type == "str":
		return a.payload(name, t, &text)
	}
	a.add(name, t)
	if ok {
		a.node(1, 0)
		a.buffer(nil)
	} else {
		a.node(1, 1)
		a.buffer(nullBits[:])
	}
	a.buffer(binary.LittleEndian.AppendUint64(a.room(8), bits)[:size])
	if c.Type == "str" { // null: offsets, and no bytes
		a.buffer(nil)
	}
	return nil
}

// rows writes a sample of many rows, or none, by Arrow's writer.
func (a *arrowForm) rows(to *Builder, s *converters.Sample, rows int) error {
	a.arrays = a.arrays[:0]
	for i := range s.Fields {
		f := &s.Fields[i]
		if err := a.column(f.Name, f.Value.Nested().(converters.Column)); err != nil {
			return fmt.Errorf("field %q: %w", f.Name, err)
		}
	}
	schema := arrow.NewSchema(slices.Clone(a.fields), nil)
	out := bytes.NewBuffer(to.Written)
	w := ipc.NewWriter(out, ipc.WithSchema(schema))
	if err := w.Write(array.NewRecord(schema, a.arrays, int64(rows))); err != nil {
		return err
	}
	err := w.Close()
	to.Written = out.Bytes()
	return err
}

func (a *arrowForm) column(name string, c converters.Column) error {
	var b array.Builder
	var err error
	mem := memory.DefaultAllocator
	switch c.Type {
	case "int64":
		ints := array.NewInt64Builder(mem)
		b, err = ints, fill(ints, c.Values, ints.Append)
	case "float64":
		floats := array.NewFloat64Builder(mem)
		b, err = floats, fill(floats, c.Values, floats.Append)
	case "float32":
		floats := array.NewFloat32Builder(mem)
		b, err = floats, fill(floats, c.Values, func(x float64) { floats.Append(float32(x)) })
	case "bool":
		bools := array.NewBooleanBuilder(mem)
		b, err = bools, fill(bools, c.Values, bools.Append)
	case "str":
		if err := checkText(c.Values); err != nil {
			return err
		}
		texts := array.NewStringBuilder(mem)
		b, err = texts, fill(texts, c.Values, texts.Append)
	default:
		return fmt.Errorf("internal error: a column of the type %q", c.Type)
	}
	if err != nil {
		return err
	}
	rows := b.NewArray()
	a.add(name, rows.DataType())
	a.arrays = append(a.arrays, rows)
	return nil
}

// fill appends all values to b: nil as null, others by add.
func fill[T any](b array.Builder, values []any, add func(T)) error {
	b.Reserve(len(values))
	for i, x := range values {
		if x == nil {
			b.AppendNull()
			continue
		}
		v, ok := x.(T)
		if !ok {
			return fmt.Errorf("internal error: row %d is a %T", i, x)
		}
		add(v)
	}
	return nil
}

// checkText checks the size of a column of text: Arrow's offsets have 31 bits.
func checkText(values []any) error {
	n := 0
	for _, x := range values {
		s, _ := x.(string)
		if n += len(s); n > math.MaxInt32 {
			return place.WithHint(fmt.Errorf("%w: a column of an Arrow record holds less than 2 GiB", converters.ErrLimit), "take fewer option rows-per-sample")
		}
	}
	return nil
}
