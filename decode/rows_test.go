package decode

import (
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/ffconvert/ffconvert/converters"
)

// Rows of numbers have the values that were put into their bytes; a record that is not whole rows is refused.
func TestRows(t *testing.T) {
	t.Parallel()
	columns := func(dtypes ...string) (all []converters.ColumnType) {
		for i, dtype := range dtypes {
			all = append(all, converters.ColumnType{Name: string(rune('a' + i)), DType: dtype})
		}
		return all
	}
	append64 := binary.LittleEndian.AppendUint64
	doubles := append64(append64(nil, math.Float64bits(0.1)), math.Float64bits(math.Inf(-1)))
	least := int64(math.MinInt64)
	ints := append64(append64(append64(append64(nil, 1), uint64(least)), 3), math.MaxUint64)
	for _, row := range []struct {
		name   string
		d      converters.Description
		record []byte
		want   []any // by column; nil: it is refused
	}{
		{"float64", converters.Description{Columns: columns("float64", "float64"), Shape: []int64{2}}, doubles, []any{0.1, math.Inf(-1)}},
		{"float32", converters.Description{Columns: columns("float32"), Shape: []int64{1}}, binary.LittleEndian.AppendUint32(nil, math.Float32bits(0.1)), []any{float64(float32(0.1))}},
		{"int64", converters.Description{Columns: columns("int64", "int64", "int64", "int64"), Shape: []int64{4}}, ints, []any{int64(1), least, int64(3), int64(-1)}},
		{"two rows", converters.Description{Columns: columns("int64", "int64"), Shape: []int64{3, 2}}, ints, []any{[]any{int64(1), int64(3)}, []any{least, int64(-1)}}},
		{"one row of several", converters.Description{Columns: columns("float64", "float64"), Shape: []int64{3, 2}}, doubles, []any{[]any{0.1}, []any{math.Inf(-1)}}},
		{"a byte less", converters.Description{Columns: columns("float64", "float64"), Shape: []int64{2}}, doubles[1:], nil},
		{"two rows for one", converters.Description{Columns: columns("float64"), Shape: []int64{1}}, doubles, nil},
		{"nothing", converters.Description{Columns: columns("float64"), Shape: []int64{2, 1}}, nil, nil},
	} {
		s, err := NewRows(row.d)(row.record)
		if row.want == nil {
			if !errors.Is(err, converters.ErrMalformed) {
				t.Errorf("%s: %v", row.name, err)
			}
			continue
		}
		var got []any
		for i, f := range s.Fields {
			if f.Name != row.d.Columns[i].Name {
				t.Errorf("%s: column %d is %q", row.name, i, f.Name)
			}
			switch f.Value.Kind() {
			case converters.KindInt:
				got = append(got, f.Value.Int())
			case converters.KindFloat:
				got = append(got, f.Value.Float())
			default:
				got = append(got, f.Value.Nested())
			}
		}
		if err != nil || !reflect.DeepEqual(got, row.want) {
			t.Errorf("%s: %v, %v; want %v", row.name, got, err, row.want)
		}
	}
	for name, d := range map[string]converters.Description{
		"no columns":    {Shape: []int64{2}},
		"two types":     {Columns: columns("int64", "float64"), Shape: []int64{2}},
		"text":          {Columns: columns("str"), Shape: []int64{1}},
		"no shape":      {Columns: columns("int64")},
		"another shape": {Columns: columns("int64"), Shape: []int64{1, 2}},
		"pixels":        {DType: "uint8", Shape: []int64{2, 2, 3}},
	} {
		if NewRows(d) != nil {
			t.Errorf("%s: there are rows", name)
		}
	}
}
