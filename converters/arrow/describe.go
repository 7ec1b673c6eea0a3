package arrow

import (
	"fmt"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/converters/internal/columns"
	"github.com/ffconvert/ffconvert/internal/arrowipc"
)

// pathField is the name of the field with the path of a media column.
func pathField(x *arrowipc.Field) string { return x.Name + ".path" }

// fields lists the fields of a table.
func fields(t *arrowipc.Table) (all []converters.ColumnType) {
	for _, x := range t.Fields {
		if x.Payload != nil {
			all = append(all, converters.ColumnType{Name: x.Name, DType: "bytes"}, converters.ColumnType{Name: pathField(x), DType: "str"})
		} else {
			all = append(all, converters.ColumnType{Name: x.Name, DType: x.DType})
		}
	}
	return all
}

// check refuses a schema without columns, repeated names, and a key that is not text.
func check(t *arrowipc.Table, p converters.Part) error {
	text := false
	for _, x := range t.Fields {
		of := x
		if x.Values != nil {
			of = x.Values
		}
		text = text || x.Name == converters.KeyField && of.IsText() && of.Shape != arrowipc.ShapeFixed
	}
	err := columns.Check(fields(t), text)
	if len(t.Fields) == 0 {
		err = fmt.Errorf("%w: its schema has no columns", converters.ErrMalformed)
	}
	if err == nil {
		return nil
	}
	return &converters.Error{Where: p.Name, Off: 0, Entry: "schema", Err: err}
}

func describe(t *arrowipc.Table, lists [][]string) converters.Description {
	return columns.Describe(lists, fields(t), []byte(t.Metadata["huggingface"]))
}
