package encode

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/ffconvert/ffconvert/converters"
	"github.com/ffconvert/ffconvert/internal/place"
)

// An arrowForm writes an Arrow IPC stream of one record batch: schema, batch, end. The key and
// each field of a sample are columns. A sample has one row, unless all its fields are of type
// [converters.Column]; then it has one row for each of their values.
//
// Arrow's writer writes the schemas, and all of a sample of many rows. It takes 20 µs a record, so the batches of one row
// are written here, to the same bytes.
type arrowForm struct {
	fields  []arrow.Field
	nodes   []arrowNode
	buffers []arrowBuffer
	small   []byte // what the buffers without a value refer to

	head   []byte        // the message of the schema of the fields in headOf: most samples have the same fields
	headOf []arrow.Field //
	meta   *flatbuffers.Builder
	arrays []arrow.Array // of a sample of many rows
}

// An arrowNode is the length of a column, or of one inside another, and its number of nulls.
type arrowNode struct{ length, nulls int64 }

// An arrowBuffer is a piece of the body of a batch: bytes, or a value that may be unread.
type arrowBuffer struct {
	data  []byte
	value *converters.Value
}

func (f *arrowBuffer) size() int64 {
	if f.value != nil {
		return f.value.Len()
	}
	return int64(len(f.data))
}

func openArrow() Form { return (&arrowForm{meta: flatbuffers.NewBuilder(0)}).encode }

func (a *arrowForm) encode(b *Builder, s *converters.Sample) error {
	a.fields, a.nodes, a.buffers, a.small = a.fields[:0], a.nodes[:0], a.buffers[:0], a.small[:0]
	if len(s.Fields) > 0 && isColumn(s.Fields[0].Value) {
		return a.table(b, s)
	}
	if s.Key != "" {
		key := converters.Text([]byte(s.Key))
		if err := a.row(converters.KeyField, &key); err != nil {
			return err
		}
	}
	for i := range s.Fields {
		f := &s.Fields[i]
		if err := checkName(s, f); err != nil {
			return err
		}
		if err := a.row(f.Name, &f.Value); err != nil {
			return fmt.Errorf("field %q: %w", f.Name, err)
		}
	}
	return a.batch(b)
}

func isColumn(v converters.Value) bool {
	_, ok := v.Nested().(converters.Column)
	return ok
}

// add appends a column. All columns are nullable, so that the schema does not depend on the values.
func (a *arrowForm) add(name string, t arrow.DataType) {
	a.fields = append(a.fields, arrow.Field{Name: name, Type: t, Nullable: true})
}

// row appends a column of one row.
func (a *arrowForm) row(name string, v *converters.Value) error {
	switch v.Kind() {
	case converters.KindBytes:
		return a.payload(name, arrow.BinaryTypes.Binary, v)
	case converters.KindText:
		return a.payload(name, arrow.BinaryTypes.String, v)
	case converters.KindInt:
		a.number(name, arrow.PrimitiveTypes.Int64, uint64(v.Int()))
		return nil
	case converters.KindFloat:
		a.number(name, arrow.PrimitiveTypes.Float64, math.Float64bits(v.Float()))
		return nil
	}
	switch x := v.Nested().(type) {
	case int64, float64, string, []byte:
		value := converters.ValueOf(x)
		return a.row(name, &value)
	case converters.Column:
		return errors.New("internal error: a sample of columns and single values")
	default:
		var s arrowShape
		if err := s.add(x, 1, false); err != nil {
			return err
		}
		t := s.dataType(1)
		a.add(name, t)
		return a.vector([]any{x}, t)
	}
}

// number appends a column of one number.
func (a *arrowForm) number(name string, t arrow.DataType, bits uint64) {
	a.add(name, t)
	a.node(1, 0)
	a.buffer(nil)
	a.buffer(binary.LittleEndian.AppendUint64(a.room(8), bits))
}

// payload appends a column of one value of bytes or text.
func (a *arrowForm) payload(name string, t arrow.DataType, v *converters.Value) error {
	if v.Len() > math.MaxInt32 {
		return place.WithHint(fmt.Errorf("%w: a column of an Arrow record holds less than 2 GiB, this has %d bytes", converters.ErrLimit, v.Len()), "option encode msgpack holds more")
	}
	a.add(name, t)
	a.node(1, 0)
	a.buffer(nil)
	a.buffer(binary.LittleEndian.AppendUint32(append(a.room(8), 0, 0, 0, 0), uint32(v.Len())))
	a.buffers = append(a.buffers, arrowBuffer{value: v})
	return nil
}

// node appends the node of a column.
func (a *arrowForm) node(length, nulls int) {
	a.nodes = append(a.nodes, arrowNode{int64(length), int64(nulls)})
}

// buffer appends a buffer of a column.
func (a *arrowForm) buffer(b []byte) { a.buffers = append(a.buffers, arrowBuffer{data: b}) }

// room returns an empty slice for n bytes, which stay until the next sample.
func (a *arrowForm) room(n int) []byte {
	if cap(a.small)-len(a.small) < n {
		a.small = make([]byte, 0, max(n, 2*cap(a.small), 256))
	}
	at := len(a.small)
	a.small = a.small[:at+n]
	return a.small[at : at : at+n]
}
