package export

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/encode"
)

// A batch of an Arrow stream is written when it has this number of rows, or of bytes. The first decides the schema.
const (
	batchRows  = 1024
	batchBytes = 16 << 20
)

// A table is the form of samples in one Arrow IPC stream: a row each. The columns are __key__ and the fields of the
// first samples. It writes to its own writer, and nothing to a Builder.
type table struct {
	w       io.Writer
	out     *ipc.Writer // nil: the schema is not decided yet
	schema  *arrow.Schema
	columns []*column
	byName  map[string]*column
	rows    int // of this batch
	bytes   int64
}

// A column is the values of one field in this batch.
type column struct {
	name  string
	kind  arrow.DataType // nil: no value came yet
	build array.Builder  // nil with kind
	rows  int            // of this batch that have a value or null
}

func newTable(w io.Writer) *table { return &table{w: w, byName: make(map[string]*column)} }

// Append adds a row.
func (t *table) Append(_ *encode.Builder, s *converters.Sample) error {
	if s.Key != "" {
		key := converters.Text([]byte(s.Key))
		if err := t.put(encode.KeyField, &key); err != nil {
			return err
		}
	}
	for i := range s.Fields {
		f := &s.Fields[i]
		if f.Name == encode.KeyField && s.Key != "" {
			return fmt.Errorf("field %q: %w: the key has that name", f.Name, converters.ErrDuplicate)
		}
		if err := t.put(f.Name, &f.Value); err != nil {
			return fmt.Errorf("field %q: %w", f.Name, err)
		}
	}
	t.rows++
	for _, c := range t.columns {
		c.fill(t.rows)
	}
	if t.rows < batchRows && t.bytes < batchBytes {
		return nil
	}
	return t.flush()
}

// hintColumns is the way around what an Arrow stream does not hold.
const hintColumns = "option columns leaves fields out; cbor, msgpack and jsonl take any"

// put sets the value of a column in the row that is being made.
func (t *table) put(name string, v *converters.Value) error {
	c := t.byName[name]
	if c == nil {
		if t.out != nil {
			return encode.WithHint(fmt.Errorf("%w: none of the first samples has this field, whose columns are those of the stream", converters.ErrUnsupported), hintColumns)
		}
		c = &column{name: name}
		t.columns, t.byName[name] = append(t.columns, c), c
	}
	kind, err := arrowType(v)
	if err != nil || kind == nil { // null: see fill
		return err
	}
	if c.kind == nil {
		if t.out != nil {
			return encode.WithHint(fmt.Errorf("%w: the column is null in the first samples, and here it is %v", converters.ErrUnsupported, kind), hintColumns)
		}
		c.kind = kind
		c.build = array.NewBuilder(memory.DefaultAllocator, kind)
	}
	if !arrow.TypeEqual(c.kind, kind) {
		return encode.WithHint(fmt.Errorf("%w: it is %v here, and %v in the samples before", converters.ErrUnsupported, kind, c.kind), hintColumns)
	}
	c.fill(t.rows)
	c.rows++
	t.bytes += v.Len() + 8
	return c.add(v)
}

// fill appends nulls up to a number of rows.
func (c *column) fill(rows int) {
	if c.build == nil {
		return
	}
	for ; c.rows < rows; c.rows++ {
		c.build.AppendNull()
	}
}

// add appends a value of the column's type.
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

// arrowType returns the type of a value, nil for null.
func arrowType(v *converters.Value) (arrow.DataType, error) {
	switch v.Kind() {
	case converters.KindBytes:
		return arrow.BinaryTypes.Binary, nil
	case converters.KindText:
		return arrow.BinaryTypes.String, nil
	case converters.KindInt:
		return arrow.PrimitiveTypes.Int64, nil
	case converters.KindFloat:
		return arrow.PrimitiveTypes.Float64, nil
	}
	switch v.Nested().(type) {
	case nil:
		return nil, nil
	case bool:
		return arrow.FixedWidthTypes.Boolean, nil
	case uint64:
		return arrow.PrimitiveTypes.Uint64, nil
	}
	return nil, encode.WithHint(fmt.Errorf("%w: a list or a map in an Arrow stream", converters.ErrUnsupported), hintColumns)
}

// newSchema returns the schema that the columns of the first batch have.
func (t *table) newSchema() *arrow.Schema {
	var fields []arrow.Field
	for _, c := range t.columns {
		kind := c.kind
		if kind == nil {
			kind = arrow.Null
		}
		fields = append(fields, arrow.Field{Name: c.name, Type: kind, Nullable: true})
	}
	return arrow.NewSchema(fields, nil)
}

// flush writes a batch.
func (t *table) flush() (err error) {
	if at := slices.IndexFunc(t.columns, func(c *column) bool { return c.name == encode.KeyField }); at > 0 && t.out == nil {
		key := t.columns[at]
		t.columns = slices.Insert(slices.Delete(t.columns, at, at+1), 0, key) // the first sample has no key
	}
	if t.out == nil {
		t.schema = t.newSchema()
		t.out = ipc.NewWriter(t.w, ipc.WithSchema(t.schema))
	}
	if t.rows == 0 {
		return nil
	}
	arrays := make([]arrow.Array, len(t.columns))
	for i, c := range t.columns {
		if c.build == nil {
			arrays[i] = array.NewNull(t.rows)
		} else {
			arrays[i] = c.build.NewArray()
		}
		c.rows = 0
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
	err := t.flush()
	return errors.Join(err, t.out.Close())
}
