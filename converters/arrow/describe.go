package arrow

import (
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/columns"
)

// pathField is the name of the field that has the path of a column of media.
func (x *field) pathField() string { return x.name + ".path" }

// names returns the names of the fields.
func (t *table) names() (all []string) {
	for _, x := range t.fields {
		if all = append(all, x.name); x.payload != nil {
			all = append(all, x.pathField())
		}
	}
	return all
}

// check checks the names of the fields, and the type of the key.
func (t *table) check(p converters.Part) error {
	seen := make(map[string]bool)
	for _, name := range t.names() {
		if seen[name] {
			return &converters.Error{Where: p.Name, Off: 0, Entry: "schema", Err: fmt.Errorf("%w field %q", converters.ErrDuplicate, name)}
		}
		seen[name] = true
	}
	for _, x := range t.fields {
		of := x
		if x.values != nil {
			of = x.values
		}
		if x.name == converters.KeyField && (of.scalar != scalarText || of.shape != shapeBytes && of.shape != shapeView) {
			err := fmt.Errorf("%w: the column %q, the key, is not text", converters.ErrUnsupported, converters.KeyField)
			return &converters.Error{Where: p.Name, Off: 0, Entry: "schema", Err: err}
		}
	}
	return nil
}

// describe returns the chosen columns of a table and their types, and its classes.
func (t *table) describe(fields [][]string) converters.Description {
	says := converters.Description{Encoding: "msgpack", Classes: columns.Classes(t.feature)}
	needed := columns.Needed(fields, t.names())
	add := func(name, dtype string) {
		if name != converters.KeyField && needed(name) {
			says.Columns = append(says.Columns, converters.ColumnType{Name: name, DType: dtype})
		}
	}
	for _, x := range t.fields {
		if x.payload != nil {
			add(x.name, "bytes")
			add(x.pathField(), "str")
			continue
		}
		add(x.name, x.dtype)
	}
	return says
}
