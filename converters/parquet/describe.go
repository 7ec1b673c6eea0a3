package parquet

import (
	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/columns"
)

// describe returns the chosen columns of a table and their types, and its classes.
func (t *table) describe(keep func(field string) bool) converters.Description {
	desc := converters.Description{Encoding: "msgpack", Classes: columns.Classes(t.feature)}
	for _, c := range t.columns {
		if c.name == converters.KeyField {
			continue
		}
		for _, n := range []*node{c.node, c.path} {
			if n == nil {
				continue
			}
			name, dtype := c.name, ""
			switch {
			case n == c.path:
				name, dtype = c.pathField(), "str"
			case c.media:
				dtype = "bytes"
			case n.shape == shapeLeaf:
				dtype = n.leaf.dtype
			case n.shape == shapeList:
				dtype = "list"
			default:
				dtype = "map"
			}
			if keep(name) {
				desc.Columns = append(desc.Columns, converters.ColumnType{Name: name, DType: dtype})
			}
		}
	}
	return desc
}
