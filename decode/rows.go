package decode

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/ffconvert/ffconvert/converters"
)

// NewRows returns a decoder of raw records that are the numbers of a row, little-endian, by the description of their
// dataset: the fields are its columns. Where a record has several rows, the value of a field is a list. It is nil if the
// description has no such rows. It must not be used concurrently; the sample is valid until the next call.
func NewRows(d converters.Description) func(record []byte) (*converters.Sample, error) {
	n := len(d.Columns)
	if n == 0 || len(d.Shape) == 0 || d.Shape[len(d.Shape)-1] != int64(n) ||
		slices.ContainsFunc(d.Columns, func(c converters.ColumnType) bool { return c.DType != d.Columns[0].DType }) {
		return nil
	}
	number, size := numberOf(d.Columns[0].DType)
	if size == 0 {
		return nil
	}
	s := &converters.Sample{Fields: make([]converters.Field, n)}
	return func(record []byte) (*converters.Sample, error) {
		rows := len(record) / (n * size)
		if rows*n*size != len(record) || rows == 0 || len(d.Shape) == 1 && rows != 1 {
			return nil, malformed("it has %d bytes, a row %d", len(record), n*size)
		}
		for i, c := range d.Columns {
			s.Fields[i].Name = c.Name
			if len(d.Shape) == 1 {
				s.Fields[i].Value = number(record[i*size:])
				continue
			}
			list := make([]any, rows)
			for row := range list {
				if v := number(record[(row*n+i)*size:]); v.Kind() == converters.KindInt {
					list[row] = v.Int()
				} else {
					list[row] = v.Float()
				}
			}
			s.Fields[i].Value = converters.Nested(list)
		}
		return s, nil
	}
}

// numberOf returns what reads a number of a type, and its size in bytes; 0 for another type.
func numberOf(dtype string) (number func(b []byte) converters.Value, size int) {
	switch dtype {
	case "int64":
		return func(b []byte) converters.Value { return converters.Int(int64(binary.LittleEndian.Uint64(b))) }, 8
	case "float64":
		return func(b []byte) converters.Value {
			return converters.Float(math.Float64frombits(binary.LittleEndian.Uint64(b)))
		}, 8
	case "float32":
		return func(b []byte) converters.Value {
			return converters.Float(float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))
		}, 4
	}
	return nil, 0
}
