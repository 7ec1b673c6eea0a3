package parquet

import (
	"fmt"
	"strings"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/columns"
)

// pathField is the name of the field with the path of a media column.
func (c *column) pathField() string { return c.name + ".path" }

// fields lists the fields of a table.
func (t *table) fields() (all []converters.ColumnType) {
	for _, c := range t.columns {
		switch {
		case c.media:
			all = append(all, converters.ColumnType{Name: c.name, DType: "bytes"}, converters.ColumnType{Name: c.pathField(), DType: "str"})
		case c.shape == shapeLeaf:
			all = append(all, converters.ColumnType{Name: c.name, DType: c.leaf.dtype})
		case c.shape == shapeList:
			all = append(all, converters.ColumnType{Name: c.name, DType: "list"})
		default:
			all = append(all, converters.ColumnType{Name: c.name, DType: "map"})
		}
	}
	return all
}

// describe returns the chosen columns of a table and their types, and its classes.
func (t *table) describe(lists [][]string) converters.Description {
	return columns.Describe(lists, t.fields(), t.feature)
}

// names checks the names of the fields, and the type of the key.
func (t *table) names() error {
	text := false
	for _, c := range t.columns {
		if strings.Contains(c.name, "\x00") {
			return fmt.Errorf("%w: the name of column %q", converters.ErrMalformed, c.name)
		}
		text = text || c.name == converters.KeyField && c.shape == shapeLeaf && c.leaf.scalar == scalarText
	}
	return columns.Check(t.fields(), text)
}
