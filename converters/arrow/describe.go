package arrow

import (
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/columns"
	"github.com/ffconvert/ffconvert/internal/arrowipc"
)

// pathField is the name of the field with the path of a media column.
func pathField(x *arrowipc.Field) string { return x.Name + ".path" }

func names(t *arrowipc.Table) (all []string) {
	for _, x := range t.Fields {
		if all = append(all, x.Name); x.Payload != nil {
			all = append(all, pathField(x))
		}
	}
	return all
}

// check refuses a schema without columns, repeated names, and a key that is not text.
func check(t *arrowipc.Table, p converters.Part) error {
	if len(t.Fields) == 0 {
		return &converters.Error{Where: p.Name, Off: 0, Entry: "schema", Err: fmt.Errorf("%w: its schema has no columns", converters.ErrMalformed)}
	}
	seen := make(map[string]bool)
	for _, name := range names(t) {
		if seen[name] {
			return &converters.Error{Where: p.Name, Off: 0, Entry: "schema", Err: fmt.Errorf("%w field %q", converters.ErrDuplicate, name)}
		}
		seen[name] = true
	}
	for _, x := range t.Fields {
		of := x
		if x.Values != nil {
			of = x.Values
		}
		if x.Name == converters.KeyField && (!of.IsText() || of.Shape == arrowipc.ShapeFixed) {
			err := fmt.Errorf("%w: the column %q, the key, is not text", converters.ErrUnsupported, converters.KeyField)
			return &converters.Error{Where: p.Name, Off: 0, Entry: "schema", Err: err}
		}
	}
	return nil
}

// describe returns the chosen columns of a table and their types, and its classes.
func describe(t *arrowipc.Table, fields [][]string) converters.Description {
	desc := converters.Description{Encoding: "msgpack", Classes: columns.Classes([]byte(t.Metadata["huggingface"]))}
	needed := columns.Needed(fields, names(t))
	add := func(name, dtype string) {
		if name != converters.KeyField && needed(name) {
			desc.Columns = append(desc.Columns, converters.ColumnType{Name: name, DType: dtype})
		}
	}
	for _, x := range t.Fields {
		if x.Payload != nil {
			add(x.Name, "bytes")
			add(pathField(x), "str")
			continue
		}
		add(x.Name, x.DType)
	}
	return desc
}
