package decode

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/ffconvert/ffconvert/converters"
)

// MostNulls is the largest number of values of a column that takes no bytes: a few bytes may claim any number.
const MostNulls = 1 << 16

func isNested(c arrow.Array) bool {
	switch c.(type) {
	case *array.List, *array.Map, *array.Struct:
		return true
	}
	return false
}

// array checks the size and the depth of a column of lists or maps.
func (l Limits) array(c arrow.Array, depth int) error {
	size := 0
	var walk func(data arrow.ArrayData, depth int) error
	walk = func(data arrow.ArrayData, depth int) error {
		kind := data.DataType().ID()
		if len(data.Children()) > 0 && depth == 0 {
			return tooDeep(l.MaxDepth)
		}
		if bare := kind == arrow.NULL || kind == arrow.STRUCT && len(data.Children()) == 0; bare && data.Len() > MostNulls {
			return fmt.Errorf("%w: a list of %d values that take no bytes", converters.ErrUnsupported, data.Len())
		}
		for _, b := range data.Buffers() {
			if b != nil {
				size += b.Len()
			}
		}
		for _, child := range data.Children() {
			next := depth - 1
			if kind == arrow.MAP {
				next = depth // its pairs are structs
			}
			if err := walk(child, next); err != nil {
				return err
			}
		}
		return nil
	}
	if err := walk(c.Data(), depth); err != nil {
		return err
	}
	return l.nested(size)
}

// arrowList returns the values from one to another of a column.
func arrowList(c arrow.Array, from, to int64) (any, error) {
	if from < 0 || from > to || to > int64(c.Len()) {
		return nil, malformed("a list from %d to %d of %d values", from, to, c.Len())
	}
	list := []any{}
	for i := int(from); i < int(to); i++ {
		x, err := arrowValueAt(c, i)
		if err != nil {
			return nil, err
		}
		list = append(list, x)
	}
	return list, nil
}

func arrowMap(c *array.Map, from, to int64) (any, error) {
	keys, err := arrowList(c.Keys(), from, to)
	if err != nil {
		return nil, err
	}
	items, err := arrowList(c.Items(), from, to)
	if err != nil {
		return nil, err
	}
	var m converters.MapBuilder
	for i, key := range keys.([]any) {
		switch key.(type) {
		case nil, []byte, []any, converters.Map:
			return nil, fmt.Errorf("%w: a key of a map that is neither text nor a number", converters.ErrUnsupported)
		}
		if !m.Add(key, items.([]any)[i]) {
			return nil, keyTwice(key)
		}
	}
	return m.Map(), nil
}

func arrowStruct(c *array.Struct, row int) (any, error) {
	var m converters.MapBuilder
	for i, f := range c.DataType().(*arrow.StructType).Fields() {
		if !utf8.ValidString(f.Name) {
			return nil, malformed("the name of a field is not UTF-8")
		}
		x, err := arrowValueAt(c.Field(i), row)
		if err != nil {
			return nil, err
		}
		if !m.Add(strings.Clone(f.Name), x) {
			return nil, keyTwice(f.Name)
		}
	}
	return m.Map(), nil
}
