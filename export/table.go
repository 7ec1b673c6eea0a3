package export

import (
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
	"github.com/ffconvert/ffconvert/internal/place"
)

// A batch of an Arrow stream is written when it has this many rows or bytes. The first batch decides the schema.
const (
	batchRows  = 1024
	batchBytes = 16 << 20
)

// A table encodes samples as rows of one Arrow IPC stream. The columns are __key__ and the fields of the
// first samples. It writes to its own writer, and nothing to a Builder.
type table struct {
	w       io.Writer
	out     *ipc.Writer // nil: the schema is not decided
	schema  *arrow.Schema
	columns []*column
	byName  map[string]*column
	rows    int // number of rows in the batch
	bytes   int64
}

// A column is the values of one field in the batch.
type column struct {
	name  string
	kind  arrow.DataType // nil: no value has come, or values are lists or maps
	build array.Builder  // nil if kind is nil
	rows  int            // number of rows in build

	nested *encode.ArrowColumn // lists or maps; nil: neither
}

// encode adds a row.
func (t *table) encode(_ *encode.Builder, s *converters.Sample) error {
	if s.Key != "" {
		key := converters.Text([]byte(s.Key))
		if err := t.put(converters.KeyField, &key); err != nil {
			return err
		}
	}
	for i := range s.Fields {
		f := &s.Fields[i]
		if f.Name == converters.KeyField && s.Key != "" {
			return fmt.Errorf("field %q: %w: the key has that name", f.Name, converters.ErrDuplicate)
		}
		if err := t.put(f.Name, &f.Value); err != nil {
			return fmt.Errorf("field %q: %w", f.Name, err)
		}
	}
	t.rows++
	for _, c := range t.columns {
		if err := c.fill(t.rows); err != nil {
			return err
		}
	}
	if t.rows < batchRows && t.bytes < batchBytes {
		return nil
	}
	return t.flush()
}

// hintColumns is the hint for values that an Arrow stream cannot hold.
const hintColumns = "option columns leaves fields out; cbor, msgpack and jsonl take any"

// put sets the value of a column in the current row.
func (t *table) put(name string, v *converters.Value) error {
	c := t.byName[name]
	if c == nil {
		if t.out != nil {
			return place.WithHint(fmt.Errorf("%w: none of the first samples has this field, whose columns are those of the stream", converters.ErrUnsupported), hintColumns)
		}
		c = &column{name: name}
		t.columns, t.byName[name] = append(t.columns, c), c
	}
	kind := arrowType(v)
	nested := kind == nil && v.Nested() != nil
	if kind == nil && !nested { // null: fill appends it later
		return nil
	}
	switch first := c.build == nil && c.nested == nil; {
	case first && t.out != nil:
		return place.WithHint(fmt.Errorf("%w: the column is null in the first samples, and here it is %s", converters.ErrUnsupported, typeName(kind)), hintColumns)
	case first && nested:
		c.nested = &encode.ArrowColumn{}
	case first:
		c.kind = kind
		c.build = array.NewBuilder(memory.DefaultAllocator, kind)
	case kind != c.kind:
		return place.WithHint(fmt.Errorf("%w: it is %s here, and %s in the samples before", converters.ErrUnsupported, typeName(kind), typeName(c.kind)), hintColumns)
	}
	if err := c.fill(t.rows); err != nil {
		return err
	}
	if nested {
		size, err := c.nested.Append(v.Nested())
		if t.bytes += size; err != nil {
			err = place.WithHint(err, hintColumns)
		}
		return err
	}
	c.rows++
	t.bytes += v.Len() + 8
	return c.add(v)
}

// fill appends nulls until the column has that many rows.
func (c *column) fill(rows int) error {
	for c.nested != nil && c.nested.Len() < rows {
		if _, err := c.nested.Append(nil); err != nil {
			return err
		}
	}
	for ; c.build != nil && c.rows < rows; c.rows++ {
		c.build.AppendNull()
	}
	return nil
}

// add appends a value, which must have the type of the column.
func (c *column) add(v *converters.Value) error {
	switch b := c.build.(type) {
	case *array.BinaryBuilder:
		b.Append(v.Data())
	case *array.StringBuilder:
		b.Append(string(v.Data()))
	case *array.Int64Builder:
		b.Append(v.Int())
	case *array.Float64Builder:
		b.Append(v.Float())
	case *array.BooleanBuilder:
		b.Append(v.Nested().(bool))
	case *array.Uint64Builder:
		b.Append(v.Nested().(uint64))
	default:
		return fmt.Errorf("internal error: a column of the type %v", c.kind)
	}
	return nil
}

// arrowType returns the type of a value; nil for null, a list or a map.
func arrowType(v *converters.Value) arrow.DataType {
	switch v.Kind() {
	case converters.KindBytes:
		return arrow.BinaryTypes.Binary
	case converters.KindText:
		return arrow.BinaryTypes.String
	case converters.KindInt:
		return arrow.PrimitiveTypes.Int64
	case converters.KindFloat:
		return arrow.PrimitiveTypes.Float64
	}
	switch v.Nested().(type) {
	case bool:
		return arrow.FixedWidthTypes.Boolean
	case uint64:
		return arrow.PrimitiveTypes.Uint64
	}
	return nil
}

// typeName returns the name of a type other than null.
func typeName(t arrow.DataType) string {
	if t == nil {
		return "a list or a map"
	}
	return t.String()
}

func (t *table) flush() (err error) {
	if at := slices.IndexFunc(t.columns, func(c *column) bool { return c.name == converters.KeyField }); at > 0 && t.out == nil {
		key := t.columns[at]
		t.columns = slices.Insert(slices.Delete(t.columns, at, at+1), 0, key) // the first sample has no key, but a later one has
	}
	if t.rows == 0 && t.out != nil {
		return nil
	}
	fields := make([]arrow.Field, len(t.columns))
	arrays := make([]arrow.Array, len(t.columns))
	for i, c := range t.columns {
		switch {
		case c.nested != nil:
			if arrays[i], err = c.nested.Batch(); err != nil {
				return fmt.Errorf("field %q: %w", c.name, err)
			}
		case c.build != nil:
			arrays[i] = c.build.NewArray()
		default:
			arrays[i] = array.NewNull(t.rows)
		}
		fields[i] = arrow.Field{Name: c.name, Type: arrays[i].DataType(), Nullable: true}
		c.rows = 0
	}
	if t.out == nil {
		t.schema = arrow.NewSchema(fields, nil)
		t.out = ipc.NewWriter(t.w, ipc.WithSchema(t.schema))
	}
	if t.rows == 0 {
		return nil
	}
	rec := array.NewRecord(t.schema, arrays, int64(t.rows))
	err = t.out.Write(rec)
	rec.Release()
	for _, a := range arrays {
		a.Release()
	}
	t.rows, t.bytes = 0, 0
	return err
}

// close writes the last batch and the end of the stream.
func (t *table) close() error {
	if err := t.flush(); err != nil {
		return err
	}
	return t.out.Close()
}
