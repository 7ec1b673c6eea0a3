package view

import (
	"cmp"
	"strconv"

	"github.com/ffconvert/ffconvert/internal/jsonvalue"
)

// maxLists limits the lists whose lengths are compared.
const maxLists = 1 << 16

// numbers shows nested lists of numbers as a table: the first rows and columns, of the first slice if there are more
// than two dimensions. It returns false for other lists. It reads only the numbers that are shown.
func (v *viewer) numbers(f *Field, list []any) bool {
	shape, ok := shapeOf(list)
	if !ok {
		return false
	}
	at := func(index []int) (string, bool) {
		var x any = list
		for _, i := range index {
			row, ok := x.([]any)
			if !ok || i >= len(row) {
				return "", false
			}
			x = row[i]
		}
		return number(x)
	}
	if !v.table(f, shape, at) {
		return false
	}
	f.Type = cmp.Or(f.Type, "numbers")
	return true
}

// number formats a number.
func number(x any) (string, bool) {
	switch x := x.(type) {
	case int64:
		return strconv.FormatInt(x, 10), true
	case uint64:
		return strconv.FormatUint(x, 10), true
	case float64:
		return string(jsonvalue.AppendFloat(nil, x)), true
	}
	return "", false
}

// shapeOf returns the shape of nested lists. All lists of a level must have the same length.
func shapeOf(list []any) (shape []int, ok bool) {
	for len(shape) < maxDepth {
		if len(list) == 0 {
			return nil, false
		}
		shape = append(shape, len(list))
		first, nested := list[0].([]any)
		if !nested {
			return shape, true
		}
		for _, x := range list[:min(len(list), maxLists)] {
			if row, ok := x.([]any); !ok || len(row) != len(first) {
				return nil, false
			}
		}
		list = first
	}
	return nil, false
}

// wrap is how many numbers of a one-dimensional array are in a row of the table.
const wrap = 8

// table fills the table of a field with numbers of a shape from at. If at returns false, table leaves the field
// unchanged and returns false.
func (v *viewer) table(f *Field, shape []int, at func(index []int) (string, bool)) bool {
	height, width, line := 1, shape[len(shape)-1], len(shape) == 1
	if len(shape) > 1 {
		height = shape[len(shape)-2]
	}
	rows, columns := min(height, v.limits.Rows), min(width, v.limits.Columns)
	cut := rows < height || columns < width
	if line {
		n := min(width, v.limits.Rows*wrap)
		rows, columns, cut = (n+wrap-1)/wrap, wrap, n < width
	}
	for _, n := range shape[:max(0, len(shape)-2)] {
		cut = cut || n > 1
	}
	index := make([]int, len(shape))
	table := make([][]string, rows)
	size := 0
	for y := range table {
		for x := range columns {
			if index[len(index)-1] = x; line {
				if index[0] = y*wrap + x; index[0] >= width {
					break
				}
			} else {
				index[len(index)-2] = y
			}
			cell, ok := at(index)
			if !ok {
				return false
			}
			size += len(cell)
			table[y] = append(table[y], cell)
		}
	}
	v.bytes -= min(v.bytes, size)
	f.Kind, f.Table, f.Shape, f.Cut = kindNumbers, table, join(shape), cut
	return true
}
