package encode

import (
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/ffconvert/ffconvert/converters"
)

// table sets the columns of a sample with many rows and returns the number of rows.
func (a *arrowFormat) table(s *converters.Sample) (rows int64, err error) {
	if s.Key != "" {
		return 0, errors.New("internal error: a sample of columns has a key")
	}
	for i := range s.Fields {
		f := &s.Fields[i]
		column, ok := f.Value.Nested().(converters.Column)
		if !ok || i > 0 && int64(len(column.Values)) != rows {
			return 0, fmt.Errorf("field %q: internal error: a sample of columns that differ in length", f.Name)
		}
		rows = int64(len(column.Values))
		if err := a.column(f.Name, column); err != nil {
			return 0, fmt.Errorf("field %q: %w", f.Name, err)
		}
	}
	return rows, nil
}

func (a *arrowFormat) column(name string, c converters.Column) error {
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
	a.add(name, b.NewArray())
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
			return &hintedError{fmt.Errorf("%w: a column of an Arrow record holds less than 2 GiB", converters.ErrLimit), "take fewer Options.RowsPerSample"}
		}
	}
	return nil
}
