package parquet

import (
	"encoding/json"

	"github.com/ffconvert/ffconvert/converters"
)

// describe returns the chosen columns of a table and their types, and its classes.
func (t *table) describe(keep func(field string) bool) converters.Description {
	says := converters.Description{Encoding: "msgpack", Classes: t.classes()}
	for _, c := range t.columns {
		if c.name == keyColumn {
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
				says.Columns = append(says.Columns, converters.ColumnType{Name: name, DType: dtype})
			}
		}
	}
	return says
}

// classes returns the names of the classes, by number, of the only column that Hugging Face's metadata says is of
// labels; nil if there is none, or more than one.
func (t *table) classes() []string {
	var meta struct {
		Info struct {
			Features map[string]json.RawMessage `json:"features"`
		} `json:"info"`
	}
	if json.Unmarshal(t.feature, &meta) != nil {
		return nil // of another program
	}
	var found []string
	labels := 0
	for _, raw := range meta.Info.Features {
		var f struct {
			Type  string   `json:"_type"`
			Names []string `json:"names"`
		}
		if json.Unmarshal(raw, &f) == nil && f.Type == "ClassLabel" {
			labels++
			found = f.Names
		}
	}
	if labels != 1 {
		return nil
	}
	return found
}
