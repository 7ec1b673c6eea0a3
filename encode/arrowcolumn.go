package encode

import (
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/ffconvert/ffconvert/converters"
)

// An ArrowColumn is a column of lists or maps of a table that is written in batches. The values before the first batch decide its
// type, as those of a record decide it for [Options.Encoding] arrow; the zero value has none.
type ArrowColumn struct {
	shape  arrowShape
	values []any
	kind   arrow.DataType // nil before the first batch
}

// Append appends a value, as [converters.Nested] takes it, which it copies, and returns about how many bytes the copy takes. It
// refuses a value that is not like those before, or not of the type of the first batch.
func (c *ArrowColumn) Append(x any) (size int64, err error) {
	if err := c.shape.add(x, 1, c.kind != nil); err != nil {
		return 0, err
	}
	x, size = owned(x)
	c.values = append(c.values, x)
	return size, nil
}

// Len returns how many values there are since the last batch.
func (c *ArrowColumn) Len() int { return len(c.values) }

// Batch returns the values since the last batch.
func (c *ArrowColumn) Batch() (arrow.Array, error) {
	if c.kind == nil {
		c.kind = c.shape.dataType(len(c.values))
	}
	var a arrowForm
	if err := a.vector(c.values, c.kind); err != nil {
		return nil, err
	}
	clear(c.values)
	c.values = c.values[:0]
	return array.MakeFromData(a.data(c.kind)), nil
}

// data takes the next nodes and buffers as those of a column of a type.
func (a *arrowForm) data(t arrow.DataType) arrow.ArrayData {
	node := a.nodes[0]
	a.nodes = a.nodes[1:]
	buffers := 2
	children := []arrow.DataType{}
	switch t := t.(type) {
	case *arrow.NullType:
		buffers = 0
	case *arrow.StringType, *arrow.BinaryType:
		buffers = 3
	case *arrow.StructType:
		buffers = 1
		for _, f := range t.Fields() {
			children = append(children, f.Type)
		}
	case *arrow.ListType:
		children = append(children, t.Elem())
	case *arrow.MapType:
		children = append(children, t.Elem())
	}
	all := make([]*memory.Buffer, max(buffers, 1)) // Arrow's array of nulls has one
	for i := range buffers {
		if b := a.buffers[i].data; b != nil {
			all[i] = memory.NewBufferBytes(b)
		}
	}
	a.buffers = a.buffers[buffers:]
	below := make([]arrow.ArrayData, len(children))
	for i, c := range children {
		below[i] = a.data(c)
	}
	return array.NewData(t, int(node.length), all, below, int(node.nulls), 0)
}

// owned returns a copy of a value that shares no memory with it, and about how many bytes that takes.
func owned(x any) (any, int64) {
	const word = 16 // of an any
	size := int64(word)
	switch x := x.(type) {
	case string:
		return x, size + int64(len(x))
	case []byte:
		return append([]byte{}, x...), size + int64(len(x))
	case []any:
		list := make([]any, len(x))
		for i := range x {
			var n int64
			list[i], n = owned(x[i])
			size += n
		}
		return list, size
	case converters.Map:
		m := make(converters.Map, len(x))
		for i, p := range x {
			k, n := owned(p.Key)
			v, o := owned(p.Value)
			m[i] = converters.Pair{Key: k, Value: v}
			size += n + o
		}
		return m, size
	}
	return x, size
}
